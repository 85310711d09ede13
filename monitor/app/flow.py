"""Runs three overlapping stages, fetch and decode | assess | write, with at most one batch waiting between two stages.

A slow writer or provider stops the stages before it, so memory stays bounded. Nothing is acknowledged before its
transaction has committed, and `Retriable` never loses a batch: its stage tries again.
"""

from __future__ import annotations

import logging
import queue
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from threading import Event, Thread
from typing import Generic, TypeVar

from monitor.app.batch_attributes import arrival, outcome
from monitor.core.batch import Batch, Tally
from monitor.core.errors import Fenced, MonitorError, OutOfReach
from monitor.core.message import Message, Offset, Skip
from monitor.core.model import Assessment, Interaction
from monitor.core.ports import Source, Store
from monitor.core.retry import Interrupted, Retry
from monitor.core.stage import Stage, begin, stage
from monitor.core.trace import Collected
from monitor.ingest.decode import Decoded

Decode = Callable[[Sequence[Message]], Decoded]
Assess = Callable[[Sequence[Interaction]], list[Assessment]]
T = TypeVar("T")
log = logging.getLogger(__name__)
GRACE = 2.0  # seconds that a read may block after the other stages have stopped
FINISH_WITHIN = 30.0  # seconds after `stop` for the batches in flight; less than supervisors wait before they kill
_LOOK_UP = 0.1  # seconds between two looks of a waiting stage at whether another stage failed


class _AbortedError(MonitorError):
    """Another stage failed, so this one ends too."""


class _Handover(Generic[T]):
    """A queue of one item between two stages; None marks the end."""

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
class _Fetched:
    process: Stage
    received: int
    decoded: Decoded
    offsets: tuple[Offset, ...]
    arrived: tuple[datetime, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Moves everything from `source` to `store`.

    `stop` ends the fetching; batches in flight are finished, unless that takes over `finish_within` seconds: then they
    are left to the next start, which reads them again, since nothing was acknowledged. `written` is called after each
    commit, in order, with the batch and its ledger, on the thread that called `run`. With `set_aside_after`,
    interactions that cannot be assessed for that many seconds are stored as pending; after that, each batch is tried
    once only, until one succeeds. `told` returns the interactions with those unscored that are no live traffic.
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
    told: Callable[[Sequence[Interaction]], Sequence[Interaction]] = tuple
    finish_within: float = FINISH_WITHIN

    def run(self) -> Tally:
        """Runs until the source ends or `stop` is set; returns the ledger of the run.

        Raises:
            Fatal, OutOfReach: a stage failed for good; committed batches stay, and nothing else was acknowledged.
        """
        return _Run(self).to_the_end()


class _Run:
    """One run of a flow: its threads and their shared state."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._aborted = Event()  # a stage has failed
        self._polling = Event()  # a call of `poll` is running
        self._abandoned = Event()  # … and nothing waits for it any more
        self._ended = Event()  # everything is written, or nothing more will be
        self._in_hand: _Fetched | None = None  # what is being assessed
        self._failures: list[BaseException] = []
        self._decoded: _Handover[_Fetched] = _Handover(self._aborted)
        self._assessed: _Handover[tuple[Stage, Batch]] = _Handover(self._aborted)
        self._fetching = self._thread(self._fetch)
        self._total = Tally()

    def to_the_end(self) -> Tally:
        """Writes on the caller's thread; the other threads end with it."""
        assessing, watching = self._thread(self._assess), self._thread(self._watch)
        for thread in (self._fetching, assessing, watching):
            thread.start()
        self._guarded(self._write)
        self._ended.set()
        assessing.join(GRACE)  # a batch that it still has in hand was not acknowledged
        self._fetching.join(GRACE)  # a thread stuck in a read holds no batch
        watching.join(GRACE)  # it tells what was left unfinished
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
        except BaseException as error:  # noqa: BLE001  raised again on the caller's thread
            self._failures.append(error)
            self._aborted.set()

    def _fetch(self) -> None:
        flow = self._flow
        while not (flow.stop.is_set() or self._aborted.is_set()):
            self._polling.set()
            try:
                messages = flow.retry(
                    lambda: flow.source.poll(
                        max_messages=flow.batch_messages, max_bytes=flow.batch_bytes, timeout=flow.poll_seconds
                    )
                )
            except Interrupted:  # batches fetched before are still finished
                break
            self._polling.clear()
            if self._abandoned.is_set():
                return
            if messages is None:
                break
            offsets = tuple(flow.source.offsets())
            if messages or offsets:
                self._decoded.put(self._read(messages, offsets), meanwhile=flow.source.hold)
        self._decoded.put(None)

    def _read(self, messages: Sequence[Message], offsets: tuple[Offset, ...]) -> _Fetched:
        process = begin("process", **arrival(messages, offsets))
        with process.resumed(), stage("decode", messages=len(messages)) as decoding:
            decoded = self._flow.decode(messages)
            decoding.add(interactions=len(decoded.interactions), dead=len(decoded.dead_letters))
        return _Fetched(
            process=process,
            received=len(messages) - len(decoded.collected),
            decoded=decoded,
            offsets=_without(decoded.collected, offsets),
            arrived=tuple(message.received_at for message in messages),
        )

    def _watch(self) -> None:
        """Ends what takes too long: a read, such as opening a pipe without a writer, and batches after `stop`."""
        flow = self._flow
        while self._fetching.is_alive() and not self._aborted.is_set() and not flow.stop.is_set():
            self._fetching.join(_LOOK_UP)
        self._fetching.join(GRACE)
        if self._fetching.is_alive() and self._polling.is_set():
            self._abandoned.set()
            self._decoded.put(None)
        while not (flow.stop.is_set() or self._ended.wait(_LOOK_UP)):
            continue
        if not self._ended.wait(flow.finish_within):
            self._aborted.set()  # before the look: what is in hand now is not stored any more
            batch = self._in_hand
            with batch.process.resumed() if batch is not None else nullcontext():
                log.warning("after %g s of stopping, %s", flow.finish_within, _unfinished(batch))

    def _assess(self) -> None:
        flow = self._flow
        patience = flow.set_aside_after
        while (item := self._decoded.get()) is not None:
            self._in_hand = item
            with item.process.resumed():
                decoded = flow.retry(partial(flow.told, item.decoded.interactions))
                interactions = [one for one in decoded if one.unscored is None]
                assessments: list[Assessment] | None = []
                if interactions:
                    with stage("assess", interactions=len(interactions)):
                        assessments = self._tried(interactions, patience)
                    patience = 0.0 if assessments is None else flow.set_aside_after
            batch = Batch(
                assessments=tuple(assessments or ()),
                dead_letters=tuple(item.decoded.dead_letters),
                received=item.received,
                offsets=item.offsets,
                pending=tuple(interactions) if assessments is None else (),
                unscored=tuple(one for one in decoded if one.unscored is not None),
                collected=tuple(item.decoded.collected),
                arrived=item.arrived,
            )
            self._in_hand = None
            self._assessed.put((item.process, batch))
        self._assessed.put(None)

    def _tried(self, interactions: Sequence[Interaction], patience: float | None) -> list[Assessment] | None:
        """The assessments, or None if the interactions are to be set aside."""
        flow = self._flow
        if patience is None:
            return flow.retry(lambda: flow.assess(interactions))
        try:
            return replace(flow.retry, patience=patience)(lambda: flow.assess(interactions))
        except OutOfReach as error:
            log.warning("%d interactions are set aside as pending: %s", len(interactions), error)
            return None

    def _write(self) -> None:
        flow = self._flow
        while (item := self._assessed.get()) is not None:
            process, batch = item
            try:
                with process.resumed():
                    tally = flow.retry(partial(self._stored, batch))
            except Fenced as error:
                flow.source.fenced(batch.offsets, error)
                continue
            with process.resumed():
                flow.source.stored(batch.offsets)
                self._total += tally
                flow.written(batch, tally)
            process.add(**outcome(batch, tally))
            process.end()

    def _stored(self, batch: Batch) -> Tally:
        with stage("store", interactions=len(batch.assessments), dead=len(batch.dead_letters)):
            return self._flow.store.write(batch)


def _unfinished(batch: _Fetched | None) -> str:
    if batch is None:
        return "a batch is still being stored; if that succeeds, the ledger counts it"
    number, begin = batch.received, "messages are still being assessed"
    if not batch.offsets:  # of input that is read once
        return f"{number} {begin}; they are not stored, those before them are: give the same input again for the rest"
    places = ", ".join(f"{o.topic}/{o.partition} from {o.expected or 0} to {o.next}" for o in batch.offsets)
    return f"{number} {begin} ({places}); they are not stored, and the next start reads them again"


def _without(collected: Sequence[Collected], offsets: Sequence[Offset]) -> tuple[Offset, ...]:
    """The offsets with the messages of `collected` as skipped; their source counts every message as received."""
    held = Counter((at.topic, at.partition) for one in collected if (at := one.position) is not None)
    return tuple(
        replace(o, received=o.received - number, skipped={**o.skipped, Skip.COLLECTED: number})
        if (number := held[o.topic, o.partition])
        else o
        for o in offsets
    )
