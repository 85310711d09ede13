"""What a rule would have done: the evaluation of `evaluate.py`, minute by minute, on counts that lie in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from monitor.alert.evaluation.evaluate import evaluate_rule
from monitor.alert.evaluation.memory import RuleMemory
from monitor.alert.rule import Rule
from monitor.alert.signal import Signal
from monitor.alert.state import Alert, State
from monitor.alert.target import HourSums
from monitor.alert.window import HOUR, MINUTE, Count, Counts, Span


class MinuteHistory:
    """Answers a rule's questions from counts per minute, from `start` on, held in memory.

    `minutes` maps label values, in the order of the rule's `by`, to shape (minutes, 3): total, sum, squares.
    """

    def __init__(
        self, start: datetime, by: Sequence[str], minutes: Mapping[tuple[str, ...], NDArray[np.float64]]
    ) -> None:
        self._start = start.astimezone(UTC)
        self._by = tuple(by)
        # sums up to each minute, so that a span is one difference
        self._upto = {
            labels: np.concatenate([np.zeros((1, 3)), np.cumsum(its, axis=0)]) for labels, its in minutes.items()
        }

    def counts(
        self,
        signal: Signal,  # noqa: ARG002  it holds one signal's counts only
        selector: Mapping[str, tuple[str, ...]],
        by: Sequence[str],
        spans: Sequence[Span],
    ) -> list[Counts]:
        """As the port says, for the rule it was made for."""
        if tuple(by) != self._by:
            raise ValueError(f"counted by {self._by}, not by {tuple(by)}")
        first = np.array([(span.start - self._start) // MINUTE for span in spans])
        last = np.array([(span.end - self._start) // MINUTE for span in spans])
        found = []
        for values, upto in self._upto.items():
            labels = dict(zip(self._by, values, strict=True))
            if any(labels[name] not in allowed for name, allowed in selector.items() if name in labels and allowed):
                continue
            most = len(upto) - 1
            sums = upto[np.clip(last, 0, most)] - upto[np.clip(first, 0, most)]
            if not by or sums[:, 0].any():
                counts = tuple(Count(total=int(n), sum=s, squares=q) for n, s, q in sums.tolist())
                found.append(Counts(labels=labels, counts=counts))
        return found

    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        """As the port says, for the rule it was made for."""
        hours = [Span(start=span.start + HOUR * i, end=span.start + HOUR * (i + 1)) for i in range(span.length // HOUR)]
        sums = [HourSums.of(its.labels, its.counts) for its in self.counts(signal, selector, by, hours)]
        return [its for its in sums if its.hours]

    def momentary(self, signal: Signal, now: datetime) -> list[Counts]:
        """Nothing: a state of now leaves no history."""
        del signal, now
        return []

    def active_spans(self, rule_digest: str, since: datetime) -> Mapping[str, Sequence[Span]]:
        """Nothing: baselines are learnt from all that was counted."""
        del rule_digest, since
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One time that the rule would have fired; `resolved_at` None: it still does at the end."""

    labels: Mapping[str, str]
    fired_at: datetime
    resolved_at: datetime | None
    worst: float | None  # value while it fired: the highest, of a rule that fires below its line the lowest


def rehearse(rule: Rule, history: MinuteHistory, span: Span, *, step: timedelta = MINUTE) -> list[Episode]:
    """When `rule` would have fired in `span`, evaluated every `step`, in the order in which it fired.

    What arrived late counts as if it had come in time, and reading is taken never to be behind.
    """
    memory = RuleMemory()
    known: dict[str, Alert] = {}
    episodes: dict[str, Episode] = {}
    now = span.start
    while now <= span.end:
        done = evaluate_rule(rule, history, memory, known, now)
        for change in done.transitions:
            alert = change.alert
            known[alert.fingerprint] = alert
            if alert.fired_at is not None and alert.state is not State.INACTIVE:
                episodes[alert.episode] = _episode(alert, episodes.get(alert.episode), rule)
        remembered = {**done.memory.by_fingerprint, **done.remembered}
        for identity in done.forgotten:
            remembered.pop(identity, None)
        memory = replace(done.memory, by_fingerprint=remembered)
        now += step
    return sorted(episodes.values(), key=lambda episode: episode.fired_at)


def _episode(alert: Alert, before: Episode | None, rule: Rule) -> Episode:
    values = [value for value in (alert.value, before.worst if before else None) if value is not None]
    worst = min if rule.method.fires_below else max
    return Episode(
        labels=alert.labels,
        fired_at=alert.fired_at or alert.active_since,
        resolved_at=alert.resolved_at if alert.state is State.RESOLVED else None,
        worst=worst(values) if values else None,
    )
