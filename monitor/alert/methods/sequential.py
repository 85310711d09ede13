"""Bets against the target, looked at as often as one likes: what it promises, and why, stands in `wealth.py`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any, ClassVar, cast

import numpy as np

from monitor.alert.methods.method import Memory, WrongParameter, require_share, require_window
from monitor.alert.methods.wealth import CAP, NOTHING, Floats, advance, log_statistic, settle
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import HOUR, MINUTE, Count, Counts, Observation, Outcome, Span, interval, window_at
from monitor.core.model import Json

SETTLED = timedelta(minutes=30)  # what arrives later than this after its time is not counted
LONGEST_GAP = timedelta(days=1)  # of a longer pause, only the last day is caught up with
LONGEST_WAIT = HOUR  # a longer silence counts as so much, so that time alone raises no alarm
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bets:
    """What is remembered of one set of labels.

    `seen` has, by minute since 1970, how many answers were counted of it and how many of them bad; minutes before
    `since` are closed. `looked_at` is the last look that brought answers.
    """

    log_wealth: Floats
    firing: bool
    looked_at: datetime
    since: int
    seen: Mapping[int, tuple[int, int]]

    def to_json(self) -> dict[str, Json]:
        """As it is stored; `from_json` turns it back."""
        return {
            "log_wealth": None if np.isneginf(self.log_wealth).all() else [float(v) for v in self.log_wealth],
            "firing": self.firing,
            "looked_at": self.looked_at.isoformat(),
            "since": self.since,
            "seen": [[minute, total, bad] for minute, (total, bad) in self.seen.items()],
        }

    @classmethod
    def from_json(cls, stored: Memory) -> Bets:
        """What `to_json` gave."""
        known = cast("dict[str, Any]", stored)
        return cls(
            log_wealth=NOTHING if known["log_wealth"] is None else np.array(known["log_wealth"]),
            firing=known["firing"],
            looked_at=datetime.fromisoformat(known["looked_at"]),
            since=known["since"],
            seen={minute: (total, bad) for minute, total, bad in known["seen"]},
        )

    def as_of(self, now: datetime) -> Bets:
        """With a look dated after `now`, by a clock that was ahead, taken as of now: else all until then is closed."""
        return replace(self, looked_at=min(self.looked_at, now), since=min(self.since, _minute(now)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential:
    """Breaching from the look at which the evidence that the rate is above `target` reaches its line, until it is gone.

    While the rate is at or below the target, a false alarm comes once in `false_alarm_every` on average, or less
    often. `window` is for display only. Late answers count as soon as they arrive, and none counts twice.
    """

    name: ClassVar[str] = "sequential"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.RATE, SignalKind.DEAD_LETTERS})

    target: Target
    false_alarm_every: timedelta = timedelta(weeks=10)
    window: timedelta = HOUR

    def __post_init__(self) -> None:
        require_share("target", self.target)
        require_window("window", self.window)
        if self.false_alarm_every < _DAY:
            raise WrongParameter("false_alarm_every", "must be 1d or longer")

    @property
    def line(self) -> float:
        """The wealth that raises the alarm, in minutes."""
        return self.false_alarm_every / MINUTE

    @property
    def fires_below(self) -> bool:
        """Never."""
        return False

    def check(self, signal: Signal) -> None:
        """Any share will do."""

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:  # noqa: ARG002
        """The display window, then single minutes up to the running one: all that may have changed since `until`.

        No lateness is waited for, since what comes late is counted then.
        """
        running = _minute(now)
        first = running
        if until is not None:
            first = min(running, max(_minute(until - SETTLED), _minute(now - LONGEST_GAP) + 1))
        starts = (_EPOCH + minute * MINUTE for minute in range(first, running + 1))
        return window_at(now, self.window, timedelta()), *(Span(start=at, end=at + MINUTE) for at in starts)

    def observe(
        self,
        counts: Counts,
        *,
        signal: Signal,  # noqa: ARG002
        bound: float,
        memory: Memory | None,
        now: datetime,
    ) -> tuple[Observation, Memory | None]:
        """Bets on what is new. `detail` says how rarely so much evidence comes by chance."""
        shown, *minutes = counts.counts
        before = _start(now, len(minutes)) if memory is None else Bets.from_json(memory).as_of(now)
        after = self._look(before, minutes, bound, now)
        lower, upper = interval(shown, share=True)
        outcome = Outcome.BREACHING if after.firing else Outcome.NORMAL
        observation = Observation(
            labels=counts.labels,
            outcome=outcome if shown.total else Outcome.NO_DATA,
            value=shown.mean,
            samples=shown.total,
            lower=lower,
            upper=upper,
            bound=bound,
            detail=_told(log_statistic(after.log_wealth).item(), self.line),
        )
        return observation, after.to_json()

    def _look(self, before: Bets, minutes: Sequence[Count], target: float, now: datetime) -> Bets:
        running = _minute(now)
        seen = dict(before.seen)
        total = bad = 0
        for minute, count in enumerate(minutes, start=running + 1 - len(minutes)):
            if minute < before.since:
                continue
            known, known_bad = seen.get(minute, (0, 0))
            # rows may be erased or judged anew: what was bet stays bet
            new = max(count.total - known, 0)
            new_bad = min(max(round(count.sum) - known_bad, 0), new)
            total, bad = total + new, bad + new_bad
            if new:
                seen[minute] = (known + new, known_bad + new_bad)
        waited = min(max(now - before.looked_at, _INSTANT), LONGEST_WAIT)
        wealth = advance(before.log_wealth, bad, total, waited / MINUTE, target)
        wealth, firing = settle(wealth, np.asarray(before.firing), self.line)
        since = max(before.since, _minute(now - SETTLED))
        return Bets(
            log_wealth=wealth,
            firing=bool(firing),
            looked_at=now if total else before.looked_at,
            since=since,
            seen={minute: counted for minute, counted in seen.items() if minute >= since},
        )


def _start(now: datetime, minutes: int) -> Bets:
    """Nothing bet, nothing seen; the first look counts as a minute."""
    return Bets(log_wealth=NOTHING, firing=False, looked_at=now - MINUTE, since=_minute(now) + 1 - minutes, seen={})


def _minute(at: datetime) -> int:
    return (at - _EPOCH) // MINUTE


def _told(log_minutes: float, line: float) -> str:
    """By the same bound as the alarm's, evidence of M minutes comes once in M minutes or less often."""
    length = timedelta(minutes=min(exp(log_minutes), CAP * line))
    unit, name = next(
        ((unit, name) for unit, name in ((_DAY, "days"), (HOUR, "hours")) if length >= 2 * unit), (MINUTE, "minutes")
    )
    return f"at the target, as much evidence comes once in {length / unit:,.0f} {name} or less often"
