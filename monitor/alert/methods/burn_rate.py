"""Fires when bad answers come several times faster than allowed, over a long and a short window at once.

Source: B. Beyer and others (eds.), The Site Reliability Workbook, O'Reilly, 2018, chapter 5, "Multiwindow,
Multi-Burn-Rate Alerts", with its settings for a budget of 30 days.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar, Literal, TypeAlias

from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, WrongParameter, require_least, require_share, require_window
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Count, Counts, Observation, Outcome, Span, interval, window_at
from monitor.core.text.duration import format_duration

Preset: TypeAlias = Literal["page", "ticket"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnWindow:
    """Breaching when the rate over both `long` and `short` exceeds `factor` times the allowed rate."""

    long: timedelta
    short: timedelta
    factor: float

    def __post_init__(self) -> None:
        require_window("long", self.long)
        require_window("short", self.short)
        if self.short >= self.long:
            raise WrongParameter("short", "must be shorter than long")
        if self.factor <= 0:
            raise WrongParameter("factor", "must be above 0")


def _window(long: int, short: int, factor: float) -> BurnWindow:
    return BurnWindow(long=timedelta(minutes=long), short=timedelta(minutes=short), factor=factor)


PRESETS: Mapping[str, tuple[BurnWindow, ...]] = {
    "page": (_window(60, 5, 14.4), _window(6 * 60, 30, 6)),
    "ticket": (_window(24 * 60, 2 * 60, 3), _window(3 * 24 * 60, 6 * 60, 1)),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BurnRate(Method):
    """Breaching when any pair of windows is; `preset` names the workbook's pairs, `windows` lists other pairs.

    A pair whose long window has fewer than `min_samples` answers does not count. A pair whose long window exceeds the
    line while the short window is empty is unsure.
    """

    name: ClassVar[str] = "burn_rate"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.RATE, SignalKind.UNSCORED, SignalKind.DEAD_LETTERS})

    allowed: Target
    preset: Preset | None = None
    windows: tuple[BurnWindow, ...] = ()
    min_samples: int = 30

    def __post_init__(self) -> None:
        require_share("allowed", self.allowed)
        require_least("min_samples", self.min_samples, 1)
        if self.preset is not None and self.preset not in PRESETS:
            raise WrongParameter("preset", f"unknown; known: {', '.join(PRESETS)}")
        if self.preset is not None and self.windows:
            raise WrongParameter("windows", "set either windows or preset, not both")
        if self.allowed.value is not None and (problem := self._unreachable(self.allowed.value)):
            raise WrongParameter("allowed", problem)

    @property
    def pairs(self) -> tuple[BurnWindow, ...]:
        """The pairs of `windows`, or those of the preset; the default preset is `page`."""
        return self.windows or PRESETS[self.preset or "page"]

    @property
    @override
    def window(self) -> timedelta:
        return self.pairs[0].long

    @property
    @override
    def target(self) -> Target:
        return self.allowed

    @property
    @override
    def promise(self) -> str:
        return f"{self.target.basis} as the allowed rate: pages while it is used up several times too fast"

    @override
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The long and the short window of each pair, in turn."""
        return tuple(window_at(now, length, lateness) for pair in self.pairs for length in (pair.long, pair.short))

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """`detail` lists the burn rates. Leaves the memory as it is.

        The outcome is an error if a learnt rate is so high that no pair could ever breach.
        """
        spans = counts.counts
        pairs = list(zip(self.pairs, spans[::2], spans[1::2], strict=True))
        first = spans[0]
        lower, upper = interval(first, share=True)
        outcomes = {found for pair, long, short in pairs if (found := self._outcome(pair, long, short, bound))}
        problem = self._unreachable(bound)
        if Outcome.BREACHING in outcomes:
            outcome = Outcome.BREACHING
        elif problem:
            outcome = Outcome.ERROR
        elif outcomes:
            outcome = Outcome.UNSURE if Outcome.UNSURE in outcomes else Outcome.NORMAL
        else:
            outcome = Outcome.UNSURE if any(count.total for count in spans) else Outcome.NO_DATA
        observation = Observation(
            labels=counts.labels,
            outcome=outcome,
            value=first.mean,
            samples=first.total,
            lower=lower,
            upper=upper,
            bound=bound,
            detail=problem or "; ".join(_burn_rates(*pair, bound) for pair in pairs),
        )
        return observation, memory

    def _outcome(self, pair: BurnWindow, long: Count, short: Count, allowed: float) -> Outcome | None:
        line = pair.factor * allowed
        if long.mean is None or long.total < self.min_samples:
            return None
        if long.mean <= line:
            return Outcome.NORMAL
        if short.mean is None:
            return Outcome.UNSURE
        return Outcome.BREACHING if short.mean > line else Outcome.NORMAL

    def _unreachable(self, allowed: float) -> str | None:
        """The problem if a pair could not breach even when every answer is bad; None if all can."""
        highest = max(pair.factor for pair in self.pairs)
        if highest * allowed < 1:
            return None
        return (
            f"a burn rate of {highest:g} cannot be exceeded with {allowed:.3g} allowed: when every answer is bad, the "
            f"burn rate is {1 / allowed:.3g}; allow less than {1 / highest:.3g}, or list windows with smaller factors"
        )


def _burn_rates(pair: BurnWindow, long: Count, short: Count, allowed: float) -> str:
    rates = (
        f"{'nothing' if count.mean is None else f'{count.mean / allowed:.1f} times'} in {format_duration(length)}"
        for count, length in ((long, pair.long), (short, pair.short))
    )
    return f"{', '.join(rates)} (fires above {pair.factor:g} times in both)"
