"""Fires when bets against the target grow rich, however often one looks; `wealth.py` proves the guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any, ClassVar, cast

import numpy as np
from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, WrongParameter, require_share, require_window
from monitor.alert.methods.wealth import CAP, NOTHING, Floats, advance, log_statistic, settle
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import HOUR, MINUTE, Count, Counts, Observation, Outcome, Span, interval, window_at
from monitor.core.model import Json
from monitor.core.text.duration import spelled

SETTLED = timedelta(minutes=30)  # answers that arrive later than this are not counted
LONGEST_GAP = timedelta(days=1)  # after a longer pause, only the last day is counted
LONGEST_WAIT = HOUR  # a longer silence counts as this long, so that time alone raises no alarm
LEAST_TOLD = timedelta(hours=1)  # evidence that chance shows more often than this is none
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bets:
    """The memory of one set of labels.

    `seen` maps a minute since 1970 to how many of its answers were counted and how many of those were bad; minutes
    before `since` are closed. `looked_at` is the time of the last look that brought answers.
    """

    log_wealth: Floats
    firing: bool
    looked_at: datetime
    since: int
    seen: Mapping[int, tuple[int, int]]

    def to_json(self) -> dict[str, Json]:
        """The stored form, which `from_json` reads."""
        return {
            "log_wealth": None if np.isneginf(self.log_wealth).all() else [float(v) for v in self.log_wealth],
            "firing": self.firing,
            "looked_at": self.looked_at.isoformat(),
            "since": self.since,
            "seen": [[minute, total, bad] for minute, (total, bad) in self.seen.items()],
        }

    @classmethod
    def from_json(cls, stored: Memory) -> Bets:
        """Reads what `to_json` returns."""
        known = cast("dict[str, Any]", stored)
        return cls(
            log_wealth=NOTHING if known["log_wealth"] is None else np.array(known["log_wealth"]),
            firing=known["firing"],
            looked_at=datetime.fromisoformat(known["looked_at"]),
            since=known["since"],
            seen={minute: (total, bad) for minute, total, bad in known["seen"]},
        )

    def as_of(self, now: datetime) -> Bets:
        """Moves a look dated after `now`, by a clock that ran ahead, back to `now`: else minutes to come are closed."""
        return replace(self, looked_at=min(self.looked_at, now), since=min(self.since, _minute(now)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sequential(Method):
    """Breaching from when the evidence for a rate above `target` reaches its line, until the evidence is gone.

    While the rate is at or below the target, a false alarm comes once in `false_alarm_every` on average, or more
    rarely. `window` is for display only. Late answers count as soon as they arrive, and none counts twice.
    """

    name: ClassVar[str] = "sequential"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.RATE, SignalKind.UNSCORED, SignalKind.DEAD_LETTERS})

    target: Target = field()  # without `field()`, the dataclass takes the inherited property for a default
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
    @override
    def promise(self) -> str:
        rarely = f"at most one false alarm in {spelled(self.false_alarm_every)} while the true rate is below it"
        hint = "; `shift` needs no such line" if self.target.is_learnt else ""
        return f"{self.target.basis}: {rarely}, and any number while it is above{hint}"

    @override
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The display window, then single minutes up to the running one: all that may have changed since `until`.

        The method does not wait for late answers; it counts them when they arrive.
        """
        running = _minute(now)
        first = running
        if until is not None:
            first = min(running, max(_minute(until - SETTLED), _minute(now - LONGEST_GAP) + 1))
        starts = (_EPOCH + minute * MINUTE for minute in range(first, running + 1))
        return window_at(now, self.window, timedelta()), *(Span(start=at, end=at + MINUTE) for at in starts)

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """Bets on the new answers. `detail` says how rarely chance alone produces as much evidence."""
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
            detail=_evidence(log_statistic(after.log_wealth).item(), self.line),
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
            # rows may be erased or judged anew; bets already made stand
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


def _evidence(log_minutes: float, line: float) -> str:
    """By the bound that holds for the alarm, chance produces evidence of M minutes at most once in M minutes."""
    minutes = min(exp(log_minutes), CAP * line)
    if minutes < LEAST_TOLD / MINUTE:
        return "none that the rate is above its target"
    return f"if the rate were on target, chance would show this at most once in {spelled(timedelta(minutes=minutes))}"
