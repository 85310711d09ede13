"""Reads the figures for Prometheus from few rows, however many answers are stored."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeAlias

from sqlalchemy import Engine, func, select

from monitor.core.diagnosis import Diagnosis
from monitor.core.message import Skip
from monitor.core.model import Verdict
from monitor.store.audit_queue import Kind
from monitor.store.collect.figures import CollectFigures, collect_figures
from monitor.store.database import retriable
from monitor.store.interaction.writer import GROUP
from monitor.store.ledger.ledger import Ledger, source_of
from monitor.store.ledger.progress import ReadingStore
from monitor.store.pending.queue import PendingQueue
from monitor.store.tables.alerts import alert, notification, rule_state
from monitor.store.tables.audit import audit_queue
from monitor.store.tables.signals import reading, verdict_hour

Hourly: TypeAlias = dict[tuple[datetime, str, str], int]  # hour, app, verdict or diagnosis
RECENT = timedelta(hours=48)  # answers that occurred earlier are not in the metrics, even when they arrive late
# the ledger's counts that never go down, unless a revision moves a turn from one outcome to another
COUNTED = (
    "received",
    "assessed",
    "duplicate",
    "unscored",
    *(skip.value for skip in Skip),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """The state of the store at one time, by the labels of the metrics."""

    messages: Mapping[tuple[str, str], int]  # source, one of `COUNTED`
    dead: Mapping[str, int]  # source
    unbalanced: Mapping[str, int]  # source
    lag: Mapping[str, float]  # source
    unread: Mapping[str, int]  # source
    pending: Mapping[tuple[str, str], int]  # kind of work, whether `waiting` or `given_up`
    answers: Mapping[tuple[datetime, str, str], int]  # hour, app, verdict; of the last `RECENT`
    alerts: Mapping[tuple[str, str], int]  # rule, state
    waiting: Mapping[str, int]  # receiver
    given_up: Mapping[str, int]  # receiver
    evaluated: Mapping[str, datetime]  # rule
    unsealed: float = 0.0  # seconds for which the oldest entry of the audit queue has waited
    collected: CollectFigures = field(default_factory=CollectFigures)
    # hour, app, diagnosis; of the last `RECENT`, and of apps that have any
    diagnoses: Mapping[tuple[datetime, str, str], int] = field(default_factory=dict)
    refused: Mapping[str, int] = field(default_factory=dict)  # witness; 1 where it contradicts the trail


class TelemetryStore:
    """Reads; `figures` may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def figures(self, now: datetime) -> Figures:
        """All figures, each consistent in itself but not with the others."""
        rows, _ = Ledger(self._engine).read()
        messages: Counter[tuple[str, str]] = Counter()
        dead: Counter[str] = Counter()
        unbalanced: Counter[str] = Counter()
        for row in rows:
            if row.live:
                source = source_of(row.topic)
                messages.update({(source, name): row.counts[name] for name in COUNTED})
                dead[source] += row.counts["dead"] - row.counts["purged"]
                unbalanced[source] += not row.balanced
        reading = ReadingStore(self._engine)
        pending: dict[tuple[str, str], int] = {}
        for kind in PendingQueue(self._engine).counts(now):
            pending[kind.kind, "waiting"] = kind.waiting
            pending[kind.kind, "given_up"] = kind.given_up
        alerts, waiting, given_up, evaluated = self._alerting()
        answers, diagnoses = self._answers(now)
        return Figures(
            messages=messages,
            dead=dead,
            unbalanced=unbalanced,
            lag={counts.labels["source"]: counts.counts[0].sum for counts in reading.lags(now)},
            unread=reading.unread(now),
            pending=pending,
            answers=answers,
            diagnoses=diagnoses,
            alerts=alerts,
            waiting=waiting,
            given_up=given_up,
            evaluated=evaluated,
            unsealed=self._unsealed(now),
            collected=collect_figures(self._engine, GROUP, now),
        )

    def _unsealed(self, now: datetime) -> float:
        q = audit_queue.c
        oldest = select(q.queued_at).where(q.kind != Kind.MISSING).order_by(q.seq).limit(1)
        with retriable(), self._engine.connect() as connection:
            since = connection.scalar(oldest)
        return max(0.0, (now - since).total_seconds()) if since else 0.0

    def _answers(self, now: datetime) -> tuple[Hourly, Hourly]:
        """The answers by verdict, and by diagnosis."""
        h = verdict_hour.c
        sums = [func.sum(h[each.value]) for kind in (Verdict, Diagnosis) for each in kind]
        query = select(h.hour, h.app, *sums).where(h.hour >= now - RECENT).group_by(h.hour, h.app)
        answers: Hourly = {}
        diagnoses: Hourly = {}
        with retriable(), self._engine.connect() as connection:
            for hour, app, *numbers in connection.execute(query):
                by_verdict, by_diagnosis = numbers[: len(Verdict)], numbers[len(Verdict) :]
                answers |= {(hour, app, each.value): int(n) for each, n in zip(Verdict, by_verdict, strict=True)}
                if any(by_diagnosis):
                    counted = zip(Diagnosis, by_diagnosis, strict=True)
                    diagnoses |= {(hour, app, each.value): int(n) for each, n in counted}
        return answers, diagnoses

    def last_at_work(self) -> datetime | None:
        """When a process that keeps running last evaluated alert rules or told how far it has read; None before any."""
        rules, read = select(func.max(rule_state.c.evaluated_at)), select(func.max(reading.c.seen_at))
        with retriable(), self._engine.connect() as connection:
            return connection.scalar(select(func.greatest(rules.scalar_subquery(), read.scalar_subquery())))

    def _alerting(
        self,
    ) -> tuple[dict[tuple[str, str], int], dict[str, int], dict[str, int], dict[str, datetime]]:
        a, n = alert.c, notification.c
        states = select(a.rule, a.state, func.count()).group_by(a.rule, a.state)
        open_ = select(n.receiver, n.given_up, func.count()).where(n.delivered_at.is_(None))
        evaluated = select(rule_state.c.rule, func.max(rule_state.c.evaluated_at).label("evaluated_at")).group_by(
            rule_state.c.rule
        )
        unsent: defaultdict[bool, dict[str, int]] = defaultdict(dict)
        with retriable(), self._engine.connect() as connection:
            alerts = {(rule, state): number for rule, state, number in connection.execute(states)}
            for receiver, given_up, number in connection.execute(open_.group_by(n.receiver, n.given_up)):
                unsent[given_up][receiver] = number
            times = {row.rule: row.evaluated_at for row in connection.execute(evaluated)}
        return alerts, unsent[False], unsent[True], times
