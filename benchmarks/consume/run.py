"""Measures `monitor consume`: events/s, delay, memory, and which part sets the limit.

    python benchmarks/consume/run.py [--short] [--profile] [--json PATH]

Apache Kafka, an embedded PostgreSQL and all clients share this machine; topics have 4 partitions, events are those of
the bot of `monitor demo`, uncompressed, and embeddings are stubbed. One run measures:
- events/s of clients that poll and discard, one process each: kafka-python with our settings and with its defaults, and
  confluent-kafka; of a plain COPY of the same rows into tables with indexes; and of decoding and assessing alone;
- events/s from Kafka into the tables of one consumer process that has its share of an empty topic when all events are
  sent at once, by the times of its transactions and without the first of them, and the ratio of that to the three
  stages in series (goal: at least 0.6);
- events/s of two processes (goal: at least 1.6 times one, on two otherwise idle cores), with the cores that each part
  takes meanwhile;
- seconds from sending an event until its transaction writes it, some milliseconds before the commit, at half of one
  consumer's rate (goal: p95 under 2 s);
- the largest resident size of a consumer that reads a backlog of a million (goal: under 700 MB);
- the share of one consumer's time that each stage takes, by the clock and by its CPU time; with `--profile` also the
  functions in which each thread was seen.

Each figure is the median of several rounds, and each ratio the median of the ratios of its rounds.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.consume.rig import (
    BATCH,
    Rig,
    Sender,
    cpu_seconds,
    machine_cpu_seconds,
    peak_mb,
    poll_as_we_do,
    poll_by_default,
    poll_confluent,
    rig,
    send_all,
)
from benchmarks.consume.stage_times import watched
from benchmarks.figures import finish, options
from benchmarks.traffic import SEED, copy_seconds, emptied, event, interactions
from monitor.__main__ import ALLOCATIONS_BETWEEN_COLLECTIONS
from monitor.app.wiring.application import Application
from monitor.assess.embed.cache import CachedEmbedder
from monitor.assess.embed.hashing import HashEmbedder
from monitor.core.message import Message, Position
from monitor.core.model import Interaction
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import EmbeddingSettings
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import kafka_jars

FULL = {"events": 30_000, "raw": 90_000, "runs": 5, "paced_seconds": 20, "backlog": 1_000_000, "backlog_seconds": 60}
SHORT = {"events": 4_000, "raw": 8_000, "runs": 1, "paced_seconds": 5, "backlog": 20_000, "backlog_seconds": 10}
POLLS = {"kafka-python": poll_as_we_do, "kafka-python by default": poll_by_default, "confluent-kafka": poll_confluent}
GOALS: dict[str, tuple[str, Callable[[float], bool]]] = {
    "one consumer to the stages in series": ("≥ 0.6", lambda value: value >= 0.6),
    "two consumers to one": ("≥ 1.6", lambda value: value >= 1.6),
    "p95": ("< 2 s", lambda value: value < 2),
    "peak MB": ("< 700", lambda value: value < 700),
}
DISTURBED = 0.1  # cores
STORED = "SELECT stored_at, count(*) FROM interaction GROUP BY stored_at ORDER BY stored_at"
DELAYS = """
    SELECT unnest(percentile_cont(ARRAY[0.5, 0.95, 1]) WITHIN GROUP
                  (ORDER BY extract(epoch FROM stored_at - occurred_at))) FROM interaction
"""


def in_fresh_process(work: Callable[..., Any], *arguments: object, **named: object) -> Any:
    """Runs `work` in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(work, *arguments, **named).result()


def stages_alone(
    subject: Rig, application: Application, topic: str, count: int, values: Sequence[bytes]
) -> dict[str, float]:
    """Events/s of each stage by itself; the clients read `count` messages of `topic`."""
    found = {name: in_fresh_process(poll, subject.servers, topic, count) for name, poll in POLLS.items()}
    now, decode = application.now(), application.decoder().decode_batch
    messages = [
        Message(
            value=value,
            position=Position(topic=topic, partition=n % 4, offset=n // 4),
            received_at=now,
            size=len(value),
        )
        for n, value in enumerate(values)
    ]
    cache = CachedEmbedder(HashEmbedder(), application.settings.embedding.cache_bytes)
    pipeline = replace(application.assessing.pipeline, embedder=cache)
    begin = time.perf_counter()
    batches = [pipeline.assess(decode(messages[n : n + BATCH])[0]) for n in range(0, len(messages), BATCH)]
    found["decode and assess"] = len(messages) / (time.perf_counter() - begin)
    assessments = [assessment for batch in batches for assessment in batch]
    found["COPY"] = len(messages) / copy_seconds(application, assessments, indexes=True)
    return found


def in_series(rates: dict[str, float]) -> float:
    """Events/s of the three stages one after another."""
    return 1 / sum(1 / rates[name] for name in ("kafka-python", "decode and assess", "COPY"))


def end_to_end(subject: Rig, application: Application, values: Sequence[bytes], number: int) -> dict[str, Any]:
    """Events/s of `number` consumers, and the cores that each part took while there was work."""
    emptied(application)
    with subject.topic(f"flow-{number}-{time.time_ns()}") as topic, subject.consumers(topic, number) as processes:
        parts = {"consumers": [p.pid for p in processes], "PostgreSQL": [subject.postgres], "Kafka": [subject.broker]}
        before = {name: sum(map(cpu_seconds, pids)) for name, pids in parts.items()}
        ours, machine, begin = time.process_time(), machine_cpu_seconds(), time.perf_counter()
        send_all(subject.servers, topic, values)
        subject.wait_read(topic, len(values), 600, processes)
        wall = time.perf_counter() - begin
        taken = {name: sum(map(cpu_seconds, pids)) - before[name] for name, pids in parts.items()}
        taken["producer"] = time.process_time() - ours
        taken["others"] = machine_cpu_seconds() - machine - sum(taken.values())
    (first, of_first), *others = subject.rows(STORED)
    stored = sum(int(str(count)) for _, count in others)
    if stored + int(str(of_first)) != len(values):
        raise RuntimeError(f"{stored + int(str(of_first))} of {len(values)} events are stored")
    return {
        "events_per_second": stored / (others[-1][0] - first).total_seconds(),  # type: ignore[operator]
        "cores_taken": {name: seconds / wall for name, seconds in taken.items()},
        "microseconds_of_cpu_per_event": {name: seconds / len(values) * 1e6 for name, seconds in taken.items()},
    }


def delays(
    subject: Rig, application: Application, answers: Sequence[Interaction], rate: float, seconds: int
) -> dict[str, float]:
    """Seconds from sending to storing, at a steady rate."""
    emptied(application)
    with subject.topic("paced") as topic, subject.consumers(topic, 1) as processes:
        sender, begin, sent = Sender(subject.servers, topic), time.perf_counter(), 0
        while (passed := time.perf_counter() - begin) < seconds:
            while sent < passed * rate:
                it = replace(answers[sent % len(answers)], id=f"paced-{sent}", occurred_at=datetime.now(UTC))
                sender.send(event(it).encode())
                sent += 1
            time.sleep(0.002)
        sender.flush()
        subject.wait_read(topic, sent, 120, processes)
    p50, p95, longest = (float(str(value)) for (value,) in subject.rows(DELAYS))
    return {"events per second": sent / seconds, "p50": p50, "p95": p95, "longest": longest}


def backlog(answers: Sequence[Interaction], count: int) -> Iterator[bytes]:
    """Events without a repeated question, so that the cache of vectors fills up."""
    for n in range(count):
        it = answers[n % len(answers)]
        yield event(replace(it, id=f"backlog-{n}", question=f"{it.question} ({n})")).encode()


def memory(
    subject: Rig, application: Application, answers: Sequence[Interaction], sizes: dict[str, int]
) -> dict[str, float]:
    """The largest size of a consumer that finds a backlog, until SIGTERM ends it."""
    emptied(application)
    with subject.topic("backlog") as topic:
        send_all(subject.servers, topic, backlog(answers, sizes["backlog"]))
        with subject.consumers(topic, 1) as (process,):
            time.sleep(sizes["backlog_seconds"])
            process.send_signal(signal.SIGTERM)
            begin, peak = time.perf_counter(), 0.0
            while process.poll() is None:
                peak = max(peak, peak_mb(process.pid))
                time.sleep(0.02)
        read = subject.read(topic)
    return {
        "messages": sizes["backlog"],
        "messages read": read,
        "peak MB": peak,
        "seconds from SIGTERM to the end": time.perf_counter() - begin,
        "exit code": process.returncode,
    }


def measure(sizes: dict[str, int], folder: Path, *, profile: bool) -> tuple[dict[str, Any], list[str]]:
    answers = interactions(sizes["events"])
    values = [event(it).encode() for it in answers]
    with (
        KafkaCluster(folder / "kafka", jars=kafka_jars()) as cluster,
        rig(folder, cluster.bootstrap_servers) as subject,
        Application(Settings(database_url=subject.url, embedding=EmbeddingSettings(provider="hash"))) as application,
    ):
        application.prepare()
        rounds = []  # the speed of the machine varies, so compared figures are measured side by side
        with subject.topic("raw") as topic:
            send_all(subject.servers, topic, (values[n % len(values)] for n in range(sizes["raw"])))
            for _ in range(sizes["runs"]):
                rates = stages_alone(subject, application, topic, sizes["raw"], values)
                one, two = (end_to_end(subject, application, values, number) for number in (1, 2))
                rounds.append((rates, one, two))
        rate = median(one["events_per_second"] for _, one, _ in rounds)
        latency = delays(subject, application, answers, rate / 2, sizes["paced_seconds"])
        emptied(application)
        with subject.topic("watched") as topic:
            send_all(subject.servers, topic, values)
            stages, lines = in_fresh_process(watched, subject.servers, subject.url, topic, len(values), sample=profile)
        size = memory(subject, application, answers, sizes)
    rate_of = "events_per_second"
    return {
        "events": len(values),
        "mean bytes of an event": mean(map(len, values)),
        "events per second alone": medians(rates for rates, _, _ in rounds),
        "events per second in series": median(in_series(rates) for rates, _, _ in rounds),
        "one consumer": medians(one for _, one, _ in rounds),
        "one consumer to the stages in series": median(one[rate_of] / in_series(rates) for rates, one, _ in rounds),
        "two consumers": medians(two for _, _, two in rounds),
        "two consumers to one": median(two[rate_of] / one[rate_of] for _, one, two in rounds),
        "rounds": {
            f"round {number}: {name}": {rate_of: run[rate_of], "cores of others": run["cores_taken"]["others"]}
            for number, (_, one, two) in enumerate(rounds, 1)
            for name, run in (("one consumer", one), ("two consumers", two))
        },
        "seconds until stored at half the rate": latency,
        "backlog": size,
        "stages of one consumer": stages,
    }, lines


def medians(found: Iterable[dict[str, Any]]) -> dict[str, Any]:
    runs = list(found)
    return {
        name: medians(run[name] for run in runs) if isinstance(value, dict) else median(run[name] for run in runs)
        for name, value in runs[0].items()
    }


def show(results: dict[str, Any], prefix: str = "") -> None:
    for name, value in results.items():
        if isinstance(value, dict):
            show(value, f"{prefix}{name.replace('_', ' ')}: ")
        else:
            text = f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else value
            goal, met = GOALS.get(name, ("", bool))
            remark = f"   goal {goal}: {'met' if met(value) else 'NOT MET'}" if goal else ""
            print(f"{prefix + name.replace('_', ' '):72}{text:>14}{remark}")


def main() -> None:
    arguments = options(
        __doc__, "smaller and once, to see that it runs", profile="print in which functions each thread was seen"
    )
    if not sys.platform.startswith("linux"):
        sys.exit("this reads /proc, which only Linux has")
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)  # as the command does
    with tempfile.TemporaryDirectory(prefix="monitor-consume-") as folder:
        results, lines = measure(SHORT if arguments.short else FULL, Path(folder), profile=arguments.profile)
    show(finish(results, seed=SEED, path=arguments.json))
    print(f"\nAll parts shared {os.cpu_count()} cores; if the cores used add up to that, they are the limit.")
    others = max(results[name]["cores_taken"]["others"] for name in ("one consumer", "two consumers"))
    if others > DISTURBED:
        print(f"Other processes used {others:.2f} cores meanwhile: expect better figures on an idle machine.")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
