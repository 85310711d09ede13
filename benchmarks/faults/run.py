"""Tests that each message is stored exactly once under a random schedule of faults.

    python benchmarks/faults/run.py [--events 50000] [--faults 100] [--seed S] [--brokers 3] [--short] [--json PATH]

A producer with known ids fills a topic of Apache Kafka while two `monitor consume` processes store the events in
PostgreSQL. The seed chooses one fault after another: consumers killed, ended in order, or halted past their session and
resumed (zombies); a third consumer that joins and leaves; the database stopped abruptly or in order, or its connections
cut; a broker killed or restarted; a partition added to the topic. Some messages are repetitions, tombstones, not JSON,
or in aborted transactions.

Prints lost, doubled and ledger difference, which must all be 0 (else the exit code is 1), and for each kind of fault
the seconds from its end until a message was stored again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import median
from typing import TypeVar

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, NewPartitions, NewTopic
from kafka.errors import KafkaError

from benchmarks.faults.rig import ROOT, SESSION_MS, Consumer, Postgres, Producer, until
from benchmarks.figures import finish
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import kafka_jars

T = TypeVar("T")
TOPIC = "rag.trial"
GROUP = "monitor"
PARTITIONS, MOST_PARTITIONS = 4, 8
DRAINED_WITHIN = 300.0  # seconds; a hanging consumer is a failure too
PROGRESS = "SELECT coalesce(sum(next_offset), 0)::bigint FROM consumer_offset WHERE group_id = %s"
READ = "SELECT partition, next_offset FROM consumer_offset WHERE group_id = %s AND topic = %s"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """The parts that can be broken."""

    random: Random
    cluster: KafkaCluster
    postgres: Postgres
    consumers: list[Consumer]
    visitor: Consumer
    producer: Producer
    recoveries: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def faults(self) -> dict[str, Callable[[], None]]:
        """The kinds of faults; each function returns when the fault is over."""
        return {
            "consumer killed": lambda: self._restarted(signal.SIGKILL),
            "consumer restarted": lambda: self._restarted(signal.SIGTERM),
            "consumer halted past its session": self._zombie,
            "consumer joined and left": self._visited,
            "database stopped hard": lambda: self._without_database("immediate"),
            "database restarted": lambda: self._without_database("fast"),
            "database connections cut": self.postgres.cut,
            "broker killed": lambda: self._without_broker(self.cluster.kill),
            "broker restarted": lambda: self._without_broker(self.cluster.stop),
            "transaction aborted": self.producer.abort,
            "partition added": self._grown,
        }

    def _restarted(self, number: int) -> None:
        one = self.random.choice(self.consumers)
        one.end(number)
        time.sleep(self.random.random())
        one.start()

    def _zombie(self) -> None:
        one = self.random.choice(self.consumers)
        one.send(signal.SIGSTOP)
        time.sleep(SESSION_MS / 1000 + 1 + 2 * self.random.random())
        one.send(signal.SIGCONT)

    def _visited(self) -> None:
        self.visitor.start()
        time.sleep(3 + 2 * self.random.random())
        self.visitor.end(self.random.choice([signal.SIGKILL, signal.SIGTERM]))

    def _without_database(self, mode: str) -> None:
        self.postgres.stop(mode)
        time.sleep(2 * self.random.random())
        self.postgres.start()

    def _without_broker(self, end: Callable[[int], None]) -> None:
        node = self.random.choice(list(self.cluster.nodes))
        end(node)
        time.sleep(self.random.random())
        self.cluster.start(node)

    def _grown(self) -> None:
        def grow() -> bool:
            with KafkaAdminClient(bootstrap_servers=self.cluster.bootstrap_servers) as admin:
                there = len(admin.describe_topics([TOPIC])[0]["partitions"])
                if there < MOST_PARTITIONS:
                    admin.create_partitions({TOPIC: NewPartitions(there + 1)})
                return True

        until(lambda: _answer_of(grow) is True, 60, "the topic has another partition")

    def suffer(self, name: str, messages: int) -> None:
        """Causes one fault while messages are sent; returns the seconds until a message is stored again."""
        self.producer.produce(messages // 2)
        self.faults()[name]()
        passed, before = time.monotonic(), self.progress()
        until(lambda: all(one.ready or not one.running for one in self.consumers), 60, f"all are back after: {name}")
        self.producer.produce(messages - messages // 2)
        until(lambda: self.progress() > before, DRAINED_WITHIN, f"something is stored after: {name}")
        self.recoveries[name].append(time.monotonic() - passed)
        for one in self.consumers:
            if not one.running:
                sys.exit(f"{one.name} ended by itself after: {name}\n{one.log.read_text(encoding='utf-8')[-3000:]}")

    def progress(self) -> int:
        return int(str(self.postgres.rows(PROGRESS, GROUP)[0][0]))

    def drained(self) -> bool:
        def ends() -> dict[TopicPartition, int]:
            with KafkaConsumer(bootstrap_servers=self.cluster.bootstrap_servers) as consumer:
                return consumer.end_offsets([TopicPartition(TOPIC, n) for n in consumer.partitions_for_topic(TOPIC)])

        read = {(TOPIC, int(str(n))): int(str(o)) for n, o in self.postgres.rows(READ, GROUP, TOPIC)}
        found = _answer_of(ends)
        return found is not None and all(read.get(partition) == end for partition, end in found.items())


def main() -> None:
    """Runs the trial and prints its table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=50_000)
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--brokers", type=int, default=3)
    parser.add_argument("--short", action="store_true", help="1,500 events, each kind of fault once, one broker")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    parser.add_argument("--verbose", action="store_true", help="name each fault as it comes")
    asked = parser.parse_args()
    if asked.short:
        asked.events, asked.faults, asked.brokers = 1_500, 11, 1
    with tempfile.TemporaryDirectory(prefix="monitor-faults-") as folder:
        figures = trial(Path(folder), asked.events, asked.faults, asked.seed, asked.brokers, verbose=asked.verbose)
    _print(figures)
    figures = finish(figures, seed=asked.seed, path=asked.json)
    if figures["lost"] or figures["doubled"] or figures["ledger_difference"] or figures["unwanted"]:
        sys.exit(1)


def trial(folder: Path, events: int, faults: int, seed: int, brokers: int, *, verbose: bool) -> dict[str, object]:
    """The figures of one trial."""
    random = Random(seed)
    replicas = {"min.insync.replicas": "1"}
    postgres = Postgres(folder / "database")
    with KafkaCluster(folder / "kafka", jars=kafka_jars(), brokers=brokers, properties=replicas) as cluster:
        servers = cluster.bootstrap_servers
        with KafkaAdminClient(bootstrap_servers=servers) as admin:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, min(brokers, 3))])
        settings = _settings(postgres, servers)
        names = ("consumer-1", "consumer-2", "visitor")
        *consumers, visitor = (Consumer(name, folder, settings) for name in names)
        producer = Producer(servers, TOPIC, random)
        subject = Trial(
            random=random,
            cluster=cluster,
            postgres=postgres,
            consumers=consumers,
            visitor=visitor,
            producer=producer,
        )
        started = time.monotonic()
        try:
            consumers[0].start()  # the first consumer migrates the database
            producer.produce(10)
            until(lambda: _stored(postgres) > 0, 60, "the first message is stored")
            consumers[1].start()
            until(lambda: consumers[1].ready, 60, "both consumers run")
            kinds = list(subject.faults())
            order = [kind for _ in range(faults // len(kinds) + 1) for kind in random.sample(kinds, len(kinds))]
            for number, kind in enumerate(order[:faults], 1):
                if verbose:
                    print(f"{time.monotonic() - started:7.1f} s  {number}/{faults}  {kind}", flush=True)
                subject.suffer(kind, max((events - 10) // faults, 2))
            until(subject.drained, DRAINED_WITHIN, "everything is read")
            seconds = time.monotonic() - started
            for one in consumers:
                one.end(signal.SIGTERM)
            return {**_verdict(subject, settings), "faults": faults, "brokers": brokers, "seconds": round(seconds, 1)}
        finally:
            for one in (*consumers, visitor):
                one.end(signal.SIGKILL)
            producer.close()


def _answer_of(ask: Callable[[], T]) -> T | None:
    """The answer of a cluster, or None if it gives none at the moment."""
    try:
        return ask()
    except KafkaError:
        return None


def _settings(postgres: Postgres, servers: str) -> dict[str, str]:
    return {
        "DATABASE_URL": postgres.url,
        "EMBEDDING__PROVIDER": "hash",
        "KAFKA__BOOTSTRAP_SERVERS": servers,
        "KAFKA__TOPICS": TOPIC,
        "KAFKA__SESSION_TIMEOUT_MS": str(SESSION_MS),
        "KAFKA__HEARTBEAT_INTERVAL_MS": "500",
        "KAFKA__METADATA_MAX_AGE_MS": "1000",
        "KAFKA__MAX_POLL_INTERVAL_MS": "30000",
    }


def _stored(postgres: Postgres) -> int:
    try:
        return int(str(postgres.rows("SELECT count(*) FROM interaction")[0][0]))
    except Exception:  # noqa: BLE001  there is no such table yet
        return 0


def _verdict(subject: Trial, settings: dict[str, str]) -> dict[str, object]:
    """Compares the sent messages with the stored rows and the ledger."""
    producer, rows = subject.producer, subject.postgres.rows
    stored = [str(name) for (name,) in rows("SELECT id FROM interaction")]
    assessed = [str(name) for (name,) in rows("SELECT id FROM assessment")]
    dead = [value for (value,) in rows("SELECT value FROM dead_letter")]
    twice = sum(len(found) - len(set(found)) for found in (stored, assessed, dead))
    missing = len(producer.sent - set(stored)) + len(producer.sent - set(assessed)) + max(producer.junk - len(dead), 0)
    counted = int(str(rows("SELECT coalesce(sum(total), 0)::bigint FROM verdict_minute")[0][0]))
    environment = {**os.environ, **{f"MONITOR_{name}": value for name, value in settings.items()}}
    printed = subprocess.run(
        [sys.executable, "-m", "monitor", "ledger", "--recount", "--json"],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    total = json.loads(printed.stdout)["total"]
    expected = {"assessed": len(producer.sent), "dead": producer.junk, "tombstone": producer.tombstones}
    differences = {name: total[name] - wanted for name, wanted in expected.items()}
    return {
        "sent": len(producer.sent) + producer.repeated + producer.junk + producer.tombstones,
        "interactions": len(producer.sent),
        "lost": missing,
        "doubled": twice + abs(counted - len(set(stored))),
        "unwanted": len(set(stored) & producer.never),
        "ledger_difference": printed.returncode + sum(map(abs, differences.values())),
        "ledger": total,
        "fenced_batches": sum(one.log.read_text("utf-8").count("has read on") for one in subject.consumers),
        "recovery_s": {
            name: {"times": len(seconds), "median": round(median(seconds), 2), "longest": round(max(seconds), 2)}
            for name, seconds in sorted(subject.recoveries.items())
        },
    }


def _print(figures: dict[str, object]) -> None:
    print("{sent} messages, {faults} faults, {brokers} brokers, {seconds} s".format(**figures))
    for name in ("lost", "doubled", "ledger_difference", "unwanted"):
        print(f"  {name.replace('_', ' '):24}{figures[name]}")
    print(f"  {'batches fenced off':24}{figures['fenced_batches']}")
    print(f"\n{'recovery after':36}{'times':>6}{'median s':>10}{'longest s':>10}")
    for name, found in figures["recovery_s"].items():  # type: ignore[attr-defined]
        print(f"{name:36}{found['times']:>6}{found['median']:>10.2f}{found['longest']:>10.2f}")


if __name__ == "__main__":
    main()
