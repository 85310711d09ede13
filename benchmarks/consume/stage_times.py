"""Where one consumer's time goes: the flow of `monitor consume` in this process, with measured stages.

Wall time of a stage includes waiting: for Python's global lock, for the database, for messages. CPU time does not.
"""

from __future__ import annotations

import gc
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Thread
from types import FrameType
from typing import Any

from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.wiring.application import Application
from monitor.core.batch import Batch, Tally
from monitor.core.settings.kafka import KafkaSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings

ORDER = ("poll", "decode", "assess", "write")
EVERY = 0.005  # seconds
TOP = 16
ALWAYS = 0.97  # a function in this share of the samples only calls the others


@dataclass(slots=True)
class StageTimes:
    """Wall and CPU seconds of one stage."""

    wall: float = 0.0
    cpu: float = 0.0


class Watch:
    """Adds up the time in wrapped calls, from `begin` on."""

    def __init__(self) -> None:
        self.spent: dict[str, StageTimes] = {}
        self.events = 0
        self._begun = self._ended = 0.0
        self._client_before = self._client = 0.0

    def begin(self) -> None:
        self.spent.clear()
        self._client_before = client_thread_seconds()
        self._begun = time.perf_counter()

    @property
    def begun(self) -> bool:
        return self._begun > 0

    def count(self, events: int) -> None:
        self.events += events
        self._client = client_thread_seconds() - self._client_before
        self._ended = time.perf_counter()

    def wrap(self, name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            wall, cpu = time.perf_counter(), time.thread_time()
            try:
                return call(*args, **kwargs)
            finally:
                spent = self.spent.setdefault(name, StageTimes())
                spent.wall += time.perf_counter() - max(wall, self._begun)
                spent.cpu += time.thread_time() - cpu

        return timed

    def figures(self) -> dict[str, object]:
        wall = self._ended - self._begun
        spent = {name: self.spent[name] for name in ORDER}
        working = {**{name: s.cpu for name, s in spent.items()}, "the client's thread": self._client}
        return {
            "events_per_second": self.events / wall,
            "share_of_wall": {name: s.wall / wall for name, s in spent.items()},
            "share_of_wall_working": {name: cpu / wall for name, cpu in working.items()},
            "microseconds_of_cpu_per_event": {name: cpu / self.events * 1e6 for name, cpu in working.items()},
        }


def client_thread_seconds() -> float:
    """CPU time of the threads in which kafka-python sends and receives; they end only after the last batch."""
    threads = [t for t in threading.enumerate() if t.name.startswith("kafka-io")]
    times = (Path(f"/proc/self/task/{t.native_id}/schedstat").read_text(encoding="ascii") for t in threads)
    return sum(int(text.split()[0]) / 1e9 for text in times)


class Timed:
    """`inner` with one of its methods measured."""

    def __init__(self, inner: object, method: str, watch: Watch) -> None:
        self._inner = inner
        setattr(self, method, watch.wrap(method, getattr(inner, method)))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@dataclass(slots=True)
class Sampler:
    """Samples the stack of each thread every few milliseconds; waiting for the global lock counts as work."""

    own: dict[str, Counter[str]] = field(default_factory=dict)
    within: dict[str, Counter[str]] = field(default_factory=dict)
    times: int = 0
    _over: Event = field(default_factory=Event)

    def run(self) -> None:
        while not self._over.wait(EVERY):
            self.times += 1
            names = {thread.ident: thread.name for thread in threading.enumerate()}
            for ident, frame in sys._current_frames().items():  # noqa: SLF001  there is no other way to see them
                self._note(names.get(ident, "?"), frame)

    def stop(self) -> None:
        self._over.set()

    def _note(self, thread: str, frame: FrameType | None) -> None:
        if frame is None or thread in {"sampler", "watch"}:  # which only wait
            return
        self.own.setdefault(thread, Counter())[_where(frame)] += 1
        seen = set()
        while frame is not None:
            seen.add(_where(frame))
            frame = frame.f_back
        self.within.setdefault(thread, Counter()).update(seen)

    def lines(self) -> list[str]:
        """A table per thread: share of the samples in a function itself, and in it with all that it calls."""
        lines = []
        for thread in sorted(self.own):
            lines.append(f"\nthread {thread}: {'itself':>20}{'':36}with what it calls")
            own = self.own[thread].most_common(TOP)
            within = [(name, n) for name, n in self.within[thread].most_common() if n < ALWAYS * self.times][:TOP]
            for (left, n), (right, m) in zip(own, within, strict=False):
                lines.append(f"  {n / self.times:6.1%}  {left:46}  {m / self.times:6.1%}  {right}")
        return lines


def _where(frame: FrameType) -> str:
    code = frame.f_code
    return f"{Path(code.co_filename).parent.name}/{Path(code.co_filename).stem}.{code.co_qualname}"[-46:]


def watched(servers: str, url: str, topic: str, count: int, *, sample: bool) -> tuple[dict[str, object], list[str]]:
    """Stores `count` messages that wait in `topic`, and returns where the time went after the first batch.

    Run it in a fresh process. The second part is a profile, with `sample`.
    """
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    settings = Settings(
        database_url=url,
        embedding=EmbeddingSettings(provider="hash"),
        kafka=KafkaSettings(bootstrap_servers=(servers,), topics=(topic,), group_id=f"{topic}-watched"),
    )
    stop, watch, sampler, stored = Event(), Watch(), Sampler(), 0

    def written(_: Batch, tally: Tally) -> None:
        nonlocal stored
        stored += tally.received
        if not watch.begun:
            watch.begin()
            if sample:
                Thread(target=sampler.run, name="sampler", daemon=True).start()
        else:
            watch.count(tally.received)
        if stored >= count:
            stop.set()

    with Application(settings) as application:
        application.prepare()
        source, store = application.kafka.source(), application.kafka.store()
        flow = application.flow(source, app=None, dialect=None, stop=stop, written=written, store=store)
        flow = replace(
            flow,
            source=Timed(source, "poll", watch),
            decode=watch.wrap("decode", flow.decode),
            assess=watch.wrap("assess", flow.assess),
            store=Timed(store, "write", watch),
        )
        try:
            flow.run()
            figures = watch.figures()
        finally:
            sampler.stop()
            source.close()
    return figures, sampler.lines()
