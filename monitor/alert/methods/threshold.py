"""A rate, a mean or a state of now that is on the wrong side of a line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from monitor.alert.methods.method import Memory, WrongParameter, require_least, require_share, require_window
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, interval, window_at


@dataclass(frozen=True, slots=True, kw_only=True)
class Threshold:
    """Breaching while the value over `window` is `above` the line, or `below` it (means only).

    Fewer than `min_samples` say nothing either way; a state of now needs none. With `confident` it takes the bound of
    the interval that is nearer to the line to be past it, and a value back on the good side to end it.
    """

    name: ClassVar[str] = "threshold"
    takes: ClassVar[frozenset[SignalKind]] = frozenset(SignalKind) - {SignalKind.NO_DATA}

    above: Target | None = None
    below: float | None = None
    window: timedelta = timedelta(minutes=5)
    min_samples: int = 30
    confident: bool = False

    def __post_init__(self) -> None:
        if (self.above is None) == (self.below is None):
            raise WrongParameter("above", "give either above or below")
        require_window("window", self.window)
        require_least("min_samples", self.min_samples, 1)

    @property
    def target(self) -> Target:
        """The line."""
        return self.above if self.above is not None else Target(value=self.below)

    @property
    def fires_below(self) -> bool:
        """Under `below`."""
        return self.below is not None

    def check(self, signal: Signal) -> None:
        """A share is held against a share; only a mean can be too low; only what is usual of a share is learnt."""
        if self.above is None:
            if signal.kind is not SignalKind.MEAN:
                raise WrongParameter("below", f"only a mean can be too low, not the {signal}")
        elif signal.is_share:
            require_share("above", self.above)
        elif self.above.is_learnt:
            raise WrongParameter("above", f"no baseline is learnt for the {signal}: give a number")
        if signal.is_momentary and self.confident:
            raise WrongParameter("confident", f"the {signal} is a state of now, which has no interval")

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:  # noqa: ARG002
        """The window that is closed at `now`."""
        return (window_at(now, self.window, lateness),)

    def observe(
        self,
        counts: Counts,
        *,
        signal: Signal,
        bound: float,
        memory: Memory | None,
        now: datetime,  # noqa: ARG002
    ) -> tuple[Observation, Memory | None]:
        """Nothing is remembered."""
        (count,) = counts.counts
        value = count.mean
        if value is not None and signal.is_momentary:
            lower, upper = value, value
        else:
            lower, upper = interval(count, share=signal.is_share)
        observation = Observation(
            labels=counts.labels,
            outcome=self._outcome(count, signal, bound, lower, upper),
            value=value,
            samples=count.total,
            lower=lower,
            upper=upper,
            bound=bound,
        )
        return observation, memory

    def _outcome(self, count: Count, signal: Signal, bound: float, lower: float, upper: float) -> Outcome:
        value = count.mean
        if value is None:
            return Outcome.NO_DATA
        if count.total < self.min_samples and not signal.is_momentary:
            return Outcome.UNSURE
        if (value <= bound) if self.below is None else (value >= bound):
            return Outcome.NORMAL
        if self.confident and ((lower <= bound) if self.below is None else (upper >= bound)):
            return Outcome.UNSURE
        return Outcome.BREACHING
