"""Measures how long stages take, in this process or for the one that started it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import perf_counter

from typing_extensions import override

from monitor.core.retry import Interrupted
from monitor.core.stage import Observation, Observer, StageName, Value


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedStage:
    """A stage that is over. `receiver` is that of a notification."""

    name: StageName
    seconds: float
    failed: bool
    receiver: str = ""


class StageTimes(Observer):
    """Hands each stage to `ended` when it is over, unless it had nothing to do or the process is stopping."""

    def __init__(self, ended: Callable[[EndedStage], object], *, clock: Callable[[], float] = perf_counter) -> None:
        self._ended = ended
        self._clock = clock

    @override
    def begin(self, name: StageName, attributes: Mapping[str, Value], parent: Observation | None) -> Observation:
        return _Timing(self._ended, self._clock, name, attributes)


class _Timing(Observation):
    log_fields: Mapping[str, str] = {}

    def __init__(
        self,
        ended: Callable[[EndedStage], object],
        clock: Callable[[], float],
        name: StageName,
        attributes: Mapping[str, Value],
    ) -> None:
        self._ended = ended
        self._clock = clock
        self._name = name
        self._receiver = str(attributes.get("receiver", ""))
        self._idle = False
        self._began = clock()

    @override
    def add(self, attributes: Mapping[str, Value]) -> None:
        self._idle = self._name == "seal" and attributes.get("leaves") == 0

    @override
    def end(self, error: BaseException | None) -> None:
        seconds = self._clock() - self._began
        if self._idle or isinstance(error, Interrupted):
            return
        self._ended(EndedStage(name=self._name, seconds=seconds, failed=error is not None, receiver=self._receiver))
