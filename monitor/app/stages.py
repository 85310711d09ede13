"""Three stages that overlap: fetch and decode | assess | write, with at most one batch waiting between two of them.

A batch that a slow writer or provider holds up stops the stages before it, so memory stays bounded. Nothing is
acknowledged before its transaction has committed, and `Retriable` never loses a batch: its stage tries again.
"""

from __future__ import annotations

import logging
import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from threading import Event, Thread
from typing import Generic, TypeVar

from monitor.core.errors import Fenced, MonitorError, OutOfReach
from monitor.core.message import DeadLetter, Message, Offset
from monitor.core.model import Assessment, Batch, Interaction, Tally
from monitor.core.ports import Source, Store
from monitor.core.retry import Interrupted, Retry

Decode = Callable[[Sequence[Message]], tuple[list[Interaction], list[DeadLetter]]]
Assess = Callable[[Sequence[Interaction]], list[Assessment]]
T = TypeVar("T")
log = logging.getLogger(__name__)
GRACE = 2.0  # seconds that a read may block after everything else has stopped
_LOOK_UP = 0.1  # seconds after which a waiting stage looks whether another one has failed


class _AbortedError(MonitorError):
    """Another stage has failed; this one has nothing left to do."""


class _Handover(Generic[T]):
    """A place for one item between two stages; None ends it."""

    def __init__(self, aborted: Event) -> None:
        self._queue: queue.Queue[T | None] = queue.Queue(maxsize=1)
        self._aborted = aborted

    def put(self, item: T | None, *, meanwhile: Callable[[], None] = lambda: None) -> None:
        while not self._aborted.is_set():
            try:
                return self._queue.put(item, timeout=_LOOK_UP)
            except queue.Full:
                meanwhile()
        raise _AbortedError

    def get(self) -> T | None:
        while not self._aborted.is_set():
            try:
                return self._queue.get(timeout=_LOOK_UP)
            except queue.Empty:
                continue
        raise _AbortedError


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoded:
    received: int
    interactions: list[Interaction]
    dead_letters: list[DeadLetter]
    offsets: tuple[Offset, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Moves everything from `source` to `store`.

    `stop` ends the fetching; what is in flight is finished. `written` is called after each commit, in order, from the
    thread that called `run`, with the batch and what became of it. With `set_aside_after`, interactions that cannot be
    assessed for so many seconds are stored as pending; once that has come to pass, the following ones are tried once
    only, until one succeeds.
    """

    source: Source
    decode: Decode
    assess: Assess
    store: Store
    retry: Retry
    stop: Event
    written: Callable[[Batch, Tally], None]
    batch_messages: int
    batch_bytes: int
    poll_seconds: float
    set_aside_after: float | None = None

    def run(self) -> Tally:
        """Runs until the source ends or `stop` is set, and returns the ledger of the run.

        Raises:
            Fatal, OutOfReach: a stage failed for good; what was committed before stays, nothing else was acknowledged.
        """
        return _Run(self).to_the_end()


class _Run:
    """One run of the stages: its threads and what they tell each other."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._aborted = Event()  # a stage has failed
        self._polling = Event()  # the source is being asked
        self._abandoned = Event()  # and is waited for no more
        self._failures: list[BaseException] = []
        self._decoded: _Handover[_Decoded] = _Handover(self._aborted)
        self._assessed: _Handover[Batch] = _Handover(self._aborted)
        self._fetching = self._thread(self._fetch)
        self._total = Tally()

    def to_the_end(self) -> Tally:
        """The caller's thread writes; the others end with it."""
        assessing = self._thread(self._assess)
        for thread in (self._fetching, assessing, self._thread(self._watch)):
            thread.start()
        self._guarded(self._write)
        assessing.join()
        self._fetching.join(GRACE)  # one that is stuck in a read has nothing that is not acknowledged
        if self._failures:
            raise self._failures[0]
        return self._total

    def _thread(self, work: Callable[[], None]) -> Thread:
        return Thread(target=self._guarded, args=(work,), name=work.__name__.strip("_"), daemon=True)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except (_AbortedError, Interrupted):
            self._aborted.set()
        except BaseException as error:  # noqa: BLE001  raised again by the caller's thread
            self._failures.append(error)
            self._aborted.set()

    def _fetch(self) -> None:
        stages = self._stages
        while not (stages.stop.is_set() or self._aborted.is_set()):
            self._polling.set()
            try:
                messages = stages.retry(
                    lambda: stages.source.poll(
                        max_messages=stages.batch_messages, max_bytes=stages.batch_bytes, timeout=stages.poll_seconds
                    )
                )
            except Interrupted:  # what was fetched before is finished all the same
                break
            self._polling.clear()
            if self._abandoned.is_set():
                return
            if messages is None:
                break
            offsets = tuple(stages.source.offsets())
            if messages or offsets:
                interactions, dead_letters = stages.decode(messages)
                self._decoded.put(
                    _Decoded(
                        received=len(messages), interactions=interactions, dead_letters=dead_letters, offsets=offsets
                    ),
                    meanwhile=stages.source.hold,
                )
        self._decoded.put(None)

    def _watch(self) -> None:
        """Ends the fetching where a read blocks past the grace: opening a pipe that nobody writes to, say."""
        while self._fetching.is_alive() and not self._aborted.is_set() and not self._stages.stop.is_set():
            self._fetching.join(_LOOK_UP)
        self._fetching.join(GRACE)
        if self._fetching.is_alive() and self._polling.is_set():
            self._abandoned.set()
            self._decoded.put(None)

    def _assess(self) -> None:
        stages = self._stages
        patience = stages.set_aside_after
        while (item := self._decoded.get()) is not None:
            its = item.interactions
            assessments: list[Assessment] | None = []
            if its:
                assessments = self._tried(its, patience)
                patience = 0.0 if assessments is None else stages.set_aside_after
            batch = Batch(
                assessments=tuple(assessments or ()),
                dead_letters=tuple(item.dead_letters),
                received=item.received,
                offsets=item.offsets,
                pending=tuple(its) if assessments is None else (),
            )
            self._assessed.put(batch)
        self._assessed.put(None)

    def _tried(self, its: Sequence[Interaction], patience: float | None) -> list[Assessment] | None:
        """Their assessments, or None where they are to be set aside."""
        stages = self._stages
        if patience is None:
            return stages.retry(lambda: stages.assess(its))
        try:
            return replace(stages.retry, patience=patience)(lambda: stages.assess(its))
        except OutOfReach as error:
            log.warning("%d interactions are set aside: %s", len(its), error)
            return None

    def _write(self) -> None:
        stages = self._stages
        while (batch := self._assessed.get()) is not None:
            try:
                tally = stages.retry(lambda batch=batch: stages.store.write(batch))  # type: ignore[misc]
            except Fenced as error:
                stages.source.fenced(batch.offsets, error)
                continue
            stages.source.stored(batch.offsets)
            self._total += tally
            stages.written(batch, tally)
