"""Measures how long the partitions of killed consumers stand still, at the default settings of `monitor consume`.

    python benchmarks/faults/takeover.py [--rounds 3] [--short] [--json PATH]

Three consumers share a topic of six partitions under load; two of them are killed at once (SIGKILL). Prints the seconds
until something of each partition is stored again, and how often partitions moved under the load before, without
need, which must be 0 (else the exit code is 1).
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from kafka import KafkaAdminClient

from benchmarks.faults.rig import Consumer, Postgres, Producer, until
from benchmarks.figures import finish
from monitor.simulate.broker import KafkaCluster
from monitor.simulate.kafka_jars import kafka_jars

TOPIC, GROUP, PARTITIONS = "rag.takeover", "monitor", 6
LOAD, PAUSE = 12, 0.5  # messages at a time and seconds between them: less than a consumer can assess
STORED = "SELECT partition, next_offset FROM consumer_offset WHERE group_id = %s AND topic = %s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--short", action="store_true", help="one round")
    parser.add_argument("--json", type=Path, metavar="PATH", help="write the figures there")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="monitor-takeover-") as name:
        folder = Path(name)
        with KafkaCluster(folder / "kafka", jars=kafka_jars()) as cluster:
            seconds, moved = _measured(folder, cluster.bootstrap_servers, rounds=1 if given.short else given.rounds)
    print(f"partitions of killed consumers stood still for {', '.join(f'{s:.1f}' for s in seconds)} s")
    print(f"partitions moved without need: {moved}")
    finish({"seconds": seconds, "moved": moved}, seed=None, path=given.json)
    sys.exit(moved > 0)


def _measured(folder: Path, servers: str, *, rounds: int) -> tuple[list[float], int]:
    with KafkaAdminClient(bootstrap_servers=servers) as admin:
        admin.create_topics({TOPIC: {"num_partitions": PARTITIONS}}, wait_for_metadata=True)
    postgres = Postgres(folder / "state")
    settings = {
        "DATABASE_URL": postgres.url,
        "EMBEDDING__PROVIDER": "hash",
        "KAFKA__BOOTSTRAP_SERVERS": servers,
        "KAFKA__TOPICS": TOPIC,
        "KAFKA__GROUP_ID": GROUP,
    }
    consumers = [Consumer(f"consumer-{n}", folder, settings) for n in range(3)]
    producer = Producer(servers, TOPIC, Random(1))
    seconds, moved = list[float](), 0
    try:
        for _ in range(rounds):
            for consumer in consumers:
                if not consumer.running:
                    given = _shares(consumer)
                    consumer.start()
                    until(lambda c=consumer, n=given: _shares(c) > n, 120.0, f"{consumer.name} has its share")  # type: ignore[misc]
            until(lambda: _settled(producer, postgres), 60.0, "every partition is read")
            before = [_shares(consumer) for consumer in consumers]
            for _ in range(20):
                producer.produce(LOAD)
                time.sleep(PAUSE)
            moved += sum(_shares(consumer) for consumer in consumers) - sum(before)
            for consumer in consumers[1:]:
                consumer.end(signal.SIGKILL)
            seconds.append(_stood_still(producer, postgres))
    finally:
        for consumer in consumers:
            consumer.end(signal.SIGKILL)
        producer.close()
    return seconds, moved


def _shares(consumer: Consumer) -> int:
    """How often a consumer was given partitions since it was first started."""
    return consumer.log.read_text(encoding="utf-8").count("assigned: rag") if consumer.log.exists() else 0


def _reached(postgres: Postgres) -> dict[object, object]:
    return dict(postgres.rows(STORED, GROUP, TOPIC))  # type: ignore[arg-type]


def _settled(producer: Producer, postgres: Postgres) -> bool:
    """Whether something of every partition is stored in a while."""
    before = _reached(postgres)
    producer.produce(5 * LOAD)
    time.sleep(4 * PAUSE)
    after = _reached(postgres)
    return len(after) == PARTITIONS and all(after[partition] != before.get(partition) for partition in after)


def _stood_still(producer: Producer, postgres: Postgres) -> float:
    """Seconds until something of every partition was stored again."""
    begin, before = time.monotonic(), _reached(postgres)
    while any(reached == before[partition] for partition, reached in _reached(postgres).items()):
        producer.produce(LOAD)
        time.sleep(PAUSE)
    return round(time.monotonic() - begin, 1)


if __name__ == "__main__":
    main()
