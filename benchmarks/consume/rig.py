"""Rig of the consumer benchmark: topics full of events, clients that discard them, consumers, their CPU and memory.

It ends only processes that it started. It reads their use of resources from /proc, so it runs on Linux only.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import confluent_kafka
import psycopg
from confluent_kafka.admin import AdminClient, NewTopic
from kafka import KafkaConsumer, TopicPartition

from benchmarks.faults.rig import ROOT, until
from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.client import connected
from monitor.store.embedded_postgres import embedded_database

PARTITIONS = 4
BATCH = 512
READ = "SELECT coalesce(sum(next_offset), 0)::bigint FROM consumer_offset WHERE group_id = %s"
_TICKS = os.sysconf("SC_CLK_TCK")
_ANSWER = 30.0  # seconds that a broker may take for an answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Rig:
    """A broker and a database, both empty at first."""

    servers: str
    url: str
    folder: Path
    admin: AdminClient
    connection: psycopg.Connection
    broker: int  # process ids
    postgres: int

    @contextmanager
    def topic(self, name: str) -> Iterator[str]:
        """An empty topic, deleted when the block ends."""
        self.admin.create_topics([NewTopic(name, PARTITIONS, 1)])[name].result(_ANSWER)
        try:
            yield name
        finally:
            self.admin.delete_topics([name])[name].result(_ANSWER)

    def shares(self, group: str) -> list[int]:
        """The number of partitions of each member of a group."""
        with suppress(confluent_kafka.KafkaException):  # the group does not exist yet
            found = self.admin.describe_consumer_groups([group])[group].result(_ANSWER)
            return sorted(len(member.assignment.topic_partitions) for member in found.members)
        return []

    def read(self, group: str) -> int:
        """The number of messages that a group has stored."""
        return int(str(self.rows(READ, group)[0][0]))

    def rows(self, query: str, *values: object) -> list[tuple[object, ...]]:
        return self.connection.execute(query, values).fetchall()  # type: ignore[call-overload]

    def wait_read(self, group: str, count: int, seconds: float, by: Sequence[subprocess.Popen[bytes]]) -> None:
        """Returns when a group has stored `count` messages; fails if a member ends before."""

        def done() -> bool:
            if any(process.poll() is not None for process in by):
                raise RuntimeError(f"a consumer ended by itself:\n{self.log(group).read_text('utf-8')[-3000:]}")
            return self.read(group) >= count

        until(done, seconds, f"{group} has stored {count:,} messages")

    def log(self, group: str) -> Path:
        return self.folder / f"{group}.log"

    @contextmanager
    def consumers(self, topic: str, number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
        """Runs several `monitor consume`, each with its share; at the end they finish the work in flight."""
        settings = {
            "DATABASE_URL": self.url,
            "EMBEDDING__PROVIDER": "hash",
            "KAFKA__BOOTSTRAP_SERVERS": self.servers,
            "KAFKA__TOPICS": topic,
            "KAFKA__GROUP_ID": topic,
        }
        environment = {**os.environ, **{f"MONITOR_{name}": value for name, value in settings.items()}}
        running: list[subprocess.Popen[bytes]] = []
        try:
            with self.log(topic).open("ab") as output:
                for n in range(number):
                    own = {**environment, "MONITOR_STATE_DIR": str(self.folder / f"consumer-{n}")}
                    command = [sys.executable, "-m", "monitor", "consume"]
                    running.append(subprocess.Popen(command, cwd=ROOT, env=own, stdout=output, stderr=output))
            wanted = [PARTITIONS // number] * number
            until(lambda: self.shares(topic) == wanted, 60, f"each of {number} has its share; see {self.log(topic)}")
            time.sleep(1)  # until each consumer has found its positions
            yield running
        finally:
            for one in running:
                one.send_signal(signal.SIGTERM)
            for one in running:
                try:
                    one.wait(30)
                except subprocess.TimeoutExpired:
                    one.kill()
                    one.wait()


@contextmanager
def rig(folder: Path, servers: str) -> Iterator[Rig]:
    """An embedded PostgreSQL in `folder`, next to the broker there."""
    folder.chmod(0o711)  # so that root's database lies in it too
    url = embedded_database(folder / "database")
    postmaster = (folder / "database" / "postgres" / "postmaster.pid").read_text(encoding="ascii")
    with psycopg.connect(url, autocommit=True) as connection:
        yield Rig(
            servers=servers,
            url=url,
            folder=folder,
            admin=AdminClient({"bootstrap.servers": servers, "log_level": 0}),  # it outlives the broker
            connection=connection,
            broker=next(p for p, parent in _parents().items() if parent == os.getpid() and "kafka.Kafka" in _line(p)),
            postgres=int(postmaster.split("\n", 1)[0]),
        )


class Sender:
    """Spreads messages over the partitions with confluent-kafka, and checks that each was delivered."""

    def __init__(self, servers: str, topic: str) -> None:
        self._producer = confluent_kafka.Producer({"bootstrap.servers": servers, "linger.ms": 5})
        self._topic = topic
        self._number = 0
        self._lost = 0

    def send(self, message: bytes) -> None:
        while True:
            try:
                self._producer.produce(
                    self._topic, message, partition=self._number % PARTITIONS, on_delivery=self._delivered
                )
            except BufferError:
                self._producer.poll(0.05)
            else:
                break
        self._number += 1
        self._producer.poll(0)

    def flush(self) -> None:
        """Returns when the broker has all messages."""
        if self._producer.flush(120) or self._lost:
            raise RuntimeError(f"the broker did not take all messages for {self._topic}")

    def _delivered(self, error: object, _: object) -> None:
        self._lost += error is not None


def send_all(servers: str, topic: str, messages: Iterable[bytes]) -> None:
    sender = Sender(servers, topic)
    for message in messages:
        sender.send(message)
    sender.flush()


# Clients that discard everything, each to run in a separate process; they return messages per second.


def poll_as_we_do(servers: str, topic: str, count: int) -> float:
    return _kafka_python(connected(KafkaSettings(bootstrap_servers=(servers,))), topic, count, max_records=BATCH)


def poll_by_default(servers: str, topic: str, count: int) -> float:
    return _kafka_python(KafkaConsumer(bootstrap_servers=servers), topic, count, max_records=None)


def _kafka_python(consumer: KafkaConsumer, topic: str, count: int, *, max_records: int | None) -> float:
    partitions = [TopicPartition(topic, number) for number in range(PARTITIONS)]
    consumer.assign(partitions)
    for partition in partitions:
        consumer.seek(partition, 0)

    def poll() -> int:
        return sum(map(len, consumer.poll(1_000, max_records=max_records).values()))

    try:
        return _rate(poll, count)
    finally:
        consumer.close()


def poll_confluent(servers: str, topic: str, count: int) -> float:
    consumer = confluent_kafka.Consumer({"bootstrap.servers": servers, "group.id": "raw", "enable.auto.commit": False})
    consumer.assign([confluent_kafka.TopicPartition(topic, number, 0) for number in range(PARTITIONS)])

    def poll() -> int:
        return len(consumer.consume(BATCH, 1.0))

    try:
        return _rate(poll, count)
    finally:
        consumer.close()


def _rate(poll: Callable[[], int], count: int) -> float:
    """Messages per second from the first answer on, since a client's start-up time does not matter here."""
    first = 0
    while not first:
        first = poll()
    started, given = time.perf_counter(), first
    while given < count:
        given += poll()
    return (given - first) / (time.perf_counter() - started)


# CPU and memory of processes.


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a process and its descendants, including those that have ended and were waited for."""
    parents, own, found = _parents(), {pid}, 0.0
    for _ in range(3):  # our process trees are no deeper
        own |= {child for child, parent in parents.items() if parent in own}
    for one in own:
        with suppress(OSError):
            user, system, of_user, of_system = map(int, _stat(one)[11:15])
            found += (user + system + of_user + of_system) / _TICKS
    return found


def machine_cpu_seconds() -> float:
    """CPU seconds of everything on this machine."""
    first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0]
    user, nice, system, _, _, irq, softirq = map(int, first.split()[1:8])
    return (user + nice + system + irq + softirq) / _TICKS


def peak_mb(pid: int) -> float:
    """The largest resident size so far, in MB; 0 for a process that has ended."""
    with suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    return 0.0


def _parents() -> dict[int, int]:
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found[int(folder.name)] = int(_stat(int(folder.name))[1])
    return found


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat after the name, which may contain anything."""
    return Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()


def _line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8", errors="replace")
    return ""
