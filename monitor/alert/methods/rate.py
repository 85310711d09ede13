"""Fires when people's labels show that the true rate of a period is above a line."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import ClassVar

from typing_extensions import override

from monitor.alert.methods.method import Memory, Method, WrongParameter
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Counts, Observation, Outcome
from monitor.core.text.duration import spelled

_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate(Method):
    """Breaching when the whole interval of the newest labelled period is `above` the line, until its estimate is not.

    A period that ended longer than `max_age` ago says nothing any more.
    """

    name: ClassVar[str] = "rate"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.TRUE_RATE})

    above: float
    max_age: timedelta = timedelta(days=35)

    def __post_init__(self) -> None:
        if not 0 < self.above < 1:
            raise WrongParameter("above", f"must be between 0 and 1, such as 0.06 for 6 %; it is {self.above:g}")
        if self.max_age < _DAY:
            raise WrongParameter("max_age", "must be 1d or longer")

    @property
    @override
    def window(self) -> timedelta:
        """None: the period is that of the labels."""
        return timedelta()

    @property
    @override
    def target(self) -> Target:
        return Target(value=self.above)

    @property
    @override
    def promise(self) -> str:
        return (
            "people's labels of a period: pages when the lower end of the 95 % interval of the true rate is above the "
            "line; of periods at the line, one in 40 pages"
        )

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """`value` is the estimate. Leaves the memory as it is."""
        rate = counts.labelled
        if rate is None or now - rate.until > self.max_age:
            observation = Observation(
                labels=counts.labels,
                outcome=Outcome.NO_DATA if rate is None else Outcome.NORMAL,
                value=None,
                samples=0,
                lower=0.0,
                upper=1.0,
                bound=bound,
                detail=f"no period that ended in the last {spelled(self.max_age)} has labels",
            )
            return observation, memory
        if rate.lower > bound:
            outcome = Outcome.BREACHING
        else:
            outcome = Outcome.NORMAL if rate.estimate <= bound else Outcome.UNSURE
        observation = Observation(
            labels=counts.labels,
            outcome=outcome,
            value=rate.estimate,
            samples=rate.labels,
            lower=rate.lower,
            upper=rate.upper,
            bound=bound,
            detail=f"{rate.labels:,} answers of {rate.since:%Y-%m-%d} to {rate.until:%Y-%m-%d}, by plan {rate.plan}",
        )
        return observation, memory
