"""The metrics of the whole installation, read from the store: ledger, progress, verdicts, alerts.

Every process shows the same figures: scrape one, and never add up several.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from threading import Condition, Thread
from time import monotonic
from typing import TYPE_CHECKING, Literal

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from monitor.app.metrics.health import Check, Readiness
from monitor.core.errors import MonitorError
from monitor.core.message import Skip
from monitor.store.telemetry import Figures, TelemetryStore

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application

log = logging.getLogger(__name__)
FRESH = 5.0  # seconds from the beginning of a read, in which no other one begins
PATIENCE = 1.0  # seconds that a scrape waits for the figures, and then again for the answer to a ping
SHOWN = 60.0  # seconds for which figures are shown while newer ones are being read; four scrapes

MetricName = Literal[
    "monitor_up",  # 1 if the store answers; if not, 0 and the only metric
    "monitor_figures_age_seconds",  # since the read of the figures below began; they are missing where no read ends
    "monitor_messages_received_total",  # by live groups, by source
    "monitor_messages_total",  # by source and outcome: `assessed` or `duplicate`
    "monitor_offsets_skipped_total",  # by source and reason: `expired` and `unreadable` ones are lost
    "monitor_dead_letters",  # open ones, by source
    "monitor_ledger_unbalanced_partitions",  # by source; anything but 0 is a defect of monitor
    "monitor_lag_seconds",  # of storing behind arrival, for the slowest partition of a source
    "monitor_lag_messages",  # left to read at the last look, by source
    "monitor_pending",  # pending work, by kind and state: waiting or given up
    "monitor_answers_total",  # stored by all replicas since this process started, by app and verdict
    "monitor_diagnosed_answers_total",  # likewise, by app and diagnosis; of apps that have any
    "monitor_alerts",  # by rule and state
    "monitor_rule_evaluated_timestamp_seconds",  # of the last evaluation of a rule
    "monitor_notifications_waiting",  # to be sent, by receiver
    "monitor_notifications_given_up",  # never to be sent, by receiver
    "monitor_audit_waiting_seconds",  # of the oldest entry that waits to be sealed
    "monitor_traces_open",  # that wait for more spans, or to be assembled
    "monitor_traces_overdue_seconds",  # for which the oldest trace has been due; grows while nobody assembles
    "monitor_spans_kept_bytes",  # of the spans and log records that are kept, also of closed traces
    "monitor_spans_total",  # spans and log records received, by what became of them: kept, repeated, refused or late
    "monitor_inbox_waiting",  # turns and events that are kept and not stored yet, by topic of the inbox
    "monitor_audit_refused",  # 1 while a witness contradicts the trail, and nothing is sealed; by witness
]
Read = Callable[[datetime], Figures]
Values = Iterable[tuple[tuple[str, ...], float]]  # by labels


class StoreCollector:
    """Collects the metrics for each scrape. Threads may share it.

    One thread at a time reads the store, and no scrape waits longer than `patience` seconds for it. What is shown then
    depends on what the store does. If it refuses, `monitor_up` is 0 and nothing else is shown. If it is slow, `ping`
    decides: where it returns, the last figures are shown for `SHOWN` seconds; where it raises a `MonitorError`, because
    the store is gone or hangs, `monitor_up` is 0 and nothing else is shown.
    """

    def __init__(
        self,
        read: Read,
        now: Callable[[], datetime],
        *,
        ping: Check,
        patience: float = PATIENCE,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._read = read
        self._now = now
        self._ping = ping
        self._patience = patience
        self._clock = clock
        self._changed = Condition()
        self._reading = False
        self._begun = -FRESH  # the read that is running, or else the last one
        self._refused = False  # how that one ended
        self._shown: _Shown | None = None
        self._answers, self._diagnoses = Answers(), Answers()

    def collect(self) -> Iterator[Metric]:
        with self._changed:
            self._refresh()
            slow, refused, shown = self._reading, self._refused, self._shown
        up = self._pings() if slow else not refused
        yield _gauge("monitor_up", "Whether the store answers.", [((), float(up))])
        now = self._clock()
        if up and shown is not None and now - shown.ended < SHOWN:
            yield _gauge("monitor_figures_age_seconds", "Since the read began.", [((), now - shown.begun)])
            yield from _families(shown.figures, shown.answers, shown.diagnoses)

    def _refresh(self) -> None:
        """Reads the store unless that was just done; returns when it is read or patience runs out."""
        if not self._reading and self._clock() - self._begun >= FRESH:
            self._reading, self._begun = True, self._clock()
            Thread(target=self._ask, name="metrics", daemon=True).start()
        self._changed.wait_for(lambda: not self._reading, self._patience)

    def _ask(self) -> None:
        figures = None
        try:
            figures = self._read(self._now())
        except MonitorError as error:
            log.warning("no metrics: %s", error)
        finally:
            with self._changed:
                self._reading, self._refused = False, figures is None
                if figures is not None:
                    self._answers.seen(figures.answers)
                    self._diagnoses.seen(figures.diagnoses)
                    self._shown = _Shown(
                        figures=figures,
                        answers=self._answers.totals,
                        diagnoses=self._diagnoses.totals,
                        begun=self._begun,
                        ended=self._clock(),
                    )
                self._changed.notify_all()

    def _pings(self) -> bool:
        try:
            self._ping()
        except MonitorError:  # whatever needs the database reports the error itself
            return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class _Shown:
    """What the last successful read found; times are of the collector's clock."""

    figures: Figures
    answers: Mapping[tuple[str, str], int]
    diagnoses: Mapping[tuple[str, str], int]
    begun: float
    ended: float


def collector_of(application: Application) -> StoreCollector:
    """The figures of the store, and whether witnesses refused."""

    def read(now: datetime) -> Figures:
        figures = TelemetryStore(application.engine).figures(now)
        return replace(figures, refused=application.auditing.refused())

    return StoreCollector(read, application.now, ping=Readiness(application.queries.ping, patience=PATIENCE).check)


class Answers:
    """Adds up the growth of the hourly counts since the first look; a revised answer is added, never subtracted.

    Apps without an answer in the counted hours are left out, so that names that never come again do not add up.
    """

    def __init__(self) -> None:
        self.totals: Mapping[tuple[str, str], int] = {}
        self._before: Mapping[tuple[datetime, str, str], int] | None = None

    def seen(self, hours: Mapping[tuple[datetime, str, str], int]) -> None:
        """Takes the hourly counts as they are now; those of the first look count as old."""
        before = hours if self._before is None else self._before
        recent = {app for _, app, _ in hours}
        totals = Counter({(app, verdict): total for (app, verdict), total in self.totals.items() if app in recent})
        for (hour, app, verdict), number in hours.items():
            totals[app, verdict] += max(number - before.get((hour, app, verdict), 0), 0)
        self.totals, self._before = totals, hours


def _families(
    figures: Figures, answers: Mapping[tuple[str, str], int], diagnoses: Mapping[tuple[str, str], int]
) -> Iterator[Metric]:
    f, messages = figures, figures.messages.items()
    received = [((source,), number) for (source, name), number in messages if name == "received"]
    settled = [(labels, number) for labels, number in messages if labels[1] in {"assessed", "duplicate", "unscored"}]
    skipped = [(labels, number) for labels, number in messages if labels[1] in set(Skip)]
    evaluated = [((rule,), at.timestamp()) for rule, at in f.evaluated.items()]
    yield _counter("monitor_messages_received_total", "Messages that were read.", received, "source")
    yield _counter("monitor_messages_total", "Messages by what became of them.", settled, "source", "outcome")
    yield _counter("monitor_offsets_skipped_total", "Offsets that gave no message.", skipped, "source", "reason")
    yield _gauge("monitor_dead_letters", "Open dead letters.", _one(f.dead), "source")
    yield _gauge(
        "monitor_ledger_unbalanced_partitions",
        "Partitions whose ledger does not balance.",
        _one(f.unbalanced),
        "source",
    )
    yield _gauge("monitor_lag_seconds", "By which storing is behind arrival.", _one(f.lag), "source")
    yield _gauge("monitor_lag_messages", "Messages still to be read at the last look.", _one(f.unread), "source")
    yield _gauge("monitor_pending", "Work left to be done.", f.pending.items(), "kind", "state")
    yield _counter(
        "monitor_answers_total", "Answers stored since this process began.", answers.items(), "app", "verdict"
    )
    yield _counter(
        "monitor_diagnosed_answers_total", "Those that have a diagnosis.", diagnoses.items(), "app", "diagnosis"
    )
    yield _gauge("monitor_alerts", "Alerts by rule and state.", f.alerts.items(), "rule", "state")
    yield _gauge("monitor_rule_evaluated_timestamp_seconds", "When a rule was evaluated last.", evaluated, "rule")
    yield _gauge("monitor_notifications_waiting", "Notifications to be sent.", _one(f.waiting), "receiver")
    yield _gauge("monitor_notifications_given_up", "Notifications never sent.", _one(f.given_up), "receiver")
    yield _gauge("monitor_audit_waiting_seconds", "By which sealing is behind storing.", [((), f.unsealed)])
    c = f.collected
    spans = {"repeated": c.repeated, "refused": c.refused, "late": c.late}
    yield _gauge("monitor_traces_open", "Traces that wait for more spans.", [((), c.open)])
    yield _gauge("monitor_traces_overdue_seconds", "By which assembling is behind.", [((), c.overdue)])
    yield _gauge("monitor_spans_kept_bytes", "Bytes of kept spans and log records.", [((), c.bytes)])
    yield _counter(
        "monitor_spans_total",
        "Spans and log records received.",
        _one({"kept": c.spans - sum(spans.values()), **spans}),
        "outcome",
    )
    yield _gauge("monitor_inbox_waiting", "Turns and events not stored yet.", _one(c.waiting), "topic")
    yield _gauge("monitor_audit_refused", "Whether a witness contradicts the audit trail.", _one(f.refused), "witness")


def _one(values: Mapping[str, float]) -> Values:
    return [((label,), value) for label, value in values.items()]


def _gauge(name: MetricName, says: str, values: Values, *labels: str) -> Metric:
    family = GaugeMetricFamily(name, says, labels=labels)
    for of, value in sorted(values):
        family.add_metric(of, value)
    return family


def _counter(name: MetricName, says: str, values: Values, *labels: str) -> Metric:
    family = CounterMetricFamily(name, says, labels=labels)
    for of, value in sorted(values):
        family.add_metric(of, value)
    return family
