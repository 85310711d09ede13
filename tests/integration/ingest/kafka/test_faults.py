"""What breaks while Kafka is read, and that each message is stored exactly once all the same."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from random import Random
from threading import Event

import pytest

from monitor.core.batch import Tally
from monitor.ingest.kafka.dead_letter import DeadLetterGate
from tests.rig.ingest.consuming import Consumer, answers, consumer_process, consuming, settings_for
from tests.rig.ingest.kafka_cluster import create_topic, group_members, new_topic_name, produce
from tests.rig.installation import ROOT
from tests.rig.waiting import TRIES, until

LEDGER = """
    SELECT sum(received), sum(assessed), sum(duplicate), sum(next_offset) FROM consumer_offset WHERE topic = %s
"""


@pytest.fixture
def count(rows):
    """Waits until so many interactions are stored."""

    def wait(number):
        until(f"{number} are stored", lambda: rows("SELECT count(*) FROM interaction") == [(number,)])

    return wait


@pytest.fixture
def held(monkeypatch):
    """Holds up the first consumer's write of a batch until it is told to go on."""
    go_on, at_it = Event(), Event()
    write = DeadLetterGate.write
    slow = []

    def held_up(self, batch):
        if not slow:
            slow.append(self)
        if slow[0] is self and batch.assessments and not go_on.is_set():
            at_it.set()
            assert go_on.wait(60)
        return write(self, batch)

    monkeypatch.setattr(DeadLetterGate, "write", held_up)
    return at_it, go_on


def test_a_batch_in_flight_of_a_partition_that_moved_away_is_not_stored(kafka, database, rows, count, held):
    at_it, go_on = held
    topic = create_topic(kafka, new_topic_name(), partitions=2)
    settings = settings_for(kafka, database, topic, group_id=f"group-{topic}")
    produce(kafka, topic, answers(*range(10)), partition=0)
    produce(kafka, topic, answers(*range(10, 20)), partition=1)
    first = Consumer(settings)
    assert at_it.wait(60)
    with consuming(settings) as second:
        # the other one is given a partition of the two, and stores what the first one has in its hands
        until("the second one has stored its share", lambda: rows("SELECT count(*) FROM interaction")[0][0] >= 10)
        go_on.set()
        count(20)
    assert first.stopped() + second.tally == Tally(received=20, assessed=20)
    assert rows(LEDGER, topic) == [(20, 20, 0, 20)]


def test_a_consumer_that_polls_no_more_is_replaced_and_stores_nothing_then(kafka, database, rows, count, held):
    at_it, go_on = held
    topic = create_topic(kafka, new_topic_name())
    settings = settings_for(kafka, database, topic, group_id=f"group-{topic}")
    produce(kafka, topic, answers(*range(10)))
    first = Consumer(settings)
    assert at_it.wait(60)
    with consuming(settings_for(kafka, database, topic, group_id=f"other-{topic}")) as other:
        count(10)  # another group has stored them all
    assert other.tally == Tally(received=10, assessed=10)
    go_on.set()
    until("the first one has gone through them", lambda: len(rows("SELECT 1 FROM consumer_offset")) == 2)
    until("both are through", lambda: rows(LEDGER, topic) == [(20, 10, 10, 20)])
    assert first.stopped() == Tally(received=10, duplicate=10)


def test_a_zombie_writes_nothing(kafka, database, rows, count, tmp_path):
    """Halted past its session with a batch in its hands, and let go on when another one has read on."""
    topic = create_topic(kafka, new_topic_name())
    zombie = consumer_process(tmp_path / "state", kafka, database, topic)
    try:
        produce(kafka, topic, answers(*range(400)))
        until("it has begun", lambda: rows("SELECT 1 FROM interaction"))
        zombie.send_signal(signal.SIGSTOP)
        settings = settings_for(kafka, database, topic, group_id=f"group-{topic}")
        with consuming(settings):
            # where it was halted in its transaction, the database has to end that first
            until("all are stored", lambda: rows("SELECT count(*) FROM interaction") == [(400,)], tries=3 * TRIES)
            produce(kafka, topic, answers(*range(400, 450)))
            count(450)
            before = rows("SELECT count(*), max(stored_at), max(xmin::text::bigint) FROM interaction")
            zombie.send_signal(signal.SIGCONT)
            until("it is back in the group", lambda: len(group_members(kafka, f"group-{topic}")) == 2)
            assert rows("SELECT count(*), max(stored_at), max(xmin::text::bigint) FROM interaction") == before
        assert rows(LEDGER, topic)[0][:2] == (450, 450)
    finally:
        zombie.send_signal(signal.SIGCONT)
        zombie.terminate()
        assert zombie.wait() == 0


def test_a_consumer_killed_at_random_moments_loses_and_doubles_nothing(kafka, database, rows, count, tmp_path):
    topic = create_topic(kafka, new_topic_name(), partitions=2)
    random = Random(20_261_121)
    total = 0
    for _ in range(5):
        produce(kafka, topic, answers(*range(total, total + 300)))
        total += 300
        wanted = random.randrange(total - 300, total)
        consumer = consumer_process(tmp_path / "state", kafka, database, topic)
        until(f"{wanted} are stored", lambda wanted=wanted: rows("SELECT count(*) FROM interaction")[0][0] >= wanted)
        consumer.kill()
        consumer.wait()
    consumer = consumer_process(tmp_path / "state", kafka, database, topic)
    count(total)
    until("all is read", lambda: rows(LEDGER, topic) == [(total, total, 0, total)])
    consumer.terminate()
    assert consumer.wait() == 0


@pytest.mark.usefixtures("kafka")
def test_the_short_trial_by_faults_loses_and_doubles_nothing(tmp_path):
    """The benchmark itself: every kind of fault once, the database and the broker stopped among them."""
    figures = tmp_path / "figures.json"
    ended = subprocess.run(
        [sys.executable, "benchmarks/faults/run.py", "--short", "--json", str(figures)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    found = json.loads(figures.read_text())
    assert [found[name] for name in ("lost", "doubled", "ledger_difference", "unwanted")] == [0, 0, 0, 0]
    assert found["sent"] > 1_000
    assert len(found["recovery_s"]) == found["faults"]
