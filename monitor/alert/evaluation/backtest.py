"""Replays a rule on past counts: `evaluate_rule`, minute by minute, on counts held in memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from monitor.alert.answers import NewAnswers
from monitor.alert.evaluation.evaluate import evaluate_rule
from monitor.alert.evaluation.memory import RuleMemory
from monitor.alert.labelled import LabelledRate
from monitor.alert.ports import SignalReader
from monitor.alert.probed import Probed
from monitor.alert.rule import Rule
from monitor.alert.signal import Signal
from monitor.alert.state import Alert, State
from monitor.alert.target import HourSums
from monitor.alert.window import HOUR, MINUTE, Count, Counts, Span


class MinuteHistory(SignalReader):
    """Answers a rule's questions from counts per minute, from `start` on, held in memory.

    The counts are of one rule's signal, selector and `by`; other signals are not distinguished. `minutes` maps label
    values, in the order of `by`, to an array of shape (minutes, 3): total, sum, squares; for
    a percentile, the bins of the histogram follow.
    """

    def __init__(
        self, start: datetime, by: Sequence[str], minutes: Mapping[tuple[str, ...], NDArray[np.float64]]
    ) -> None:
        self._start = start.astimezone(UTC)
        self._by = tuple(by)
        # running sums, so that the counts of a span are one difference
        self._running = {
            labels: np.concatenate([np.zeros((1, array.shape[1])), np.cumsum(array, axis=0)])
            for labels, array in minutes.items()
        }

    @override
    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        if tuple(by) != self._by:
            raise ValueError(f"counted by {self._by}, not by {tuple(by)}")
        first = np.array([(span.start - self._start) // MINUTE for span in spans])
        last = np.array([(span.end - self._start) // MINUTE for span in spans])
        found = []
        for values, running in self._running.items():
            labels = dict(zip(self._by, values, strict=True))
            if any(labels[name] not in allowed for name, allowed in selector.items() if name in labels and allowed):
                continue
            most = len(running) - 1
            sums = running[np.clip(last, 0, most)] - running[np.clip(first, 0, most)]
            if not by or sums[:, 0].any():
                counts = tuple(map(_count, sums.tolist()))
                found.append(Counts(labels=labels, counts=counts))
        return found

    @override
    def hour_sums(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], span: Span
    ) -> list[HourSums]:
        hours = [Span(start=span.start + HOUR * i, end=span.start + HOUR * (i + 1)) for i in range(span.length // HOUR)]
        sums = [HourSums.of(counted.labels, counted.counts) for counted in self.counts(signal, selector, by, hours)]
        return [hour_sums for hour_sums in sums if hour_sums.hours]

    @override
    def momentary(self, signal: Signal, now: datetime) -> list[Counts]:
        """Nothing: a momentary state leaves no history."""
        return []

    @override
    def new_answers(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], *, after: int | None, most: int
    ) -> NewAnswers:
        """None: counts hold no single answers."""
        return NewAnswers(answers=(), through=after or 0)

    @override
    def labelled(self, signal: Signal) -> list[LabelledRate]:
        """None: counts hold no labels."""
        return []

    @override
    def probed(self, signal: Signal, *, also: Collection[int], now: datetime) -> list[Probed]:
        """None: counts hold no runs of probes."""
        return []

    @override
    def active_spans(self, rule_digest: str, since: datetime) -> Mapping[str, Sequence[Span]]:
        """Nothing: baselines are learnt from all counts."""
        return {}


def _count(sums: Sequence[float]) -> Count:
    total, added, squares, *bins = sums
    return Count(total=int(total), sum=added, squares=squares, bins=tuple(map(int, bins)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Episode:
    """One time that the rule would have fired; `resolved_at` None: it still fires at the end."""

    labels: Mapping[str, str]
    fired_at: datetime
    resolved_at: datetime | None
    worst: float | None  # the highest value while it fired; the lowest for a rule that fires below its line


def rehearse(rule: Rule, history: MinuteHistory, span: Span, *, step: timedelta = MINUTE) -> list[Episode]:
    """The episodes in which `rule` would have fired in `span`, evaluated every `step`, in order of firing.

    Late answers count as if they had arrived in time, and reading counts as never behind.
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
                episodes[alert.episode] = episode_of(alert, episodes.get(alert.episode), rule)
        remembered = {**done.memory.by_fingerprint, **done.remembered}
        for identity in done.forgotten:
            remembered.pop(identity, None)
        memory = replace(done.memory, by_fingerprint=remembered)
        now += step
    return sorted(episodes.values(), key=lambda episode: episode.fired_at)


def episode_of(alert: Alert, before: Episode | None, rule: Rule) -> Episode:
    """The episode of an alert that has fired, which it continues if there is one `before`."""
    values = [value for value in (alert.value, before.worst if before else None) if value is not None]
    worst = min if rule.method.fires_below(rule.signal) else max
    return Episode(
        labels=alert.labels,
        fired_at=alert.started_at,
        resolved_at=alert.resolved_at if alert.state is State.RESOLVED else None,
        worst=worst(values) if values else None,
    )
