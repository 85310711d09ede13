"""A span of a topic read again: to fill in what was missed, or to assess it anew beside the verdicts that count."""

from __future__ import annotations

import tomllib
from datetime import UTC, datetime, timedelta
from importlib import resources
from unittest.mock import patch

import pytest

from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Count, window_at
from monitor.app.wiring.application import Application
from monitor.core.batch import Tally
from monitor.core.errors import Fenced, WrongSettings
from monitor.ingest.kafka.span import Span
from monitor.store.alert.explanations import ExplanationRows
from monitor.store.ledger.offsets import ConsumerGroup
from tests.rig.ingest.consuming import Consumer, answer, answers, consuming, read_span, settings_for
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name, produce
from tests.rig.waiting import until

T0 = datetime.now(UTC).replace(microsecond=0) - timedelta(hours=3)
ASSESSMENTS = "SELECT id, profile_name, live FROM assessment ORDER BY id, profile_name"


@pytest.fixture
def topic(kafka):
    return create_topic(kafka, new_topic_name(), partitions=2)


@pytest.fixture
def stricter(tmp_path):
    """A profile of the same embedder under another name."""
    text = (resources.files("monitor.assess.classify") / "profiles" / "hash.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["name"] == "hash"
    file = tmp_path / "stricter.toml"
    file.write_text(text.replace('name = "hash"', 'name = "stricter"'), encoding="utf-8")
    return str(file)


def at(minutes):
    return int((T0 + timedelta(minutes=minutes)).timestamp() * 1000)


def hourly(kafka, topic):
    """q-0 to q-5, an hour's sixth apart, on both partitions."""
    for n in range(6):
        produce(kafka, topic, answers(n), timestamp_ms=at(10 * n), partition=n % 2)


def lived(kafka, database, topic, rows, number):
    settings = settings_for(kafka, database, topic, group_id=f"live-{topic}")
    with consuming(settings) as consumer:
        until("all are stored", lambda: rows("SELECT count(*) FROM interaction") == [(number,)])
    return consumer.tally


def test_a_span_is_what_kafka_received_from_one_moment_to_before_another(kafka, topic, database, rows):
    hourly(kafka, topic)
    settings = settings_for(kafka, database, topic, group_id="backfill")
    tally = read_span(settings, start=T0 + timedelta(minutes=10), end=T0 + timedelta(minutes=40))
    assert tally == Tally(received=3, assessed=3)
    assert rows("SELECT id FROM interaction ORDER BY id") == [("q-1",), ("q-2",), ("q-3",)]


def test_a_backfill_stores_what_was_missed_and_counts_the_rest_as_duplicate(kafka, topic, database, rows):
    hourly(kafka, topic)
    with consuming(settings_for(kafka, database, topic, group_id="live", auto_offset_reset="latest")):
        until("it is placed", lambda: rows("SELECT count(*) FROM consumer_offset") == [(2,)])
        produce(kafka, topic, answers(6))
        until("the new one is stored", lambda: rows("SELECT count(*) FROM interaction") == [(1,)])
    assert read_span(settings_for(kafka, database, topic, group_id="backfill")) == Tally(
        received=7, assessed=6, duplicate=1
    )
    assert rows("SELECT sum(total)::bigint FROM verdict_minute") == [(7,)]


def test_a_rescore_adds_assessments_beside_and_touches_nothing_else(kafka, topic, database, rows, stricter):
    hourly(kafka, topic)
    produce(kafka, topic, [b"not JSON"])
    lived(kafka, database, topic, rows, 6)
    watched = ("SELECT * FROM verdict_minute", "SELECT * FROM interaction ORDER BY id", "SELECT * FROM dead_letter")
    before = [rows(query) for query in watched]
    settings = settings_for(kafka, database, topic, group_id="rescore").model_copy(update={"profile": stricter})
    assert read_span(settings, rescore=True) == Tally(received=7, assessed=6, dead=1)
    assert [rows(query) for query in watched] == before
    assert rows(ASSESSMENTS) == [
        (f"q-{n}", name, live) for n in range(6) for name, live in (("hash", True), ("stricter", False))
    ]
    assert rows("SELECT name FROM profile ORDER BY name") == [("hash",), ("stricter",)]


def test_a_rescore_leaves_what_nobody_has_stored_to_the_live_consumers(kafka, topic, database, rows, stricter):
    hourly(kafka, topic)
    settings = settings_for(kafka, database, topic, group_id="rescore").model_copy(update={"profile": stricter})
    assert read_span(settings, rescore=True) == Tally(received=6, pending=6)
    assert rows("SELECT count(*) FROM interaction_key") == [(0,)]
    assert lived(kafka, database, topic, rows, 6) == Tally(received=6, assessed=6)


def test_an_event_without_a_time_is_assessed_anew_where_it_is_stored(kafka, topic, database, rows, stricter):
    produce(kafka, topic, [answer("q-1")], timestamp_ms=at(0))
    lived(kafka, database, topic, rows, 1)
    rows("UPDATE interaction SET occurred_at = occurred_at + interval '1 second'")  # as if it had come otherwise
    settings = settings_for(kafka, database, topic, group_id="rescore").model_copy(update={"profile": stricter})
    assert read_span(settings, rescore=True).assessed == 1
    found = "SELECT count(*) FROM interaction JOIN assessment USING (app, id, occurred_at) WHERE NOT live"
    assert rows(found) == [(1,)]


def test_alerts_see_the_live_verdicts_only(kafka, topic, database, rows, stricter):
    produce(kafka, topic, [answer("q-1", answer="Sorry, I cannot help with that.")])
    lived(kafka, database, topic, rows, 1)
    settings = settings_for(kafka, database, topic, group_id="rescore").model_copy(update={"profile": stricter})
    read_span(settings, rescore=True)
    with Application(settings) as application:
        window = window_at(datetime.now(UTC) + timedelta(minutes=1), timedelta(hours=1), timedelta())
        (counted,) = application.alerting.store.counts(Signal(kind=SignalKind.RATE, name="negative"), {}, (), [window])
        shown, _ = ExplanationRows(application.engine).read({}, {}, "negative", window, window.back(window.length))
    assert counted.counts == (Count(total=1, sum=1.0, squares=1.0),)
    assert [row.id for row in shown] == ["q-1"]


def test_a_span_that_was_read_is_not_read_again_and_one_that_was_begun_goes_on(kafka, topic, database, rows):
    hourly(kafka, topic)
    settings = settings_for(kafka, database, topic, group_id="backfill")
    end = T0 + timedelta(minutes=60)
    assert read_span(settings, end=end).received == 6
    assert read_span(settings, end=end) == Tally()
    rows("UPDATE consumer_offset SET next_offset = 1 WHERE partition = 0")
    assert read_span(settings, end=end) == Tally(received=2, duplicate=2)


def test_a_group_that_has_read_another_span_is_refused(kafka, topic, database):
    hourly(kafka, topic)
    settings = settings_for(kafka, database, topic, group_id="backfill")
    read_span(settings, start=T0 + timedelta(minutes=40))
    with pytest.raises(WrongSettings, match="another span"):
        read_span(settings, start=T0, end=T0 + timedelta(minutes=10))


def test_a_group_is_used_for_one_thing_only(kafka, topic, database, rows, stricter):
    hourly(kafka, topic)
    lived(kafka, database, topic, rows, 6)
    strict = settings_for(kafka, database, topic, group_id=f"live-{topic}").model_copy(update={"profile": stricter})
    with pytest.raises(WrongSettings, match="live verdicts"):
        read_span(strict, rescore=True)
    again = settings_for(kafka, database, topic, group_id="again").model_copy(update={"profile": stricter})
    read_span(again, rescore=True)
    for wrong, rescore in ((again, False), (again.model_copy(update={"profile": "hash"}), True)):
        with pytest.raises(WrongSettings, match="a rescore under the profile"):
            read_span(wrong, rescore=rescore)


def test_one_process_alone_reads_a_span(kafka, topic, database, rows):
    hourly(kafka, topic)
    settings = settings_for(kafka, database, topic, group_id="backfill")
    read_span(settings)
    produce(kafka, topic, answers(6))
    with pytest.raises((Fenced, WrongSettings)):
        _read_while_moved(settings, rows)


def _read_while_moved(settings, rows):
    """A second process has read on between the look-up and the first batch."""
    with Application(settings) as application:
        known = application.kafka.group.stored()
    rows("UPDATE consumer_offset SET next_offset = next_offset - 1")
    with patch.object(ConsumerGroup, "stored", lambda _self: known):
        read_span(settings)


@pytest.mark.parametrize("transaction", ["commit", "abort"])
def test_a_span_ends_though_markers_stand_at_its_end(kafka, topic, database, transaction):
    produce(kafka, topic, answers(1, 2), partition=0)
    produce(kafka, topic, answers(3), partition=0, transaction=transaction)
    tally = read_span(settings_for(kafka, database, topic, group_id="backfill"))
    assert tally.assessed == (3 if transaction == "commit" else 2)


def test_an_empty_span_ends_at_once(kafka, topic, database):
    assert read_span(settings_for(kafka, database, topic, group_id="backfill")) == Tally()


def test_topics_of_a_pattern_are_read(kafka, database):
    name = new_topic_name()
    for number in (1, 2):
        produce(kafka, create_topic(kafka, f"{name}.{number}"), answers(number))
    assert read_span(settings_for(kafka, database, topic_pattern=rf"{name}\..*", group_id="b")).assessed == 2


def test_a_topic_that_is_not_there_is_a_wrong_setting(kafka, database):
    with pytest.raises(WrongSettings, match="no such topic: nowhere"):
        read_span(settings_for(kafka, database, "nowhere", group_id="b"))


def test_a_span_can_be_stopped_and_gone_on_with(kafka, topic, database, rows):
    produce(kafka, topic, answers(*range(300)), partition=0)
    settings = settings_for(kafka, database, topic, group_id="backfill", ingest={"batch_events": 10})
    first = Consumer(settings, span=Span(start=None, end=None))
    until("it has begun", lambda: rows("SELECT 1 FROM interaction"))
    first.stopped()
    second = read_span(settings)
    assert first.tally + second == Tally(received=300, assessed=300)
