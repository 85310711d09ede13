"""Reading progress in a real database."""

from __future__ import annotations

from datetime import timedelta

import pytest
from typer.testing import CliRunner

from monitor.alert.window import Count, Counts
from monitor.cli.alert.commands import alerts_app
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.message import Offset, Position, Progress, Skip
from monitor.store.database import connect
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.progress import FORGOTTEN, ReadingStore
from tests.factories.answers import NOON, a_batch, an_assessment, at, clock
from tests.rig.ingest.consuming import answers, consuming, settings_for
from tests.rig.ingest.kafka_cluster import create_topic, new_topic_name, produce
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.waiting import until


@pytest.fixture
def store(engine):
    return ReadingStore(engine)


def reached(minute, *, topic="rag", partition=0, behind=0):
    return Progress(topic=topic, partition=partition, through=at(minute), behind=behind)


def seconds(value):
    return (Count(total=1, sum=value, squares=value**2),)


def test_what_a_group_does_not_read_any_more_is_forgotten(store):
    store.note("monitor", [reached(1, topic="old"), reached(3, topic="new")], at(3))
    store.note("others", [reached(2, topic="theirs")], at(3))
    store.keep("monitor", ["new"])
    assert [lag.labels["source"] for lag in store.lags(at(3))] == ["new", "theirs"]
    store.keep("others", ())
    assert [lag.labels["source"] for lag in store.lags(at(3))] == ["new"]
    assert store.watermark(at(3)) == at(3)


def test_a_person_forgets_a_source_by_its_name(store, database, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    store.note("monitor", [reached(0), reached(5, topic="other")], at(5))
    done = CliRunner().invoke(alerts_app, ["forget", "rag"])
    assert (done.exit_code, done.stdout) == (0, "rag is forgotten until it is read again\n")
    assert store.watermark(at(5)) == at(5)
    again = CliRunner().invoke(alerts_app, ["forget", "rag"])
    assert isinstance(again.exception, WrongSettings)


def test_a_person_forgets_a_followed_file_by_a_path_from_here(store, database, monkeypatch, tmp_path):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.chdir(tmp_path)
    store.note("monitor", [reached(0, topic=f"{tmp_path.resolve()}/answers.jsonl")], at(5))
    assert CliRunner().invoke(alerts_app, ["forget", "answers.jsonl"]).exit_code == 0
    assert store.watermark(at(5)) is None


def test_where_nobody_reads_nothing_is_known(store):
    store.note("monitor", (), NOON)
    assert store.watermark(NOON) is None
    assert store.lags(NOON) == []


def test_the_slowest_partition_says_how_far_all_is_stored(store):
    store.note("monitor", [reached(3), reached(1, partition=1, behind=7), reached(2, topic="other")], at(3))
    assert store.watermark(at(3)) == at(1)
    assert store.lags(at(3)) == [
        Counts(labels={"source": "other"}, counts=seconds(60.0)),
        Counts(labels={"source": "rag"}, counts=seconds(120.0)),
    ]
    assert store.unread(at(3)) == {"rag": 7, "other": 0}


def test_how_far_never_goes_back(store):
    store.note("monitor", [reached(5)], at(5))
    store.note("monitor", [reached(2, behind=9)], at(6))
    assert store.watermark(at(6)) == at(5)
    assert store.unread(at(6)) == {"rag": 9}


def test_a_reader_that_died_ages_and_holds_nothing_up_after_a_day(store):
    store.note("monitor", [reached(0)], at(0))
    store.note("monitor", [reached(0, topic="other")], at(0))
    almost = at(0) + FORGOTTEN - timedelta(seconds=1)
    assert store.lags(almost)[0].counts == seconds(24 * 3600.0 - 1)
    store.note("monitor", [Progress(topic="other", partition=0, through=almost, behind=0)], almost)
    assert store.watermark(almost) == at(0)
    assert store.watermark(at(0) + FORGOTTEN) == almost
    assert store.unread(at(0) + FORGOTTEN) == {"other": 0}
    month = at(0) + timedelta(days=30)
    dead = Counts(labels={"source": "rag"}, counts=seconds(timedelta(days=30).total_seconds() - 1))
    assert dead in store.lags(month - timedelta(seconds=1))  # or the alert about it would end by itself
    assert "rag" not in [lag.labels["source"] for lag in store.lags(month)]


def test_what_was_stopped_on_purpose_is_forgotten_at_once(store):
    store.note("monitor", [reached(0), reached(0, partition=1), reached(5, topic="other")], at(5))
    store.note("yesterday", [reached(0), reached(0, topic="/log/a.jsonl#12-ab"), reached(0, topic="ragged")], at(5))
    assert store.forget("rag") == 3
    assert store.forget("/log/a.jsonl") == 1
    assert store.forget("rag") == 0
    assert [lag.labels["source"] for lag in store.lags(at(5))] == ["other", "ragged"]
    assert store.forget("ragged") == 1
    assert store.watermark(at(5)) == at(5)


def test_of_several_groups_the_furthest_counts(store):
    """What one group has stored counts; the other group may be an earlier name of the same one."""
    store.note("yesterday", [reached(0, behind=3)], at(0))
    store.note("today", [reached(5)], at(5))
    assert store.watermark(at(5)) == at(5)
    assert store.unread(at(5)) == {"rag": 0}


def test_a_clock_that_is_ahead_makes_no_negative_lag(store):
    store.note("monitor", [reached(1)], at(0))
    assert store.lags(at(0))[0].counts == seconds(0.0)
    assert store.watermark(at(0)) == at(0)
    assert store.watermark(at(2)) == at(1)


def test_a_clock_that_was_ahead_and_is_set_right_hides_no_lag(store):
    day = 24 * 60
    store.note("monitor", [reached(day), reached(day, partition=1)], at(day))
    store.note("monitor", [reached(-10, behind=7), reached(0, partition=1)], at(0))
    assert store.lags(at(0))[0].counts == seconds(600.0)
    assert store.watermark(at(5)) == at(-10)
    assert store.last_seen(at(5)) == {"rag": at(0)}


def offset(reached_, **over):
    return Offset(**{"topic": "rag", "partition": 0, "expected": None, "next": reached_, "begin": 0, **over})


def batch(**over):
    position = Position(topic="rag", partition=0, offset=0)
    return a_batch(an_assessment(position=position), offsets=(offset(1, received=1, **over),))


def test_ledgers_that_add_up_are_no_imbalance(store, writer):
    writer.write(batch())
    assert store.imbalances() == [Counts(labels={"source": "rag"}, counts=seconds(0.0))]


def test_a_ledger_that_does_not_add_up_is_one(store, writer):
    writer.write(batch(skipped={Skip.CONTROL: 1}))
    assert store.imbalances() == [Counts(labels={"source": "rag"}, counts=seconds(1.0))]


def test_a_rescores_ledger_is_not_looked_at(store, database):
    writer = Writer(database, clock, group="again", rescore="0123456789abcdef", queue_key=QUEUE_KEY)
    writer.write(batch(skipped={Skip.CONTROL: 1}))
    writer.close()
    assert store.imbalances() == []


def test_no_database_is_retriable():
    engine = connect("postgresql://127.0.0.1:1/nothing")
    for ask in (ReadingStore(engine).watermark, ReadingStore(engine).lags):
        with pytest.raises(Retriable):
            ask(NOON)
    engine.dispose()


# over a real broker


def test_a_consumer_tells_how_far_it_is_idle_partitions_too(kafka, database, store, rows):
    topic = create_topic(kafka, new_topic_name(), partitions=2)
    produce(kafka, topic, answers(1, 2, 3), partition=1)

    def through():
        return dict(rows("SELECT partition, through FROM reading WHERE behind = 0"))

    with consuming(settings_for(kafka, database, topic)) as consumer:
        first = until("both are told of", lambda: len(found := through()) == 2 and found)
        later = until("both are looked at again", lambda: all(through()[p] > first[p] for p in first) and through())
        produce(kafka, topic, answers(4), partition=0)
        until("it is stored", lambda: rows("SELECT 1 FROM interaction WHERE id = 'q-4'"))
        consumer.stopped()
    (names,) = rows("SELECT DISTINCT group_id, topic FROM reading")
    assert names == ("monitor", topic)
    last = max(through().values())
    assert store.watermark(last) == min(through().values()) >= min(later.values())


def test_a_consumer_that_is_behind_says_so(kafka, database, rows):
    """Messages arrived last year, and a lock holds up the writer."""
    topic = create_topic(kafka, new_topic_name())
    produce(kafka, topic, answers(*range(5)), timestamp_ms=1_700_000_000_000)
    with consuming(settings_for(kafka, database, topic, ingest={"batch_events": 1})):
        until("it has caught up", lambda: rows("SELECT 1 FROM reading WHERE through > '2025-01-01' AND behind = 0"))
    assert rows("SELECT count(*) FROM interaction") == [(5,)]


def test_a_span_tells_nothing(kafka, database, rows):
    topic = create_topic(kafka, new_topic_name())
    produce(kafka, topic, answers(1))
    from tests.rig.ingest.consuming import read_span  # noqa: PLC0415

    read_span(settings_for(kafka, database, topic))
    assert rows("SELECT count(*) FROM interaction") == [(1,)]
    assert rows("SELECT * FROM reading") == []
