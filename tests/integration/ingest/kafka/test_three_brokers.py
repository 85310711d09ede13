"""A cluster of three brokers goes on without one of them, and so do those who read from it."""

from __future__ import annotations

from tests.rig.ingest.consuming import answers, consuming, settings_for
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name, produce, read
from tests.rig.waiting import until

LEDGER = """
    SELECT sum(received), sum(assessed), sum(duplicate), sum(next_offset) FROM consumer_offset WHERE topic = %s
"""


def test_three_go_on_without_one(three_brokers):
    servers = three_brokers.bootstrap_servers
    topic = create_topic(servers, new_topic_name(), partitions=3, replication=3)
    produce(servers, topic, [b"a"], partition=0, acks="all")
    three_brokers.kill(1)
    for partition in range(3):
        produce(servers, topic, [b"b"], partition=partition, acks="all")
    assert sorted(record.value for record in read(servers, topic, 4)) == [b"a", b"b", b"b", b"b"]


def test_a_broker_that_fails_is_replaced_by_another(three_brokers, database, rows):
    servers = three_brokers.bootstrap_servers
    topic = create_topic(servers, new_topic_name(), partitions=3, replication=3)
    settings = settings_for(servers, database, topic, group_id=f"group-{topic}")

    def count(number):
        until(f"{number} are stored", lambda: rows("SELECT count(*) FROM interaction") == [(number,)])

    with consuming(settings) as consumer:
        total = 0
        for node in three_brokers.nodes:
            produce(servers, topic, answers(*range(total, total + 50)), acks="all")
            total += 50
            count(total)
            three_brokers.kill(node)
            produce(servers, topic, answers(*range(total, total + 50)), acks="all")
            total += 50
            count(total)
            three_brokers.start(node)
    assert consumer.tally.assessed == total
    assert rows(LEDGER, topic) == [(total, total, 0, total)]


def test_partitions_without_a_leader_do_not_keep_the_others_from_being_read(three_brokers, database, rows):
    servers = three_brokers.bootstrap_servers
    topic = create_topic(servers, new_topic_name(), partitions=3)
    for number in range(3):
        produce(servers, topic, answers(number), partition=number)
    three_brokers.kill(3)
    with consuming(settings_for(servers, database, topic, group_id=f"group-{topic}")):
        until("two of three are stored", lambda: rows("SELECT count(*) FROM interaction") == [(2,)])
        three_brokers.start(3)
        ids = [("q-0",), ("q-1",), ("q-2",)]
        until("all are stored", lambda: rows("SELECT id FROM interaction ORDER BY id") == ids)
