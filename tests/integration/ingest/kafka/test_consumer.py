"""Kafka to PostgreSQL, exactly once: what is on the topics, and how consumers come, go and share."""

from __future__ import annotations

import json

import pytest
from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.errors import KafkaError

from monitor.app.wiring.application import Application
from monitor.core.batch import Tally
from monitor.core.errors import Fatal, OutOfReach, WrongSettings
from tests.rig.ingest.consuming import Consumer, answer, answers, consuming, settings_for
from tests.rig.ingest.kafka_cluster import (
    committed_offsets,
    create_topic,
    group_members,
    grow_topic,
    kcat_produce,
    new_topic_name,
    produce,
)
from tests.rig.waiting import until

LEDGER = """
    SELECT partition, next_offset, received, assessed, duplicate, dead, tombstone, control, expired, spanned
    FROM consumer_offset WHERE topic = %s ORDER BY partition
"""


@pytest.fixture
def topic(kafka):
    return create_topic(kafka, new_topic_name())


@pytest.fixture
def stored(rows):
    """Waits until exactly these ids are stored."""

    def wait(*names):
        until(f"{names} are stored", lambda: {n for (n,) in rows("SELECT id FROM interaction")} >= set(names))
        assert sorted(n for (n,) in rows("SELECT id FROM interaction")) == sorted(names)

    return wait


def ids(*numbers):
    return [f"q-{number}" for number in numbers]


@pytest.mark.parametrize("codec", [None, "gzip", "snappy", "lz4", "zstd"])
def test_every_codec_that_kcat_writes_is_read(kafka, topic, database, stored, codec):
    kcat_produce(kafka, topic, answers(*range(40)), codec=codec)
    with consuming(settings_for(kafka, database, topic)):
        stored(*ids(*range(40)))


def test_a_consumer_knows_when_it_polled_for_the_last_time(kafka, topic, database):
    with Application(settings_for(kafka, database, topic)) as application:
        application.migrate()
        source = application.kafka.source()
        begun = source.polled_at
        source.poll(max_messages=1, max_bytes=1, timeout=0.0)
        polled = source.polled_at
        source.hold()
        assert begun < polled < source.polled_at
        source.close()


def test_where_an_interaction_came_from_is_kept(kafka, database, rows, stored):
    topic = create_topic(kafka, new_topic_name(), partitions=2)
    ((_, offset),) = produce(kafka, topic, answers(1), partition=1)
    with consuming(settings_for(kafka, database, topic)):
        stored("q-1")
    assert rows("SELECT source_topic, source_partition, source_offset FROM interaction") == [(topic, 1, offset)]


def test_an_event_without_a_time_occurred_when_its_record_says(kafka, topic, database, rows, stored):
    produce(kafka, topic, answers(1), timestamp_ms=1_700_000_000_000)
    with consuming(settings_for(kafka, database, topic)):
        stored("q-1")
    ((occurred_at, marks),) = rows("SELECT occurred_at, marks FROM interaction")
    assert occurred_at.isoformat() == "2023-11-14T22:13:20+00:00"
    assert marks == ["time_defaulted"]


def test_cloudevents_in_binary_mode_are_told_by_their_headers(kafka, topic, database, rows, stored):
    headers = [
        ("ce_specversion", b"1.0"),
        ("ce_id", b"from-the-header"),
        ("ce_source", b"/bots/support"),
        ("ce_type", b"rag.answered"),
        ("ce_time", b"2026-05-04T09:12:33Z"),
        ("content-type", b"application/json"),
    ]
    data = json.loads(answer("unused"))
    del data["id"]
    kcat_produce(kafka, topic, [json.dumps(data).encode()], headers=headers)
    with consuming(settings_for(kafka, database, topic)):
        stored("from-the-header")
    assert rows("SELECT occurred_at::text FROM interaction") == [("2026-05-04 09:12:33+00",)]


def test_a_dead_letter_keeps_bytes_headers_key_and_place(kafka, topic, database, rows):
    kcat_produce(kafka, topic, answers(1))
    kcat_produce(kafka, topic, [b"\xff\x00not JSON"], key="k-1", headers=[("trace", b"abc"), ("trace", b"def")])
    with consuming(settings_for(kafka, database, topic)):
        until("it is buried", lambda: rows("SELECT 1 FROM dead_letter"))
    ((value, key, names, values, place, offset, group),) = rows(
        "SELECT value, key, header_names, header_values, topic, position, group_id FROM dead_letter"
    )
    assert (value, key, names, values) == (b"\xff\x00not JSON", b"k-1", ["trace", "trace"], [b"abc", b"def"])
    assert (place, offset, group) == (topic, 1, "monitor")


def test_tombstones_are_counted_as_skipped(kafka, topic, database, rows, stored):
    kcat_produce(kafka, topic, [answer("q-1"), None, None, answer("q-2")], key="k")
    with consuming(settings_for(kafka, database, topic)):
        stored("q-1", "q-2")
    assert rows(LEDGER, topic) == [(0, 4, 2, 2, 0, 0, 2, 0, 0, 4)]


def test_aborted_messages_are_unseen_and_markers_are_counted(kafka, topic, database, rows, stored):
    produce(kafka, topic, answers(1, 2), transaction="commit")
    produce(kafka, topic, answers(3, 4, 5), transaction="abort")
    produce(kafka, topic, answers(6), transaction="commit")
    with consuming(settings_for(kafka, database, topic)):
        # 6 messages and a marker after each transaction: the last one is reached though no message follows it
        until("all is read", lambda: [row[1] for row in rows(LEDGER, topic)] == [9])
        stored(*ids(1, 2, 6))
    assert rows(LEDGER, topic) == [(0, 9, 3, 3, 0, 0, 0, 6, 0, 9)]


def test_uncommitted_messages_can_be_asked_for(kafka, topic, database, stored):
    produce(kafka, topic, answers(1), transaction="abort")
    with consuming(settings_for(kafka, database, topic, isolation_level="read_uncommitted")):
        stored("q-1")


def test_repetitions_are_counted_and_stored_once(kafka, topic, database, rows, stored):
    produce(kafka, topic, answers(1, 2, 1, 1))
    with consuming(settings_for(kafka, database, topic)):
        stored("q-1", "q-2")
        until("all is read", lambda: [row[1] for row in rows(LEDGER, topic)] == [4])
    assert rows(LEDGER, topic) == [(0, 4, 4, 2, 2, 0, 0, 0, 0, 4)]


def test_a_restart_goes_on_from_the_store_and_not_from_kafka(kafka, topic, database, rows, stored):
    produce(kafka, topic, answers(1, 2, 3))
    with consuming(settings_for(kafka, database, topic)) as first:
        stored(*ids(1, 2, 3))
    assert first.tally == Tally(received=3, assessed=3)
    rows("UPDATE consumer_offset SET next_offset = 1")  # as if the store were behind what Kafka was told
    with consuming(settings_for(kafka, database, topic)) as second:
        until("it is read again", lambda: rows(LEDGER, topic)[0][1] == 3)
    assert second.tally == Tally(received=2, duplicate=2)


def test_kafka_is_told_the_offsets_for_lag_tools(kafka, topic, database, stored):
    produce(kafka, topic, answers(1, 2, 3))
    group = f"group-{topic}"
    with consuming(settings_for(kafka, database, topic, group_id=group)):
        stored(*ids(1, 2, 3))
        until("Kafka knows", lambda: committed_offsets(kafka, group) == {(topic, 0): 3})
    assert group_members(kafka, group) == {}  # it has left


def test_what_kafka_was_told_is_no_reason_to_skip_anything(kafka, topic, database, stored):
    produce(kafka, topic, answers(1, 2))
    group = f"group-{topic}"
    with KafkaConsumer(bootstrap_servers=kafka, group_id=group, enable_auto_commit=False) as other:
        other.assign([TopicPartition(topic, 0)])
        other.commit({TopicPartition(topic, 0): OffsetAndMetadata(2, "", -1)})
    with consuming(settings_for(kafka, database, topic, group_id=group)):
        stored("q-1", "q-2")


def test_a_topic_may_come_later(kafka, database, stored):
    topic = new_topic_name()
    with consuming(settings_for(kafka, database, topic)):
        create_topic(kafka, topic)
        produce(kafka, topic, answers(1))
        stored("q-1")


def test_topics_of_a_pattern_are_read_those_to_come_too(kafka, database, stored):
    name = new_topic_name()
    produce(kafka, create_topic(kafka, f"{name}.sales"), answers(1))
    settings = settings_for(kafka, database, topic_pattern=rf"{name}\..*")
    with consuming(settings):
        stored("q-1")
        produce(kafka, create_topic(kafka, f"{name}.support"), answers(2))
        stored("q-1", "q-2")


@pytest.mark.parametrize("begin", ["earliest", "latest"])
def test_a_partition_that_is_added_is_read_from_its_beginning(kafka, topic, database, rows, stored, begin):
    with consuming(settings_for(kafka, database, topic, auto_offset_reset=begin)):
        until("the first one is placed", lambda: rows(LEDGER, topic))
        grow_topic(kafka, topic, 3)
        produce(kafka, topic, answers(2), partition=2)
        stored("q-2")


def test_latest_begins_at_the_end_and_is_pinned_there(kafka, topic, database, rows, stored):
    produce(kafka, topic, answers(1))
    settings = settings_for(kafka, database, topic, auto_offset_reset="latest")
    with consuming(settings):
        until("it is pinned", lambda: rows(LEDGER, topic))
    assert rows(LEDGER, topic)[0][:3] == (0, 1, 0)
    produce(kafka, topic, answers(2))  # while nobody reads
    with consuming(settings):
        stored("q-2")


def test_each_topic_has_its_own_dialect_app_and_environment(kafka, database, rows):
    ragas, native = create_topic(kafka, new_topic_name()), create_topic(kafka, new_topic_name())
    sample = {"user_input": "How long?", "retrieved_contexts": ["Thirty days."], "response": "Thirty days."}
    kcat_produce(kafka, ragas, [json.dumps(sample).encode()])
    event = json.loads(answer("q-1"))
    del event["app"]
    kcat_produce(kafka, native, [json.dumps(event).encode()])
    by_topic = {ragas: {"dialect": "ragas", "app": "sales", "environment": "test"}, native: {"app": "support"}}
    with consuming(settings_for(kafka, database, ragas, native, by_topic=by_topic)):
        until("both are stored", lambda: rows("SELECT count(*) FROM interaction") == [(2,)])
    found = rows("SELECT source_topic, app, environment FROM interaction ORDER BY app")
    assert found == [(ragas, "sales", "test"), (native, "support", "production")]


def test_two_consumers_share_the_partitions_and_take_over_from_one_another(kafka, database, rows, stored):
    topic = create_topic(kafka, new_topic_name(), partitions=4)
    settings = settings_for(kafka, database, topic, group_id=f"group-{topic}")
    with consuming(settings):
        produce(kafka, topic, answers(*range(100)))
        with consuming(settings):
            shares = until("they share", lambda: _shares(kafka, topic, 2))
            assert sorted(len(share) for share in shares) == [2, 2]
            produce(kafka, topic, answers(*range(100, 300)))
            stored(*ids(*range(300)))
        until("one has all", lambda: _shares(kafka, topic, 1))
        produce(kafka, topic, answers(*range(300, 400)))
        stored(*ids(*range(400)))
    ledger = rows(LEDGER, topic)
    assert sum(row[3] for row in ledger) == sum(row[2] for row in ledger) == 400


def _shares(kafka, topic, members):
    shares = list(group_members(kafka, f"group-{topic}").values())
    return shares if len(shares) == members and len(set().union(*shares)) == 4 else None


def test_a_static_member_keeps_its_partitions_over_a_restart(kafka, topic, database, stored):
    group = f"group-{topic}"
    settings = settings_for(kafka, database, topic, group_id=group, group_instance_id="monitor-0")
    produce(kafka, topic, answers(1))
    with consuming(settings):
        stored("q-1")
    assert group_members(kafka, group) == {"monitor-0": {(topic, 0)}}
    produce(kafka, topic, answers(2))
    with consuming(settings):
        stored("q-1", "q-2")


def test_one_that_takes_the_instance_id_of_another_stops_it_loudly(kafka, topic, database, stored):
    settings = settings_for(kafka, database, topic, group_id=f"g-{topic}", group_instance_id="monitor-0")
    produce(kafka, topic, answers(1))
    first = Consumer(settings)
    stored("q-1")
    with consuming(settings):
        with pytest.raises(Fatal, match="GROUP_INSTANCE_ID"):
            first.ended()  # without any traffic
        produce(kafka, topic, answers(2))
        stored("q-1", "q-2")


def test_messages_that_retention_deleted_unread_are_told_of(kafka, topic, database, rows, stored, caplog):
    settings = settings_for(kafka, database, topic)
    produce(kafka, topic, answers(1))
    with consuming(settings):
        stored("q-1")
    produce(kafka, topic, answers(2, 3, 4))
    with KafkaAdminClient(bootstrap_servers=kafka) as admin:
        admin.delete_records({TopicPartition(topic, 0): 3})
    with consuming(settings):
        stored("q-1", "q-4")
    assert rows(LEDGER, topic) == [(0, 4, 2, 2, 0, 0, 0, 0, 2, 4)]
    assert "2 messages were deleted before they were read" in caplog.text


def test_a_topic_that_was_made_anew_is_read_from_its_beginning(kafka, topic, database, rows, stored, caplog):
    settings = settings_for(kafka, database, topic)
    produce(kafka, topic, answers(1, 2, 3))
    with consuming(settings):
        stored(*ids(1, 2, 3))
    with KafkaAdminClient(bootstrap_servers=kafka) as admin:
        admin.delete_topics([topic])
    until("it is made anew", lambda: _made(kafka, topic))
    produce(kafka, topic, answers(3, 4))
    with consuming(settings):
        stored(*ids(1, 2, 3, 4))
    ((_, reached, received, assessed, duplicate, *_, spanned),) = rows(LEDGER, topic)
    assert (reached, received, assessed, duplicate, spanned) == (2, 5, 4, 1, 5)
    assert "its log was recreated or truncated" in caplog.text


def test_a_longer_topic_of_the_same_name_is_another_topic_too(kafka, topic, database, rows, stored, caplog):
    settings = settings_for(kafka, database, topic)
    produce(kafka, topic, answers(1))
    with consuming(settings):
        stored("q-1")
        with KafkaAdminClient(bootstrap_servers=kafka) as admin:
            admin.delete_topics([topic])
        until("it is made anew", lambda: _made(kafka, topic))
        produce(kafka, topic, answers(*range(2, 12)))
        stored("q-1", *ids(*range(2, 12)))
    assert "its log was recreated or truncated" in caplog.text
    ((_, reached, received, assessed, *_, spanned),) = rows(LEDGER, topic)
    assert (reached, received, assessed, spanned) == (10, 11, 11, 11)


def test_a_record_that_cannot_be_decoded_is_buried_and_does_not_stop_the_others(
    kafka, topic, database, rows, stored, caplog
):
    kcat_produce(kafka, topic, answers(1))
    kcat_produce(kafka, topic, answers(2), headers=[("na\udcff\udcfeme", b"x")])  # no UTF-8
    kcat_produce(kafka, topic, answers(3))
    with consuming(settings_for(kafka, database, topic)):
        stored("q-1", "q-3")
    assert rows("SELECT position, value, problem FROM dead_letter")[0][:2] == (1, b"")
    assert "cannot be decoded by the Kafka client" in rows("SELECT problem FROM dead_letter")[0][0]
    assert rows(LEDGER, topic) == [(0, 3, 3, 2, 0, 1, 0, 0, 0, 3)]
    assert "the record at offset 1 cannot be decoded" in caplog.text


def _made(kafka, topic):
    try:
        return create_topic(kafka, topic)
    except KafkaError:  # it is still being deleted
        return None


def test_messages_of_several_megabytes_are_read_and_too_long_ones_buried(kafka, database, rows, stored):
    topic = create_topic(kafka, new_topic_name(), configs={"max.message.bytes": str(15 * 2**20)})
    long = answer("q-1", retrieved_documents=["Deleted snapshots are kept. " * 35_000] * 5)
    produce(kafka, topic, [long, answer("q-2", reference_answer="x" * 9_000_000), answer("q-3")])
    with consuming(settings_for(kafka, database, topic)):
        stored("q-1", "q-3")
    assert rows("SELECT problem FROM dead_letter")[0][0].startswith("is 9,000,")


def test_no_broker_at_the_start_is_a_service_out_of_reach(database):
    settings = settings_for("127.0.0.1:9", database, "rag", request_timeout_ms=1_000)
    with pytest.raises(OutOfReach, match=r"127\.0\.0\.1:9"), consuming(settings) as consumer:
        consumer.ended()


@pytest.mark.parametrize(
    ("over", "problem"),
    [
        ({"topics": ()}, "TOPICS or"),
        ({"topic_pattern": "x"}, "TOPICS or"),
        ({"bootstrap_servers": ()}, "BOOTSTRAP_SERVERS"),
    ],
)
def test_settings_that_name_nothing_to_read_are_wrong(kafka, database, over, problem):
    settings = settings_for(kafka, database, "rag", **over)
    with pytest.raises(WrongSettings, match=problem), consuming(settings) as consumer:
        consumer.ended()
