"""The interface of an alert method: its parameters, the spans to count, and the observation it makes of the counts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import ClassVar, Protocol, TypeAlias

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import MINUTE, Counts, Observation, Span
from monitor.core.model import Json

Memory: TypeAlias = Mapping[str, Json]  # what a method keeps between evaluations for one set of labels, as JSON
MOST_WEEKS = 52  # of the past that a rule may count in each round
_HIGHEST_CHANCE = 0.5  # beyond it chance alone would breach more often than not


class WrongParameter(ValueError):
    """A parameter has a value that the method cannot work with; `field` names the parameter."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class Method(Protocol):
    """A frozen dataclass of parameters; its `__post_init__` raises `WrongParameter`. Every method is pure."""

    name: ClassVar[str]
    takes: ClassVar[frozenset[SignalKind]]  # the signals that it can judge

    @property
    def window(self) -> timedelta:
        """The span that the figures in messages cover, and whose answers are shown as examples."""

    @property
    def target(self) -> Target:
        """The line that the signal is compared with: a given number, or one learnt from the baseline."""

    @property
    def promise(self) -> str:
        """In plain words, what the rule's page rests on, and how often it may be false."""

    def fires_below(self, signal: Signal) -> bool:  # noqa: ARG002  for methods that fire below for some signals
        """Whether the alert fires when `signal` is below the line instead of above it."""
        return False

    def check(self, signal: Signal) -> None:
        """Raises `WrongParameter` if a parameter does not suit `signal`, whose kind is in `takes`."""

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:  # noqa: ARG002
        """The spans to count at `now`; `until` is the time of the previous evaluation, None for the first.

        None for a method that reads something else than counts.
        """
        return ()

    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """Compares `counts` of those spans with `bound`; returns the observation and the memory to keep."""


def require_share(field: str, target: Target) -> None:
    """Raises `WrongParameter` if `target` is a number outside 0 to 1; a learnt target is always a share."""
    if target.value is not None and not 0 < target.value < 1:
        raise WrongParameter(field, f"must be between 0 and 1, such as 0.06 for 6 %; it is {target}")


def require_window(field: str, length: timedelta) -> None:
    """Raises `WrongParameter` if `length` is not a whole number of minutes, since answers are counted by the minute."""
    if length < MINUTE or length % MINUTE:
        raise WrongParameter(field, "must be a whole number of minutes, at least 1m: answers are counted by the minute")


def require_least(field: str, value: float, least: float) -> None:
    """Raises `WrongParameter` if `value` is below `least`."""
    if value < least:
        raise WrongParameter(field, f"must be {least:g} or more")


def require_weeks(weeks: int, least: int) -> None:
    """Raises `WrongParameter` if a rule would look back less than `least` weeks, or more than `MOST_WEEKS`."""
    require_least("weeks", weeks, least)
    if weeks > MOST_WEEKS:
        raise WrongParameter("weeks", f"must be {MOST_WEEKS} or less")


def require_chance(field: str, value: float) -> None:
    """Raises `WrongParameter` if `value` is not a usable significance level."""
    if not 0 < value <= _HIGHEST_CHANCE:
        raise WrongParameter(field, "must be above 0 and at most 0.5: the share of looks at which chance may fire")
