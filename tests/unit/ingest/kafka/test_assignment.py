"""What may go to the store of what a consumer reads, whatever comes and goes meanwhile."""

from __future__ import annotations

from collections import Counter
from threading import Thread

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from monitor.core.errors import Fenced
from monitor.core.message import Offset, Skip
from monitor.ingest.kafka.assignment import Assignment
from monitor.simulate.fakes.flow import MemoryStore
from tests.factories.answers import a_batch, at

ONE, OTHER = ("rag", 0), ("rag", 1)


@pytest.fixture
def places():
    return Assignment()


def placed(places, partition=ONE, *, stored=0, at=None, **over):
    places.assign([partition])
    at = stored if at is None else at
    places.place(partition, stored=stored, begin=over.pop("begin", at), at=at, **over)
    return places


def only(places):
    (offset,), _ = places.advance()
    return offset


def test_nothing_is_taken_before_it_is_placed(places):
    assert not places.take(ONE, 0)
    places.assign([ONE])
    assert not places.take(ONE, 0)
    assert places.waiting() == [ONE]
    assert places.advance() == ((), frozenset())


def test_messages_move_the_offset_on_from_the_stored_one(places):
    placed(places, stored=7)
    assert [places.take(ONE, offset) for offset in (7, 8, 9)] == [True] * 3
    assert only(places) == Offset(topic="rag", partition=0, expected=7, begin=7, next=10, received=3)
    assert places.advance() == ((), frozenset([ONE]))
    places.take(ONE, 10)
    assert only(places) == Offset(topic="rag", partition=0, expected=10, begin=10, next=11, received=1)


def test_a_message_that_was_read_before_is_not_taken_again(places):
    placed(places, stored=7)
    places.take(ONE, 7)
    assert not places.take(ONE, 7)
    assert not places.take(ONE, 3)
    assert only(places).next == 8


def test_what_gave_no_message_is_counted_with_its_reason(places):
    placed(places, stored=0)
    assert not places.take(ONE, 0, tombstone=True)
    assert places.take(ONE, 3)  # 1 and 2 were markers
    places.reach({ONE: 6, OTHER: 5})
    offset = only(places)
    assert offset.skipped == {Skip.TOMBSTONE: 1, Skip.CONTROL: 4}
    assert offset.next - offset.begin == offset.received + sum(offset.skipped.values()) == 6


def test_a_partition_that_is_read_for_the_first_time_is_pinned_before_anything_comes(places):
    placed(places, stored=None, at=40)
    assert only(places) == Offset(topic="rag", partition=0, expected=None, begin=40, next=40)
    assert places.advance()[0] == ()


def test_what_retention_deleted_is_told_at_once(places):
    placed(places, stored=10, begin=10, at=25, expired=15)
    offset = only(places)
    assert (offset.expected, offset.begin, offset.next, offset.skipped) == (10, 10, 25, {Skip.EXPIRED: 15})


def test_a_log_that_was_made_anew_takes_the_stored_offset_back(places):
    placed(places, stored=500, begin=0, at=0)
    assert only(places) == Offset(topic="rag", partition=0, expected=500, begin=0, next=0)


def test_a_partition_is_not_placed_while_something_of_it_is_on_its_way(places):
    placed(places)
    places.take(ONE, 0)
    first = only(places)
    places.take(ONE, 1)
    second = only(places)
    places.fenced([first])
    assert places.waiting() == []
    assert not places.take(ONE, 2)
    places.fenced([second])
    assert places.waiting() == [ONE]


def test_one_that_was_lost_and_given_back_waits_for_what_is_on_its_way(places):
    placed(places)
    places.take(ONE, 0)
    offset = only(places)
    places.revoke([ONE])
    places.assign([ONE])
    assert places.waiting() == []
    places.stored([offset])
    assert places.waiting() == [ONE]


def test_what_was_read_of_a_partition_that_went_away_does_not_go_on(places):
    placed(placed(places), OTHER)
    places.take(ONE, 0)
    places.take(OTHER, 0)
    places.revoke([ONE])
    offsets, there = places.advance()
    assert [(o.topic, o.partition) for o in offsets] == [OTHER]
    assert there == {OTHER}


def test_kafka_is_told_once_of_what_is_ours_and_stored(places):
    placed(placed(places), OTHER)
    places.take(ONE, 0)
    places.take(OTHER, 0)
    offsets, _ = places.advance()
    places.revoke([OTHER])
    assert places.landed() == {}
    places.stored(offsets)
    assert places.landed() == {ONE: 1}
    assert places.landed() == {}


def test_a_span_ends_at_its_end(places):
    placed(places, stored=None, at=5, end=8)
    assert not places.finished
    assert [places.take(ONE, offset) for offset in (5, 6, 9)] == [True, True, False]
    assert places.reading() == []
    assert not places.finished  # it has not been given out yet
    offset = only(places)
    assert (offset.next, offset.received, offset.skipped) == (8, 2, {Skip.CONTROL: 1})
    assert places.finished


def test_a_position_beyond_the_end_of_a_span_is_its_end(places):
    placed(places, stored=None, at=5, end=8)
    places.reach({ONE: 12})
    assert only(places).next == 8


def test_an_empty_span_is_finished_once_it_is_pinned(places):
    placed(places, stored=None, at=5, end=5)
    assert not places.finished
    assert only(places).next == 5
    assert places.finished


def test_waiting_ends_when_what_is_on_its_way_has_landed(places):
    placed(places)
    places.take(ONE, 0)
    offset = only(places)
    places.advance()  # the next poll: the batch has been handed on
    assert not places.wait_landed([ONE], 0)
    writer = Thread(target=places.stored, args=([offset],))
    writer.start()
    assert places.wait_landed([ONE], 30)
    writer.join()


def test_a_batch_that_was_handed_on_is_waited_for(places):
    placed(places)
    places.take(ONE, 0)
    places.advance()
    places.handed_on()
    assert not places.wait_landed([ONE], 0)


def test_a_topic_with_another_id_is_another_topic(places):
    placed(places, topic_id="x")
    placed(places, OTHER)  # of a broker that gives no ids
    assert places.of_other_topics(lambda _: "x") == []
    assert places.of_other_topics(lambda _: "") == []
    assert places.of_other_topics(lambda _: "y") == [ONE]


def test_the_batch_in_hand_is_not_waited_for(places):
    placed(places)
    places.take(ONE, 0)
    places.advance()
    assert places.wait_landed([ONE], 0)


class Consumers(RuleBasedStateMachine):
    """Two consumers of one log and one store, with partitions moving between them at any moment.

    The group itself may be wrong about who owns what: a consumer that was halted does not know that it was replaced.
    """

    PARTITIONS = (("rag", 0), ("rag", 1))

    @initialize()
    def begin(self):
        self.store = MemoryStore()
        self.log = {p: [] for p in self.PARTITIONS}  # of each: None for a marker, else whether it is a message
        self.consumers = [Assignment(), Assignment()]
        self.position = [dict.fromkeys(self.PARTITIONS, 0) for _ in self.consumers]
        self.flying = [[], []]
        self.received = Counter()
        self.skipped = Counter()

    def stored(self, partition):
        return self.store.offsets.get(partition)

    @rule(partition=st.sampled_from(PARTITIONS), kinds=st.lists(st.sampled_from("mmtc"), max_size=6))
    def produce(self, partition, kinds):
        self.log[partition] += kinds

    @rule(who=st.sampled_from([0, 1]), partition=st.sampled_from(PARTITIONS))
    def assign(self, who, partition):
        self.consumers[who].assign([partition])

    @rule(who=st.sampled_from([0, 1]), partition=st.sampled_from(PARTITIONS))
    def revoke(self, who, partition):
        self.consumers[who].revoke([partition])

    @rule(who=st.sampled_from([0, 1]), most=st.integers(1, 5), split=st.booleans())
    def poll(self, who, most, split):
        places, position = self.consumers[who], self.position[who]
        for partition in places.waiting():
            stored = self.stored(partition)
            places.place(partition, stored=stored, begin=stored or 0, at=stored or 0)
            position[partition] = stored or 0
        given = []
        for partition in places.reading():
            end = min(position[partition] + most, len(self.log[partition]))
            for offset in range(position[partition], end):
                kind = self.log[partition][offset]
                if kind != "c" and places.take(partition, offset, tombstone=kind == "t"):
                    given.append((partition, offset))
            position[partition] = end
        if split and given:  # a rebalance in the middle of a poll
            places.revoke([given[0][0]])
        if not given:
            places.reach(position)
        offsets, there = places.advance()
        messages = [message for message in given if message[0] in there]
        for o in offsets:
            assert o.received == sum(partition == (o.topic, o.partition) for partition, _ in messages)
        self.flying[who].append((offsets, messages))

    @precondition(lambda self: any(self.flying))
    @rule(who=st.sampled_from([0, 1]))
    def write(self, who):
        if not self.flying[who]:
            return
        offsets, messages = self.flying[who].pop(0)
        try:
            self.store.write(a_batch(offsets=offsets))
        except Fenced:
            self.consumers[who].fenced(offsets)
            return
        self.consumers[who].stored(offsets)
        self.received.update(messages)
        for o in offsets:
            self.skipped[o.topic, o.partition] += sum(o.skipped.values())
            assert o.next - o.begin == o.received + sum(o.skipped.values())

    @invariant()
    def every_message_before_the_stored_offset_was_stored_once(self):
        for partition in self.PARTITIONS:
            upto = self.stored(partition) or 0
            wanted = {(partition, n) for n, kind in enumerate(self.log[partition][:upto]) if kind == "m"}
            mine = {message: n for message, n in self.received.items() if message[0] == partition}
            assert mine == dict.fromkeys(wanted, 1)
            assert self.skipped[partition] == upto - len(wanted)


TestConsumers = Consumers.TestCase
TestConsumers.settings = settings(
    max_examples=150, stateful_step_count=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)


def test_an_offset_says_when_the_last_of_its_messages_arrived(places):
    placed(places, stored=0)
    for offset, minute in ((0, 2), (1, 1)):
        places.take(ONE, offset)
        places.arrived([(ONE, at(minute)), (OTHER, at(9))])
    assert only(places).arrived == at(2)
    places.take(ONE, 2)
    assert only(places).arrived is None
