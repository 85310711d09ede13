"""What every alert method is: its parameters, which spans it wants counted, and what it makes of the counts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import ClassVar, Protocol, TypeAlias

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import MINUTE, Counts, Observation, Span
from monitor.core.model import Json

Memory: TypeAlias = Mapping[str, Json]  # what a method keeps of one set of labels between evaluations; as JSON


class WrongParameter(ValueError):
    """A parameter that a method cannot work with; `field` is its name."""

    def __init__(self, field: str, problem: str) -> None:
        super().__init__(f"{field}: {problem}")
        self.field = field
        self.problem = problem


class Method(Protocol):
    """A frozen dataclass of parameters, whose `__post_init__` raises `WrongParameter`. Everything here is pure."""

    name: ClassVar[str]
    takes: ClassVar[frozenset[SignalKind]]  # the signals that it can judge

    @property
    def window(self) -> timedelta:
        """The span that its figures in messages are of, and whose answers are shown as examples."""

    @property
    def target(self) -> Target:
        """The line that the signal is held against, given or to be learnt from the baseline."""

    @property
    def fires_below(self) -> bool:
        """Whether it fires under the line, not above it."""

    def check(self, signal: Signal) -> None:
        """Raises `WrongParameter` where a parameter does not suit `signal`, one of those that it `takes`."""

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """What is to be counted at `now`; `until` is the time of the evaluation before, None at the first."""

    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """What `counts` of those spans say of `signal` against `bound`, and what is to be remembered."""


def require_share(field: str, target: Target) -> None:
    """Raises `WrongParameter` where `target` is a number that is no share of answers; a learnt one always is."""
    if target.value is not None and not 0 < target.value < 1:
        raise WrongParameter(field, f"must be between 0 and 1, such as 0.06 for 6 %; it is {target}")


def require_window(field: str, length: timedelta) -> None:
    """Raises `WrongParameter` where `length` is not some whole minutes: answers are counted by the minute."""
    if length < MINUTE or length % MINUTE:
        raise WrongParameter(field, "must be a whole number of minutes, at least 1m: answers are counted by the minute")


def require_least(field: str, value: float, least: float) -> None:
    """Raises `WrongParameter` where `value` is below `least`."""
    if value < least:
        raise WrongParameter(field, f"must be {least:g} or more")


def require_chance(field: str, value: float) -> None:
    """Raises `WrongParameter` where `value` is no probability that a test can be held to."""
    if not 0 < value <= 0.5:  # noqa: PLR2004  beyond it chance alone would breach more often than not
        raise WrongParameter(field, "must be above 0 and at most 0.5: how often chance may pass for a change")
