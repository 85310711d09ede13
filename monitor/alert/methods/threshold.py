"""Fires when a rate, a mean or a momentary state is on the wrong side of a line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, WrongParameter, require_least, require_share, require_window
from monitor.alert.probed import NOTHING_OF_LATE
from monitor.alert.signal import SCORES, Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, bounds, measured, window_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold(Method):
    """Breaching while the value over `window` is `above` the line, or `below` it (means and amounts).

    With fewer than `min_samples` answers the outcome is unsure; momentary states and sums need no samples. With
    `confident`, the alert fires only when the whole interval is past the line, and ends when the value is back on the
    good side.
    """

    name: ClassVar[str] = "threshold"
    takes: ClassVar[frozenset[SignalKind]] = frozenset(SignalKind) - {
        SignalKind.NO_DATA,
        SignalKind.RANKS,
        SignalKind.TRUE_RATE,
    }

    above: Target | None = None
    below: float | None = None
    window: timedelta = timedelta(minutes=5)
    min_samples: int = 30
    confident: bool = False

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            raise WrongParameter("above", "set either above or below")
        require_window("window", self.window)
        require_least("min_samples", self.min_samples, 1)

    @property
    @override
    def target(self) -> Target:
        return self.above if self.above is not None else Target(value=self.below)

    @property
    @override
    def promise(self) -> str:
        sure = ", and chance explains the value in less than one look in 40" if self.confident else ""
        return f"{self.target.basis}: pages whenever the value is past it{sure}"

    @override
    def fires_below(self, signal: Signal) -> bool:
        return self.below is not None

    @override
    def check(self, signal: Signal) -> None:
        """A share needs a share as its line; only a mean or an amount can be too low; only a share has a baseline."""
        if signal.is_of_probe and not signal.is_share:
            self._check_score(signal)
        elif self.above is None:
            if not (signal.kind is SignalKind.MEAN or signal.is_amount):
                raise WrongParameter("below", f"only a mean can be too low, not {_named(signal)}")
        elif signal.is_share:
            require_share("above", self.above)
        elif self.above.is_learnt:
            raise WrongParameter("above", f"no baseline is learnt for {_named(signal)}: set a number")
        if _is_state(signal) and self.confident:
            raise WrongParameter("confident", f"{_named(signal)} is a momentary state, which has no interval")
        if signal.is_sum and self.confident:
            raise WrongParameter("confident", f"{_named(signal)} is a sum, which has no interval")

    def _check_score(self, signal: Signal) -> None:
        """A score is bad when it is low, and its line is one that it can be below."""
        if self.below is None:
            raise WrongParameter("above", f"{_named(signal)} is bad when it is low: set below, such as below: 4.0")
        least, most = SCORES[signal.name]
        if not least < self.below <= most:
            raise WrongParameter("below", f"must be above {least:g} and at most {most:g}, as {_named(signal)} is")

    @override
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The last closed window at `now`."""
        return (window_at(now, self.window, lateness),)

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """Leaves the memory as it is."""
        (count,) = counts.counts
        value = measured(signal, count)
        if value is not None and _is_state(signal):
            lower, upper = value, value
        else:
            lower, upper = bounds(signal, count)
        newest = counts.probed.runs[0] if counts.probed else None
        says_enough = newest is None or newest.says_enough or signal.is_of_questions
        observation = Observation(
            labels=counts.labels,
            outcome=self._outcome(count, signal, bound, lower, upper) if says_enough else Outcome.UNSURE,
            value=value,
            samples=count.total,
            lower=lower,
            upper=upper,
            bound=bound,
            detail=newest.said if newest else NOTHING_OF_LATE if signal.is_of_probe else None,
        )
        return observation, memory

    def _outcome(self, count: Count, signal: Signal, bound: float, lower: float, upper: float) -> Outcome:
        value = measured(signal, count)
        if value is None:
            return Outcome.NO_DATA
        if count.total < self.min_samples and not (_is_state(signal) or signal.is_sum):
            return Outcome.UNSURE
        if (value <= bound) if self.below is None else (value >= bound):
            return Outcome.NORMAL
        if self.confident and ((lower <= bound) if self.below is None else (upper >= bound)):
            return Outcome.UNSURE
        return Outcome.BREACHING


def _is_state(signal: Signal) -> bool:
    """Whether it is a momentary state, which has no samples; a run of a probe has its questions."""
    return signal.is_momentary and not signal.is_of_probe


def _named(signal: Signal) -> str:
    return f"the {signal}".replace("_", " ")
