"""What every alert method is: its parameters, which spans it wants counted, and what it makes of the counts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import ClassVar, Protocol, TypeAlias

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Baseline, Target
from monitor.alert.window import Counts, Observation, Span
from monitor.model import Json

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

    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """What is to be counted at `now`; `until` is the time of the evaluation before, None at the first."""

    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """What `counts` of those spans say of `signal` against `bound`, and what is to be remembered."""


def learnt(target: Target, baseline: Baseline | None) -> float | None:
    """The line itself; None where it is to be learnt and there is no baseline yet."""
    return target.bound(baseline)
