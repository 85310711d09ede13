"""Answers that several processes store at once with the real writer, and how fast."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from threading import Barrier, Event

from benchmarks.consume.rig import cpu_seconds
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.core.batch import Batch
from monitor.core.model import Assessment
from monitor.core.retry import Retry
from monitor.store.interaction.writer import Writer

BATCH = 512
DAYS = 56
_at_once: list[Barrier] = []  # in a process of the pool, what they all wait at before they begin


def ingested(
    url: str, key: bytes, templates: Sequence[Assessment], *, name: str, processes: int, number: int, postmaster: int
) -> dict[str, float]:
    """Stores `number` answers in each process; answers/s of all, and CPU of a process and of PostgreSQL for one answer.

    Answers are spread evenly over the last `DAYS`, and are assessed beforehand.
    """
    context = get_context("spawn")
    barrier = context.Barrier(processes)
    with ProcessPoolExecutor(processes, mp_context=context, initializer=_join, initargs=(barrier,)) as pool:
        before = cpu_seconds(postmaster)
        works = [pool.submit(_store, url, key, templates, f"{name}-{n}", number) for n in range(processes)]
        done = [work.result() for work in works]
    total = number * processes
    return {
        "answers": total,
        "answers/s": total / (max(end for _, end, _ in done) - min(begin for begin, _, _ in done)),
        "writers: µs of CPU an answer": sum(cpu for _, _, cpu in done) / total * 1e6,
        "PostgreSQL: µs of CPU an answer": (cpu_seconds(postmaster) - before) / total * 1e6,
    }


def _join(barrier: Barrier) -> None:
    _at_once.append(barrier)


def _store(url: str, key: bytes, templates: Sequence[Assessment], name: str, number: int) -> tuple[float, float, float]:
    """When it began and ended, by a clock that all processes share, and its CPU seconds."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    now = datetime.now(UTC)
    writer = Writer(url, lambda: datetime.now(UTC), queue_key=key)
    again = Retry(stop=Event())  # as `monitor run` does, where another writer holds a row or a new partition for long
    first, apart = now - timedelta(days=DAYS), timedelta(days=DAYS) / number
    (at_once,) = _at_once
    at_once.wait()
    begin, cpu = time.time(), time.process_time()
    for start in range(0, number, BATCH):
        batch = [
            _renamed(templates[n % len(templates)], f"{name}-{n}", first + n * apart)
            for n in range(start, min(start + BATCH, number))
        ]
        stored = Batch(assessments=tuple(batch), dead_letters=(), received=len(batch))
        again(lambda stored=stored: writer.write(stored))  # type: ignore[misc]
    end, cpu = time.time(), time.process_time() - cpu
    writer.close()
    return begin, end, cpu


def _renamed(template: Assessment, id_: str, at: datetime) -> Assessment:
    return replace(template, interaction=replace(template.interaction, id=id_, occurred_at=at))
