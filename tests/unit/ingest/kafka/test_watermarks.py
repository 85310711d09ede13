from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace

from kafka import TopicPartition, errors
from kafka.structs import MemberState

from monitor.core.settings.kafka import KafkaSettings
from monitor.ingest.kafka.consumer import KafkaSource
from monitor.ingest.kafka.start_offset import Log
from monitor.ingest.kafka.watermarks import Logs

NOW = datetime(2026, 5, 4, tzinfo=UTC)
READ = [TopicPartition("rag", number) for number in range(50)]


class Consumer:
    """A client that answers questions about logs like the real one; `leaders` has the leader of each partition.

    It omits a partition without a leader, and raises a timeout if a leader does not answer or none is known.
    """

    def __init__(self, leaders: dict[TopicPartition, int], *, silent: frozenset[int] = frozenset()) -> None:
        self.leaders = leaders
        self.silent = silent
        self.asked = 0  # questions that ran into their time limit
        self.owned = set(leaders)
        self.lost_meanwhile: set[TopicPartition] = set()
        self._cluster = SimpleNamespace(leader_for_partition=leaders.get, topic_id=lambda _: "id")

    def beginning_offsets(self, partitions, timeout_ms):
        return self._answer(partitions, 3)

    def end_offsets(self, partitions, timeout_ms):
        self.owned -= self.lost_meanwhile
        return self._answer(partitions, 7)

    def _answer(self, partitions, offset):
        led = [p for p in partitions if self.leaders.get(p, -1) >= 0]
        if not led or self.silent & {self.leaders[p] for p in led}:
            self.asked += 1
            raise errors.KafkaTimeoutError("2000 ms")
        return dict.fromkeys(led, offset)

    # What a source calls besides.

    def subscribe(self, **_):
        pass

    def topics(self):
        return {"rag"}

    def pause(self, *_):
        pass

    resume = pause

    def assignment(self):
        return set(self.owned)

    def seek(self, partition, _):
        if partition not in self.owned:
            raise ValueError("Unassigned partition")

    def group_metadata(self):
        return SimpleNamespace(state=MemberState.STABLE)

    def poll(self, *_, **__):
        return {}

    def position(self, *_, **__):
        return None


def test_partitions_without_a_leader_cost_one_wait_together(caplog):
    consumer = Consumer({p: 1 if p.partition < 2 else -1 for p in READ})
    found = Logs(consumer).of(READ)
    assert found == dict.fromkeys(READ[:2], Log(first=3, last=7, topic_id="id"))
    assert consumer.asked == 1
    assert "rag/49" in caplog.text
    assert "rag/1," not in caplog.text


def test_a_leader_that_does_not_answer_hides_only_its_own_partitions():
    consumer = Consumer({p: p.partition % 3 for p in READ}, silent=frozenset({1}))
    assert set(Logs(consumer).of(READ)) == {p for p in READ if p.partition % 3 != 1}
    assert consumer.asked == 1


def test_where_to_start_at_the_end_leaves_out_partitions_without_a_leader():
    consumer = Consumer({READ[0]: 1, READ[1]: -1})
    consumer.partitions_for_topic = lambda _: {0, 1}
    assert [(end.partition, end.next) for end in Logs(consumer).ends(["rag"])] == [(0, 7)]


def test_a_partition_that_is_lost_while_it_is_looked_up_is_not_read_and_harms_nothing():
    consumer = Consumer({READ[0]: 1, READ[1]: 1})
    kafka = KafkaSettings(bootstrap_servers=("x:1",), topics=("rag",))
    group = SimpleNamespace(stored=dict)
    source = KafkaSource(consumer, kafka, group=group, now=lambda: NOW)
    source.assigned(consumer.owned)
    consumer.lost_meanwhile = {READ[0]}
    assert source.poll(max_messages=1, max_bytes=1, timeout=0.0) == []
    assert [offset.partition for offset in source.offsets()] == [1]
