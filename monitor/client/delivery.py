"""The queue between the chatbot and the destination, bounded in events and bytes, and the thread that empties it."""

from __future__ import annotations

import atexit
import logging
import os
import random
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Event, RLock, Thread
from typing import Any, NamedTuple, TypeAlias
from weakref import WeakSet

from monitor.client.event import encoded, size
from monitor.client.sender import Encoded, Refused, Sender, Unavailable

log = logging.getLogger("monitor.client")
LINGER = 0.5  # seconds that a batch waits for more
MOST_EVENTS = 100  # in a batch
MOST_BYTES = 1 << 20
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 30.0  # seconds between two attempts
LONGEST_ASKED = 300.0  # seconds that a destination may ask for
AT_EXIT = 2.0  # seconds that the process waits for what is queued when it ends
_LOG_EVERY = 60.0  # seconds between two lines about the same


class _Queued(NamedTuple):
    event: dict[str, Any]
    size: int


_Item: TypeAlias = _Queued | Event | None  # an event of the chatbot; who waits for those before it; the end


class Delivery:
    """Takes events from any thread at once, and sends them from one thread of its own, which the first event starts.

    What a fork finds queued stays with the parent; the child has a queue and a thread of its own.
    """

    def __init__(self, new_sender: Callable[[], Sender], *, max_events: int, max_bytes: int) -> None:
        self._new_sender = new_sender
        self._max_events = max_events
        self._max_bytes = max_bytes
        self._lines: dict[str, float] = {}
        self.begin()
        _LIVING.add(self)

    def begin(self) -> None:
        """Begins with an empty queue and no thread. Called in a forked child too, where locks may be held for ever."""
        self._lock = RLock()  # a signal handler may record too
        self._queue: SimpleQueue[_Item] = SimpleQueue()
        self._events = self._bytes = 0  # queued, or being sent
        self._thread: Thread | None = None
        self._nudge = Event()  # somebody waits: send what there is
        self._waiting = 0  # how many wait; the end of the process never stops waiting
        self._ended = Event()  # no more events come
        self._given_up = False  # and nobody waits for those that are left
        self.sent = self.dropped = 0
        self._unsaid = 0  # drops that no line of the log has told

    def has_room(self) -> bool:
        """Whether one more event may be queued; counts a drop if not. Quick, for a queue that stays full."""
        if self._events < self._max_events and self._bytes < self._max_bytes:
            return True
        with self._lock:
            self.dropped += 1
            self._unsaid += 1
        return False

    def put(self, event: dict[str, Any]) -> bool:
        """Queues the event, or drops it and counts that. Never waits for the destination."""
        needed = size(event)
        with self._lock:
            if self._ended.is_set() or self._events >= self._max_events or self._bytes + needed > self._max_bytes:
                self.dropped += 1
                self._unsaid += 1
                return False
            self._events += 1
            self._bytes += needed
            if self._thread is None:
                self._start()
        self._queue.put(_Queued(event, needed))
        return True

    def drop(self, error: Exception) -> None:
        """Counts an event that could not be queued, and says why in the log, once in a while."""
        with self._lock:
            self.dropped += 1
        self._say(logging.WARNING, "an event could not be recorded: %s", in_words(error))

    def flush(self, timeout: float) -> bool:
        """Waits until everything queued so far is sent or dropped; returns whether that was so within `timeout`."""
        thread = self._thread
        if thread is None or not thread.is_alive():  # nothing was recorded yet, or `close` has sent it
            return True
        passed = Event()
        self._hurry(passed)
        return passed.wait(timeout)

    def close(self, timeout: float) -> bool:
        """Sends what is queued, for `timeout` seconds at most, and ends the thread; later events are dropped."""
        with self._lock:
            first, thread = not self._ended.is_set(), self._thread
            self._ended.set()
        if thread is None or not first:
            return True
        self._hurry(None)
        thread.join(timeout)
        with self._lock:
            left = self._events
            self._given_up = left > 0
            self.dropped += left
        if left:
            self._say(logging.WARNING, "not delivered before the end: %d event%s", left, _s(left))
        return not left

    def _hurry(self, mark: Event | None) -> None:
        """Has everything before `mark` sent without a pause for more."""
        with self._lock:
            self._waiting += 1
        self._queue.put(mark)
        self._nudge.set()

    def _start(self) -> None:
        self._thread = Thread(target=self._run, name="monitor-client", daemon=True)
        try:
            self._thread.start()
        except BaseException:
            self._thread = None
            self._events = self._bytes = 0
            raise
        end_first()
        for name in ("multiprocessing.util", "billiard.util"):  # their children end without `atexit`
            if (util := sys.modules.get(name)) is not None:
                util.Finalize(self, self.close, args=(AT_EXIT,), exitpriority=0)

    def _run(self) -> None:
        sender = self._new_sender()
        more = True
        while more:
            batch, waiting, more = self._next_batch()
            events = self._encoded(batch)
            try:
                self._deliver(sender, events)
            except Exception as error:
                self._refuse(len(events), in_words(error))
            with self._lock:
                self._events -= len(batch)
                self._bytes -= sum(one.size for one in batch)
            self._tell_of_drops()
            for one in waiting:
                one.set()
        with suppress(Exception):
            sender.close()

    def _next_batch(self) -> tuple[list[_Queued], list[Event], bool]:
        """Waits for an event, then for more; returns also who waits for them, and whether to go on after them."""
        batch: list[_Queued] = []
        waiting: list[Event] = []
        held = 0
        item = self._queue.get()
        if isinstance(item, _Queued) and self._events < MOST_EVENTS and not self._waiting:
            self._nudge.wait(LINGER)  # rather than for each event: waking up this thread costs the chatbot's some time
        self._nudge.clear()
        while item is not None:
            if isinstance(item, Event):
                waiting.append(item)
                with self._lock:
                    self._waiting -= 1
                break
            batch.append(item)
            held += item.size
            if len(batch) == MOST_EVENTS or held >= MOST_BYTES:
                break
            try:
                item = self._queue.get_nowait()
            except Empty:
                break
        return batch, waiting, item is not None

    def _encoded(self, batch: list[_Queued]) -> list[Encoded]:
        events = []
        for one in batch:
            try:
                events.append(Encoded(str(one.event.get("id") or one.event["feedback"][0]["id"]), encoded(one.event)))
            except BaseException as error:  # the chatbot's own objects run here, and must not end the thread
                self._refuse(1, f"it cannot be written as JSON: {in_words(error)}")
        return events

    def _deliver(self, sender: Sender, events: list[Encoded]) -> None:
        """Sends until the destination has taken or refused every event; halves what it refuses, to find which it is."""
        pause = FIRST_PAUSE
        batches = [events] if events else []
        while batches:
            batch = batches[-1]
            try:
                rejected = sender.send(batch)
            except Unavailable as error:
                self._say(logging.WARNING, "events wait and are sent again: %s", error)
                self._tell_of_drops()
                if not self._may_try_again(error, pause):
                    return self._refuse(sum(map(len, batches)), str(error))
                pause = min(pause * 2, LONGEST_PAUSE)
                continue
            except Refused as error:
                batches.pop()
                if len(batch) == 1:
                    self._refuse(1, str(error))
                else:
                    middle = len(batch) // 2
                    batches += [batch[middle:], batch[:middle]]
                continue
            batches.pop()
            pause = FIRST_PAUSE
            self.sent += len(batch) - len(rejected)
            for problem in rejected:
                self._refuse(1, problem)
        return None

    def _may_try_again(self, error: Unavailable, pause: float) -> bool:
        """Waits, and for as long as the destination asks; False if the end of the process comes first."""
        asked = min(error.retry_after or 0.0, LONGEST_ASKED)
        not_before = time.monotonic() + asked
        self._ended.wait(max(pause * random.uniform(0.5, 1), asked))
        if self._ended.is_set():
            rest = max(not_before - time.monotonic(), FIRST_PAUSE / 5)
            if rest > AT_EXIT:
                return False
            time.sleep(rest)
        return not self._given_up

    def _refuse(self, count: int, why: str) -> None:
        if self._given_up:  # `close` has counted them
            return
        with self._lock:
            self.dropped += count
        self._say(logging.WARNING, "%d event%s dropped: %s", count, _s(count), why)

    def _tell_of_drops(self) -> None:
        count = self._unsaid
        if count and self._say(
            logging.WARNING, "the queue is full: %d event%s dropped since the last line about this", count, _s(count)
        ):
            self._unsaid = 0

    def _say(self, level: int, line: str, *values: object) -> bool:
        """Logs unless a line of that form was logged within the last minute; the chatbot's handlers may fail."""
        now = time.monotonic()
        if now - self._lines.get(line, -_LOG_EVERY) < _LOG_EVERY:
            return False
        self._lines[line] = now
        with suppress(Exception):
            log.log(level, line, *values)
        return True


def in_words(error: BaseException) -> str:
    """The error's kind and words; the kind alone if it comes from the chatbot and cannot say more."""
    try:
        return repr(error)
    except Exception:
        return type(error).__name__


def _s(count: int) -> str:
    """The ending of a noun in the plural."""
    return "" if count == 1 else "s"


_LIVING: WeakSet[Delivery] = WeakSet()


def _in_child() -> None:
    for delivery in list(_LIVING):
        delivery.begin()


def end_first() -> None:
    """Runs `close_all` before what was registered so far to run when the process ends."""
    atexit.unregister(close_all)
    atexit.register(close_all)


def close_all() -> None:
    """Sends what is queued anywhere, for a few seconds in all."""
    until = time.monotonic() + AT_EXIT
    for delivery in list(_LIVING):
        delivery.close(max(until - time.monotonic(), 0.0))


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_in_child)
