"""The `Outbox` port on PostgreSQL: alert groups, their notifications, and the delivery of each."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from typing import Any
from zlib import crc32

from pydantic import TypeAdapter
from sqlalchemy import (
    ColumnElement,
    Connection,
    Engine,
    Interval,
    Row,
    RowMapping,
    and_,
    cast,
    delete,
    exists,
    false,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects import postgresql
from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.notify.dispatch import AlertGroup
from monitor.alert.ports import LONGEST_WAIT, Outbox
from monitor.alert.silence import Silence, parse_matcher
from monitor.core.assessment_json import storable, storable_json
from monitor.core.errors import Retriable
from monitor.core.model import Json
from monitor.store.database import advisory_lock, retriable
from monitor.store.tables.alerts import alert_group, notification, silence

DELIVERER_LOCK = 7_305_104
_GROUP = TypeAdapter(AlertGroup)
_n = notification.c


class PostgresOutbox(Outbox):
    """Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @override
    def groups(self) -> list[AlertGroup]:
        with retriable(), self._engine.connect() as connection:
            return [_group(row) for row in connection.execute(select(alert_group)).mappings()]

    @override
    def backlog(self) -> set[tuple[str, str]]:
        query = select(_n.receiver, _n.group_key).where(_WAITING).distinct()
        with retriable(), self._engine.connect() as connection:
            return {(receiver, key) for receiver, key in connection.execute(query)}

    @override
    def silences(self, now: datetime) -> list[Silence]:
        query = select(silence).where(silence.c.ends_at > now).order_by(silence.c.starts_at, silence.c.id)
        with retriable(), self._engine.connect() as connection:
            return [silence_of(row) for row in connection.execute(query)]

    @override
    def enqueue(self, group: AlertGroup, notification: Notification, *, over: bool) -> None:
        with retriable(), self._engine.begin() as connection:
            if not _moved(connection, group, over=over):
                raise Retriable(f"the group {group.key} of {group.receiver} was changed by another replica")
            _put(connection, notification)

    @override
    def waiting(self) -> list[str]:
        query = select(_n.receiver).where(_WAITING).distinct().order_by(_n.receiver)
        with retriable(), self._engine.connect() as connection:
            return list(connection.scalars(query))

    @override
    def delivering(self, receiver: str) -> AbstractContextManager[bool]:
        return advisory_lock(self._engine, (DELIVERER_LOCK << 32) + crc32(receiver.encode()))

    @override
    def due(self, now: datetime, receiver: str) -> list[Notification]:
        first = (
            select(notification)
            .where(_WAITING, _n.receiver == receiver)
            .ext(postgresql.distinct_on(_n.group_key))
            .order_by(_n.group_key, _n.id)
            .subquery()
        )
        earlier = notification.alias()
        receipt = (
            select(earlier.c.receipt)
            .where(
                earlier.c.episode == first.c.episode,
                earlier.c.receiver == first.c.receiver,
                earlier.c.receipt.is_not(None),
            )
            .order_by(earlier.c.number.desc())
            .limit(1)
            .scalar_subquery()
        )
        again = first.c.retry_at
        ready = again.is_(None) | (again <= now) | (again > now + LONGEST_WAIT)
        doubt = first.c.attempted_at.is_not(None)
        turn = (func.coalesce(first.c.retry_at, first.c.made_at), first.c.attempts, first.c.id)
        query = select(first.c.id, first.c.payload, first.c.attempts, doubt, receipt).where(ready).order_by(*turn)
        with retriable(), self._engine.connect() as connection:
            return [
                Notification.from_json(payload, id=number, attempts=attempts, in_doubt=in_doubt, previous=previous)
                for number, payload, attempts, in_doubt, previous in connection.execute(query)
            ]

    @override
    def copy_to_fallback(self, receiver: str, fallback: str, *, made_before: datetime | None = None) -> None:
        earlier = notification.alias()
        reason = (
            select(earlier.c.payload["instead_of"].astext)
            .where(
                earlier.c.episode == _n.episode,
                earlier.c.receiver == fallback,
                earlier.c.payload["instead_of"].astext.is_not(None),
            )
            .order_by(earlier.c.number.desc())
            .limit(1)
            .scalar_subquery()
        )
        plain = func.concat(receiver, " (", func.coalesce(_n.last_error, "not delivered yet"), ")")
        late = false() if made_before is None else _n.made_at < made_before
        payload = _n.payload.concat(
            func.jsonb_build_object("receiver", fallback, "instead_of", func.coalesce(reason, plain))
        )
        rows = (
            select(literal(fallback), _n.group_key, _n.episode, _n.number, _n.news, _n.made_at, payload)
            .where(_WAITING, _n.receiver == receiver, _n.payload["instead_of"].astext.is_(None), ~_RESENT)
            .where(late | reason.is_not(None))
            .order_by(_n.id)
        )
        columns = ["receiver", "group_key", "episode", "number", "news", "made_at", "payload"]
        write = postgresql.insert(_table).from_select(columns, rows).on_conflict_do_nothing(index_elements=_ONCE)
        with retriable(), self._engine.begin() as connection:
            connection.execute(write)

    @override
    def mark_attempt(self, notification: Notification) -> None:
        self._mark(notification, attempted_at=func.now())

    @override
    def delivered(self, notification: Notification, receipt: Mapping[str, Json] | None, now: datetime) -> None:
        kept = None if receipt is None else storable_json(dict(receipt))
        self._mark(notification, delivered_at=now, receipt=kept, last_error=None)

    @override
    def failed(
        self,
        notification: Notification,
        error: str,
        retry_at: datetime | None,
        *,
        instead: Notification | None = None,
        attempted: bool = True,
    ) -> None:
        with retriable(), self._engine.begin() as connection:
            connection.execute(
                update(_table)
                .where(_n.id == notification.id)
                .values(
                    attempts=_n.attempts + int(attempted),
                    last_error=storable(error),
                    retry_at=retry_at,
                    given_up=retry_at is None,
                )
            )
            if instead is not None:
                _put(connection, instead)

    @override
    def purge(self, *, before: datetime, resent_before: datetime, limit: int) -> int:
        behind = notification.alias()
        unfinished = or_(
            exists().where(alert_group.c.episode == _n.episode),
            exists().where(
                behind.c.episode == _n.episode, behind.c.delivered_at.is_(None), behind.c.given_up.is_(False)
            ),
        )
        old = (_n.delivered_at < before) | (_n.given_up & (_n.made_at < before))
        resent = and_(_RESENT, _n.delivered_at < resent_before, _n.receipt.is_(None))
        removable = select(_n.id).where(or_(resent, and_(old, ~unfinished))).limit(limit)
        with retriable(), self._engine.begin() as connection:
            return connection.execute(delete(notification).where(_n.id.in_(removable))).rowcount

    def _mark(self, notification: Notification, **values: object) -> None:
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(_table).where(_n.id == notification.id).values(**values))


# repeated for a receiver that forgets, without paging anyone
_RESENT = and_(_n.news == "repeated", _n.payload["pages"].astext.is_distinct_from("true"))
_WAITING = and_(_n.delivered_at.is_(None), _n.given_up.is_(False))
_ONCE = ["episode", "receiver", "number"]
_table = notification  # for methods with a parameter of that name


def _put(connection: Connection, n: Notification) -> None:
    connection.execute(
        postgresql.insert(_table)
        .values(
            receiver=n.receiver,
            group_key=n.group,
            episode=n.episode,
            number=n.number,
            news=n.news,
            made_at=n.at,
            payload=storable_json(n.to_json()),
        )
        .on_conflict_do_nothing(index_elements=_ONCE)
    )


def _moved(connection: Connection, group: AlertGroup, *, over: bool) -> bool:
    """Writes the new state of the group if the stored state is the one before it; returns whether it was."""
    g = alert_group.c
    same = and_(g.receiver == group.receiver, g.key == group.key)
    before = and_(same, g.episode == group.episode, g.number == group.number - 1)
    if over:
        return connection.execute(delete(alert_group).where(before)).rowcount == 1
    values = _GROUP.dump_python(group, mode="json", by_alias=True)
    values |= {"told_at": group.told_at, "paged_at": group.paged_at}
    if group.number == 1:
        write = postgresql.insert(alert_group).values(**values).on_conflict_do_nothing().returning(g.key)
        return connection.execute(write).first() is not None
    return connection.execute(update(alert_group).where(before).values(**values)).rowcount == 1


def _group(row: RowMapping) -> AlertGroup:
    return _GROUP.validate_python(dict(row))


def escalation() -> ColumnElement[timedelta | None]:
    """How long nobody acknowledged an alert before the notification of a row went to a further receiver."""
    return cast(_n.payload["escalated_after"].astext, Interval)


def silence_of(row: Row[Any]) -> Silence:
    """The silence of a row of `silence`."""
    return Silence(
        id=row.id,
        matchers=tuple(parse_matcher(text) for text in row.matchers),
        starts_at=row.starts_at,
        ends_at=row.ends_at,
        created_by=row.created_by,
        comment=row.comment,
    )
