"""Three stages that overlap: fetch and decode | assess | write, with at most one batch waiting between two of them.

A batch that a slow writer or provider holds up stops the stages before it, so memory stays bounded. Nothing is
acknowledged before its transaction has committed, and `Retriable` never loses a batch: its stage tries again.
"""

from __future__ import annotations

import queue
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Event, Thread
from typing import Generic, TypeVar

from monitor.errors import MonitorError
from monitor.model import Assessment, Batch, DeadLetter, Interaction, Message, Offset, Tally
from monitor.ports import Source, Store
from monitor.retry import Interrupted, Retry

Decode = Callable[[Sequence[Message]], tuple[list[Interaction], list[DeadLetter]]]
Assess = Callable[[Sequence[Interaction]], list[Assessment]]
T = TypeVar("T")
_LOOK_UP = 0.1  # seconds after which a waiting stage looks whether another one has failed


class _AbortedError(MonitorError):
    """Another stage has failed; this one has nothing left to do."""


class _Handover(Generic[T]):
    """A place for one item between two stages; None ends it."""

    def __init__(self, aborted: Event) -> None:
        self._queue: queue.Queue[T | None] = queue.Queue(maxsize=1)
        self._aborted = aborted

    def put(self, item: T | None) -> None:
        while not self._aborted.is_set():
            try:
                return self._queue.put(item, timeout=_LOOK_UP)
            except queue.Full:
                continue
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
    messages: Sequence[Message]
    interactions: list[Interaction]
    dead_letters: list[DeadLetter]
    offsets: tuple[Offset, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stages:
    """Moves everything from `source` to `store`.

    `stop` ends the fetching; what is in flight is finished. `written` is called after each commit, in order, from the
    thread that called `run`, with the batch and what became of it.
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

    def run(self) -> Tally:
        """Runs until the source ends or `stop` is set, and returns the ledger of the run.

        Raises:
            Fatal, OutOfReach: a stage failed for good; what was committed before stays, nothing else was acknowledged.
        """
        aborted, failures = Event(), list[BaseException]()
        decoded: _Handover[_Decoded] = _Handover(aborted)
        assessed: _Handover[tuple[Sequence[Message], Batch]] = _Handover(aborted)

        def guarded(work: Callable[[], None]) -> None:
            try:
                work()
            except (_AbortedError, Interrupted):
                aborted.set()
            except BaseException as error:  # noqa: BLE001  raised again by the caller's thread, below
                failures.append(error)
                aborted.set()

        threads = [
            Thread(target=guarded, args=(lambda: self._fetch(decoded),), name="fetch", daemon=True),
            Thread(target=guarded, args=(lambda: self._assess(decoded, assessed),), name="assess", daemon=True),
        ]
        total = Tally()

        def write() -> None:
            nonlocal total
            while (item := assessed.get()) is not None:
                messages, batch = item
                tally = self.retry(lambda b=batch: self.store.write(b))  # type: ignore[misc]
                self.source.stored(messages)
                total += tally
                self.written(batch, tally)

        for thread in threads:
            thread.start()
        guarded(write)
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return total

    def _fetch(self, out: _Handover[_Decoded]) -> None:
        while not self.stop.is_set():
            try:
                messages = self.retry(
                    lambda: self.source.poll(
                        max_messages=self.batch_messages, max_bytes=self.batch_bytes, timeout=self.poll_seconds
                    )
                )
            except Interrupted:  # what was fetched before is finished all the same
                break
            if messages is None:
                break
            if messages:
                interactions, dead_letters = self.decode(messages)
                offsets = tuple(self.source.offsets())
                out.put(
                    _Decoded(messages=messages, interactions=interactions, dead_letters=dead_letters, offsets=offsets)
                )
        out.put(None)

    def _assess(self, given: _Handover[_Decoded], out: _Handover[tuple[Sequence[Message], Batch]]) -> None:
        while (item := given.get()) is not None:
            interactions = item.interactions
            assessments = self.retry(lambda its=interactions: self.assess(its)) if interactions else []  # type: ignore[misc]
            batch = Batch(
                assessments=tuple(assessments),
                dead_letters=tuple(item.dead_letters),
                received=len(item.messages),
                offsets=item.offsets,
            )
            out.put((item.messages, batch))
        out.put(None)
