"""The `AlertStore` port on PostgreSQL: alerts with their history, and the memory of rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Engine, Row, and_, delete, func, insert, select, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.sql.dml import ReturningInsert, ReturningUpdate
from typing_extensions import override

from monitor.alert.answers import NewAnswers
from monitor.alert.evaluation.memory import Round, RuleMemory, SeriesMemory
from monitor.alert.labelled import LabelledRate
from monitor.alert.ports import AlertStore
from monitor.alert.probed import Probed
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.state import Alert, State, Transition
from monitor.alert.target import Baseline, HourSums
from monitor.alert.window import Counts, Span
from monitor.core.errors import Retriable
from monitor.store.alert.counts import SpanCounts
from monitor.store.alert.new_answers import NewAnswerList
from monitor.store.alert.probed import probed_runs
from monitor.store.database import advisory_lock, bounded
from monitor.store.ledger.progress import ReadingStore
from monitor.store.tables.alerts import alert, alert_event, alert_group, alert_memory, rule_state, watched_day

EVALUATOR_LOCK = 7_305_103
RESOLVED_KEPT = timedelta(hours=1)
_OVER = (State.INACTIVE, State.RESOLVED)  # states in which a new episode may begin
# The fields of an alert with a column of the same name; `bound` is in the column `threshold`, as in earlier releases.
_PLAIN = (
    *("fingerprint", "episode", "rule", "rule_digest", "signal", "method", "unit", "below", "severity", "window"),
    *("state", "active_since", "fired_at", "normal_since", "resolved_at", "acknowledged_by", "acknowledged_at"),
    *("value", "samples", "lower", "upper", "detail", "note", "quiet_since"),
)


class PostgresAlertStore(AlertStore):
    """Safe to use from several threads."""

    def __init__(self, engine: Engine, labelled: Callable[[str], list[LabelledRate]] = lambda _: []) -> None:
        """`labelled` gives the newest true rate of a verdict of each app that has one."""
        self._engine = engine
        self._counts = SpanCounts(engine)
        self._reading = ReadingStore(engine)
        self._new_answers = NewAnswerList(engine)
        self._labelled = labelled

    @override
    def evaluating(self) -> AbstractContextManager[bool]:
        return advisory_lock(self._engine, EVALUATOR_LOCK)

    @override
    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        return self._counts.counts(signal, selector, by, spans)

    @override
    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        return self._counts.hour_sums(signal, selector, by, span)

    @override
    def momentary(self, signal: Signal, now: datetime) -> list[Counts]:
        return self._reading.lags(now) if signal.kind is SignalKind.LAG else self._reading.imbalances()

    @override
    def new_answers(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], *, after: int | None, most: int
    ) -> NewAnswers:
        return self._new_answers.read(signal, selector, after=after, most=most)

    @override
    def list_new_answers(self, now: datetime) -> None:
        self._new_answers.fill(now)

    @override
    def labelled(self, signal: Signal) -> list[LabelledRate]:
        return self._labelled(signal.name)

    @override
    def probed(self, signal: Signal, *, also: Collection[int], now: datetime) -> list[Probed]:
        return probed_runs(self._engine, signal.name, also=also, now=now)

    @override
    def watermark(self, now: datetime) -> datetime | None:
        return self._reading.watermark(now)

    @override
    def alerts(self) -> list[Alert]:
        a = alert.c
        evaluated = select(func.max(rule_state.c.evaluated_at)).scalar_subquery()  # the evaluator's clock, not ours
        notified = select(func.jsonb_object_keys(alert_group.c.said))
        recent = evaluated.is_(None) | (a.resolved_at > evaluated - RESOLVED_KEPT)
        goes_on = a.state.not_in(_OVER)
        current = goes_on | and_(a.state == State.RESOLVED, recent | a.fingerprint.in_(notified))
        query = select(alert).where(current).order_by(a.active_since.desc())
        with bounded(self._engine) as connection:
            return [alert_of(row) for row in connection.execute(query)]

    @override
    def active_spans(self, rule_digest: str, since: datetime) -> dict[str, list[Span]]:
        e = alert_event.c
        until = func.lead(e.at).over(partition_by=e.fingerprint, order_by=e.id)
        events = (
            select(e.fingerprint, e.at, until.label("until"), e.to_state)
            .join(alert, alert.c.fingerprint == e.fingerprint)
            .where(alert.c.rule_digest == rule_digest)
            .subquery()
        )
        active = [state for state in State if state.active]
        query = select(events.c.fingerprint, events.c.at, events.c.until).where(
            events.c.to_state.in_(active), events.c.until.is_(None) | (events.c.until > since)
        )
        spans: dict[str, list[Span]] = {}
        with bounded(self._engine) as connection:
            for fingerprint, start, end in connection.execute(query):
                last = end or datetime.max.replace(tzinfo=start.tzinfo)  # still active
                spans.setdefault(fingerprint, []).append(Span(start=start, end=last))
        return spans

    @override
    def memory(self, rule_digest: str) -> RuleMemory:
        state = select(rule_state).where(rule_state.c.rule_digest == rule_digest)
        remembered = select(alert_memory).where(alert_memory.c.rule_digest == rule_digest)
        with bounded(self._engine) as connection:
            known = connection.execute(state).one_or_none()
            rows = connection.execute(remembered).all()
        return RuleMemory(
            until=known.until if known else None,
            place=known.place if known else None,
            learnt_at=known.learnt_at if known else None,
            failing_since=known.error_since if known else None,
            by_fingerprint={row.fingerprint: _remembered(row) for row in rows},
        )

    @override
    def save(self, done: Round) -> None:
        with bounded(self._engine) as connection:
            for change in done.transitions:
                _save(connection, change)
            _save_rule(connection, done)
            watched = postgresql.insert(watched_day).values(day=done.at.astimezone(UTC).date())
            connection.execute(watched.on_conflict_do_nothing())
            if done.remembered:
                rows = [_memory_row(done.rule_digest, identity, memory) for identity, memory in done.remembered.items()]
                write = postgresql.insert(alert_memory)
                changed = {name: write.excluded[name] for name in ("seen_at", "memory", "baseline")}
                connection.execute(write.on_conflict_do_update(index_elements=["fingerprint"], set_=changed), rows)
            if done.forgotten:
                connection.execute(delete(alert_memory).where(alert_memory.c.fingerprint.in_(done.forgotten)))

    @override
    def evaluated(self) -> dict[str, datetime]:
        with bounded(self._engine) as connection:
            rows = connection.execute(select(rule_state.c.rule_digest, rule_state.c.evaluated_at))
            return {row.rule_digest: row.evaluated_at for row in rows}

    @override
    def end(self, transitions: Sequence[Transition], gone: Collection[str]) -> None:
        if not transitions and not gone:
            return
        with bounded(self._engine) as connection:
            for change in transitions:
                _save(connection, change)
            connection.execute(delete(rule_state).where(rule_state.c.rule_digest.in_(gone)))
            connection.execute(delete(alert_memory).where(alert_memory.c.rule_digest.in_(gone)))


def alert_of(row: Row[Any]) -> Alert:
    """The alert of a row of `alert`."""
    values = {name: getattr(row, name) for name in _PLAIN}
    return Alert(
        **{
            **values,
            "state": State(row.state),
            "labels": row.labels,
            "annotations": row.annotations,
            "receivers": tuple(row.receivers),
            "bound": row.threshold,
            "selector": None if row.selector is None else {label: tuple(of) for label, of in row.selector.items()},
            "by": None if row.by is None else tuple(row.by),
        }
    )


def _save(connection: Connection, change: Transition) -> None:
    """Writes a transition if the stored alert is still the one it started from; keeps what people did to the alert."""
    new, previous = change.alert, change.previous
    values: dict[str, Any] = {name: getattr(new, name) for name in _PLAIN}
    values |= {
        "labels": dict(new.labels),
        "annotations": dict(new.annotations),
        "receivers": list(new.receivers),
        "threshold": new.bound,
        "selector": None if new.selector is None else dict(new.selector),
        "by": None if new.by is None else list(new.by),
    }
    write: ReturningInsert[tuple[str]] | ReturningUpdate[tuple[str]]
    if previous is None:
        write = (
            postgresql.insert(alert)
            .values(**values)
            .on_conflict_do_update(index_elements=["fingerprint"], set_=values, where=alert.c.state.in_(_OVER))
            .returning(alert.c.fingerprint)
        )
    else:
        known = and_(
            alert.c.fingerprint == new.fingerprint,
            alert.c.episode == previous.episode,
            alert.c.state == previous.state,
        )
        if new.episode == previous.episode:  # it may have been acknowledged since it was read
            del values["acknowledged_by"], values["acknowledged_at"]
        write = update(alert).where(known).values(**values).returning(alert.c.fingerprint)
    if connection.execute(write).first() is None:
        raise Retriable(f"the alert {new.fingerprint} was changed by another evaluator")
    if change.changed:
        connection.execute(
            insert(alert_event).values(
                fingerprint=new.fingerprint,
                episode=new.episode,
                at=change.at,
                from_state=change.before,
                to_state=new.state,
                value=new.value,
                samples=new.samples,
                lower=new.lower,
                upper=new.upper,
                note=new.note,
            )
        )


def _save_rule(connection: Connection, done: Round) -> None:
    now = done.at
    fresh: dict[str, Any] = {
        "rule": done.rule,
        "evaluated_at": now,
        "until": done.memory.until,
        "learnt_at": done.memory.learnt_at,
        "place": done.memory.place,
        "stale_since": now if done.stale else None,
        "error": done.error,
        "error_since": now if done.error else None,
    }
    on_update = {
        "stale_since": func.coalesce(rule_state.c.stale_since, now) if done.stale else None,
        "error_since": func.coalesce(rule_state.c.error_since, now) if done.error else None,
    }
    write = postgresql.insert(rule_state).values(rule_digest=done.rule_digest, **fresh)
    connection.execute(write.on_conflict_do_update(index_elements=["rule_digest"], set_={**fresh, **on_update}))


def _memory_row(rule_digest: str, identity: str, memory: SeriesMemory) -> dict[str, Any]:
    return {
        "fingerprint": identity,
        "rule_digest": rule_digest,
        "labels": dict(memory.labels),
        "seen_at": memory.seen_at,
        "memory": None if memory.memory is None else dict(memory.memory),
        "baseline": None if memory.baseline is None else memory.baseline.to_json(),
    }


def _remembered(row: Row[Any]) -> SeriesMemory:
    baseline = None if row.baseline is None else Baseline.from_json(row.baseline)
    return SeriesMemory(labels=row.labels, seen_at=row.seen_at, memory=row.memory, baseline=baseline)
