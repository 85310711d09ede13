"""A piece of the program's own work, told to whoever observes it: what latency metrics and traces are made of.

`with stage("decode", messages=12) as decoding:` tells each observer when the work begins, how it ends, and what it
belongs to. `app/wiring` chooses the observers; without any, a stage only lends its attributes to the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, Protocol, TypeAlias

StageName = Literal[
    "process",  # one batch, from its bytes to its commit; threads hand it over
    "decode",  # from bytes to interactions
    "assess",  # from interactions to assessments, with all repetitions while a provider is out of reach
    "complete",  # finding the supporting documents
    "encode",  # from texts to vectors
    "score",  # from vectors to assessments
    "store",  # one transaction
    "seal",  # one round of sealing the audit trail
    "chat",  # one request to a language model
    "embed",  # one request to an embedding service
    "evaluate",  # one round over all alert rules
    "rule",  # one alert rule in a round
    "notify",  # one notification to one receiver
    "report",  # one weekly report
    "probe",  # one probe run
]
Value: TypeAlias = str | int | float | bool | Sequence[str]


class Observation(Protocol):
    """One stage as one observer sees it. Methods may be called on any thread, and neither raise nor wait."""

    @property
    def log_fields(self) -> Mapping[str, str]:
        """What log lines within the stage are to carry, such as the id of its trace."""

    def add(self, attributes: Mapping[str, Value]) -> None:
        """Takes attributes that became known on the way."""

    def end(self, error: BaseException | None) -> None:
        """The stage is over; `error` is what it raised."""


class Observer(Protocol):
    """Hears of each stage. `begin` may be called on any thread, and neither raises nor waits."""

    def begin(self, name: StageName, attributes: Mapping[str, Value], parent: Observation | None) -> Observation:
        """A stage begins; `parent` is this observer's view of the stage that it is part of."""


class Stage:
    """A stage under way, which `begin` makes; whoever has it calls `end` once."""

    def __init__(self, name: StageName, attributes: dict[str, Value], parent: Stage | None) -> None:
        self.name = name
        self.attributes = attributes
        self.parent = parent
        above = {} if parent is None else parent._seen  # noqa: SLF001  of its own class
        self._seen: dict[Observer, Observation] = {
            observer: observer.begin(name, attributes, above.get(observer)) for observer in _observers
        }

    def add(self, **attributes: Value) -> None:
        """Adds attributes that became known on the way."""
        self.attributes.update(attributes)
        for observation in self._seen.values():
            observation.add(attributes)

    @contextmanager
    def resumed(self) -> Iterator[None]:
        """Stages that begin in the block, on this thread, are part of this one; what the block raises ends this one."""
        token = _current.set(self)
        try:
            yield
        except BaseException as error:
            self.end(error)
            raise
        finally:
            _current.reset(token)

    def end(self, error: BaseException | None = None) -> None:
        """Tells the observers that the stage is over."""
        for observation in self._seen.values():
            observation.end(error)

    def log_fields(self) -> dict[str, str]:
        """What observers want log lines within this stage to carry."""
        return {name: value for each in self._seen.values() for name, value in each.log_fields.items()}


_observers: tuple[Observer, ...] = ()
_current: ContextVar[Stage | None] = ContextVar("stage", default=None)


def current() -> Stage | None:
    """The innermost stage on this thread."""
    return _current.get()


def begin(name: StageName, **attributes: Value) -> Stage:
    """Begins a stage, as part of the current one, for another thread to resume and end."""
    return Stage(name, attributes, _current.get())


@contextmanager
def stage(name: StageName, **attributes: Value) -> Iterator[Stage]:
    """The block is one stage, which ends with it; what it raises is told to the observers and passed on."""
    begun = begin(name, **attributes)
    with begun.resumed():
        yield begun
    begun.end()


@contextmanager
def observed_by(observer: Observer) -> Iterator[None]:
    """Tells `observer` of the stages that begin while the block runs, on all threads."""
    global _observers  # noqa: PLW0603  stages begin deep in the flow, on many threads, as log lines do
    _observers = (*_observers, observer)
    try:
        yield
    finally:
        _observers = tuple(each for each in _observers if each is not observer)
