"""Minute counts by hand, and a method that is asked as the evaluator asks it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from monitor.alert.methods.method import Memory, Method
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import MINUTE, Count, Counts, Observation, Span

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
NEGATIVE = Signal(kind=SignalKind.RATE, name="negative")
LABELS = {"app": "shop"}


def share(bad: int, total: int) -> Count:
    return Count(total=total, sum=bad, squares=bad)


def counts(*found: Count) -> Counts:
    return Counts(labels=LABELS, counts=found)


def observe(method: Method, *found: Count, bound: float | None = None, signal: Signal = NEGATIVE) -> Observation:
    """One look of a method that remembers nothing."""
    line = method.target.bound(None) if bound is None else bound
    assert line is not None
    observation, memory = method.observe(counts(*found), signal=signal, bound=line, memory=None, now=START)
    assert memory is None
    return observation


class Rollup:
    """Answers by minute, as a store counts them."""

    def __init__(self) -> None:
        self.minutes: dict[datetime, tuple[int, int]] = {}

    def add(self, at: datetime, *, bad: int, total: int) -> None:
        minute = at.replace(second=0, microsecond=0)
        known_bad, known = self.minutes.get(minute, (0, 0))
        self.minutes[minute] = (known_bad + bad, known + total)

    def fill(self, start: datetime, bad: Sequence[int], total: Sequence[int]) -> None:
        for i, (k, n) in enumerate(zip(bad, total, strict=True)):
            self.add(start + i * MINUTE, bad=int(k), total=int(n))

    def count(self, span: Span) -> Count:
        bad = total = 0
        for i in range(span.length // MINUTE):
            k, n = self.minutes.get(span.start + i * MINUTE, (0, 0))
            bad, total = bad + k, total + n
        return share(bad, total)


class Watch:
    """A method that looks at a rollup again and again; its memory goes through JSON in between."""

    def __init__(self, method: Method, rollup: Rollup, *, signal: Signal = NEGATIVE) -> None:
        self.method = method
        self.rollup = rollup
        self.signal = signal
        self.until: datetime | None = None
        self.memory: Memory | None = None

    def look(self, now: datetime, *, bound: float | None = None, lateness: timedelta = timedelta()) -> Observation:
        line = self.method.target.bound(None) if bound is None else bound
        assert line is not None
        spans = self.method.spans(now, lateness=lateness, until=self.until)
        found = counts(*(self.rollup.count(span) for span in spans))
        observation, memory = self.method.observe(found, signal=self.signal, bound=line, memory=self.memory, now=now)
        self.until, self.memory = now, through_json(memory)
        return observation


def through_json(memory: Memory | None) -> Mapping[str, object] | None:
    return json.loads(json.dumps(memory, allow_nan=False))
