"""The `AlertStore` port on PostgreSQL: counts from the rollup, alerts with their history, and the outbox."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

from sqlalchemy import Connection, Engine, Row, and_, func, insert, select, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.dml import ReturningInsert, ReturningUpdate

from monitor.alert.notification import Notification
from monitor.alert.rule import LABELS, Selector
from monitor.alert.state import Alert, State, Transition
from monitor.alert.window import WindowCount
from monitor.errors import Retriable
from monitor.model import Json
from monitor.store.database import retriable
from monitor.store.tables import alert, alert_event, outbox, verdict_minute

EVALUATOR_LOCK = 7_305_103
DELIVERER_LOCK = 7_305_104
_SAME = ("fingerprint", "episode", "rule", "rule_digest", "signal", "severity", "threshold", "window", "state")
_SEEN = ("active_since", "fired_at", "resolved_at", "value", "samples", "lower", "upper")


class PostgresAlertStore:
    """See `AlertStore`. Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @contextmanager
    def evaluating(self) -> Iterator[bool]:
        """As the port says; the lock is the session's, so it is free as soon as this process is gone."""
        with self._lock(EVALUATOR_LOCK) as ours:
            yield ours

    @contextmanager
    def delivering(self) -> Iterator[bool]:
        """As the port says."""
        with self._lock(DELIVERER_LOCK) as ours:
            yield ours

    @contextmanager
    def _lock(self, number: int) -> Iterator[bool]:
        with retriable():
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            with retriable():
                ours = bool(connection.scalar(select(func.pg_try_advisory_lock(number))))
            yield ours
        finally:
            connection.invalidate()  # closes the session, and with it the lock
            connection.close()

    def window_counts(
        self, selector: Selector, signal: str, by: Sequence[str], start: datetime, end: datetime
    ) -> list[WindowCount]:
        """As the port says."""
        v = verdict_minute.c
        matching = v.refusal + v.self_generated if signal == "negative" else v[signal]
        labels = [v[label] for label in by]
        wanted = [v[label].in_(values) for label in LABELS if (values := getattr(selector, label))]
        query = (
            select(*labels, func.sum(matching), func.sum(v.total))
            .where(v.minute >= start, v.minute < end, *wanted)
            .group_by(*labels)
            .having(func.sum(v.total) > 0)
            .order_by(*labels)
        )
        with retriable(), self._engine.connect() as connection:
            rows = connection.execute(query).all()
        return [
            WindowCount(labels=dict(zip(by, row, strict=False)), matching=int(row[-2]), total=int(row[-1]))
            for row in rows
        ]

    def alerts(self) -> list[Alert]:
        """As the port says."""
        query = select(alert).where(alert.c.state != State.INACTIVE).order_by(alert.c.active_since.desc())
        with retriable(), self._engine.connect() as connection:
            return [_alert(row) for row in connection.execute(query)]

    def save(self, transitions: Sequence[Transition], notifications: Sequence[Notification]) -> None:
        """As the port says."""
        with retriable(), self._engine.begin() as connection:
            for change in transitions:
                _save(connection, change)
            if notifications:
                rows = [
                    {
                        "fingerprint": n.fingerprint, "episode": n.episode, "receiver": n.receiver, "status": n.status,
                        "payload": n.to_json(), "attempts": 0, "given_up": False,
                    }
                    for n in notifications
                ]  # fmt: skip
                statement = postgresql.insert(outbox).on_conflict_do_nothing(
                    index_elements=["episode", "receiver", "status"]
                )
                connection.execute(statement, rows)

    def due(self, now: datetime) -> list[Notification]:
        """As the port says."""
        waiting = and_(outbox.c.delivered_at.is_(None), outbox.c.given_up.is_(False))
        first = (
            select(outbox)
            .where(waiting)
            .ext(postgresql.distinct_on(outbox.c.fingerprint, outbox.c.receiver))
            .order_by(outbox.c.fingerprint, outbox.c.receiver, outbox.c.id)
            .subquery()
        )
        earlier = outbox.alias()
        receipt = (
            select(earlier.c.receipt)
            .where(
                earlier.c.episode == first.c.episode,
                earlier.c.receiver == first.c.receiver,
                earlier.c.delivered_at.is_not(None),
                func.jsonb_typeof(earlier.c.receipt) == "object",
            )
            .order_by(earlier.c.id.desc())
            .limit(1)
            .scalar_subquery()
        )
        ready = first.c.retry_at.is_(None) | (first.c.retry_at <= now)
        query = select(first.c.id, first.c.payload, first.c.attempts, receipt).where(ready).order_by(first.c.id)
        with retriable(), self._engine.connect() as connection:
            return [
                Notification.from_json(payload, id=number, attempts=attempts, previous=previous)
                for number, payload, attempts, previous in connection.execute(query)
            ]

    def delivered(self, notification: Notification, receipt: Mapping[str, Json] | None, now: datetime) -> None:
        """As the port says."""
        kept = None if receipt is None else dict(receipt)
        self._mark(notification, delivered_at=now, receipt=kept, last_error=None)

    def failed(self, notification: Notification, error: str, retry_at: datetime | None) -> None:
        """As the port says."""
        self._mark(
            notification,
            attempts=outbox.c.attempts + 1,
            last_error=error,
            retry_at=retry_at,
            given_up=retry_at is None,
        )

    def _mark(self, notification: Notification, **values: object) -> None:
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(outbox).where(outbox.c.id == notification.id).values(**values))


def _save(connection: Connection, change: Transition) -> None:
    """Writes one transition where the stored alert is still the one it started from."""
    new, previous = change.alert, change.previous
    values = {name: getattr(new, name) for name in (*_SAME, *_SEEN)}
    values |= {"labels": dict(new.labels), "annotations": dict(new.annotations), "receivers": list(new.receivers)}
    write: ReturningInsert[tuple[str]] | ReturningUpdate[tuple[str]]
    if previous is None:
        write = (
            postgresql.insert(alert)
            .values(**values)
            .on_conflict_do_update(index_elements=["fingerprint"], set_=values, where=alert.c.state == State.INACTIVE)
            .returning(alert.c.fingerprint)
        )
    else:
        known = and_(
            alert.c.fingerprint == new.fingerprint,
            alert.c.episode == previous.episode,
            alert.c.state == previous.state,
        )
        write = update(alert).where(known).values(**values).returning(alert.c.fingerprint)
    if connection.execute(write).first() is None:
        raise Retriable(f"the alert {new.fingerprint} was changed by another evaluator")
    connection.execute(
        insert(alert_event).values(
            fingerprint=new.fingerprint,
            episode=new.episode,
            at=change.at,
            from_state=previous.state if previous else State.INACTIVE,
            to_state=new.state,
            value=new.value,
            samples=new.samples,
            lower=new.lower,
            upper=new.upper,
            note=change.note,
        )
    )


def _alert(row: Row[tuple[object, ...]]) -> Alert:
    values = dict(row._mapping)  # noqa: SLF001  SQLAlchemy's documented name
    return Alert(**{**values, "state": State(values["state"]), "receivers": tuple(values["receivers"])})
