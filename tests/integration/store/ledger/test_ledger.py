"""Reads the ledger from a real server, and recounts it."""

from __future__ import annotations

import pytest

from monitor.core.message import Offset, Position, Skip
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger, LedgerRow, Recount
from tests.factories.answers import a_batch, a_dead_letter, an_assessment, clock
from tests.rig.store.keys import QUEUE_KEY

FILE = "/var/log/a#b.jsonl#17-ab12"


@pytest.fixture
def ledger(engine):
    return Ledger(engine)


def read(writer, topic="answers", partition=0, *, good=2, bad=1, first=0, skipped=None, counts_messages=True):
    """A batch of `good` interactions and `bad` dead letters from `first` on."""
    places = [Position(topic=topic, partition=partition, offset=first + n) for n in range(good + bad)]
    assessments = [an_assessment(id=f"{topic}/{partition}:{at.offset}", position=at) for at in places[:good]]
    letters = [a_dead_letter(topic=topic, position=at) for at in places[good:]]
    skipped = skipped or {}
    offset = Offset(
        topic=topic,
        partition=partition,
        expected=first or None,
        begin=first if counts_messages else None,
        next=first + good + bad + sum(skipped.values()),
        received=good + bad,
        skipped=skipped,
    )
    return writer.write(a_batch(*assessments, dead_letters=tuple(letters), offsets=(offset,)))


def test_nothing_was_read_at_first(ledger):
    assert ledger.read(recount=True) == ([], [])


def test_what_became_of_each_partition_is_there(writer, ledger):
    read(writer, skipped={Skip.TOMBSTONE: 3, Skip.EXPIRED: 4})
    read(writer, partition=1, good=0, bad=2)
    first, second = ledger.read()[0]
    counts = {
        "received": 3,
        "assessed": 2,
        "duplicate": 0,
        "dead": 1,
        "pending": 0,
        "unscored": 0,
        "spanned": 10,
        "tombstone": 3,
        "control": 0,
        "expired": 4,
        "unreadable": 0,
        "collected": 0,
        "purged": 0,
        "called_off": 0,
    }
    assert first == LedgerRow(group="monitor", topic="answers", partition=0, live=True, next_offset=10, counts=counts)
    assert (second.partition, second.counts["dead"], second.counts["assessed"]) == (1, 2, 0)
    assert first.balanced
    assert second.balanced


def test_a_followed_file_has_offsets_that_count_no_messages(writer, ledger):
    read(writer, FILE, counts_messages=False)
    (row,), (recount,) = ledger.read(recount=True)
    assert row.counts["spanned"] == 0
    assert row.balanced
    assert recount == Recount(topic=FILE, partition=0, assessed=2, pending=0, interactions=2, dead=1, letters=1)


def test_rows_are_found_by_group_and_topic(database, writer, ledger):
    other = Writer(database, clock, group="other", queue_key=QUEUE_KEY)
    read(writer)
    read(writer, FILE, counts_messages=False)
    read(other, "questions")
    other.close()

    def found(**wanted):
        return [(row.group, row.topic) for row in ledger.read(**wanted)[0]]

    assert found() == [("monitor", FILE), ("monitor", "answers"), ("other", "questions")]
    assert found(group="other") == [("other", "questions")]
    assert found(topic="answers") == [("monitor", "answers")]
    assert found(topic="/var/log/a#b.jsonl") == found(topic=FILE) == [("monitor", FILE)]
    assert found(group="other", topic="answers") == found(group="nobody") == []


@pytest.mark.parametrize(
    ("change", "unaccounted", "unread"),
    [
        ("received = received + 1", 1, -1),
        ("assessed = assessed + 2", -2, 0),
        ("dead = dead - 1", 1, 0),
        ("pending = 5", -5, 0),
        ("spanned = spanned + 7", 0, 7),
        ("control = 1", 0, -1),
        ("spanned = 0", 0, 0),  # as in a file
        ("purged = 1", 0, 0),
    ],
)
def test_a_row_that_does_not_add_up_says_by_how_much(writer, ledger, rows, change, unaccounted, unread):
    read(writer)
    rows(f"UPDATE consumer_offset SET {change}")
    ((row,), _) = ledger.read()
    assert (row.unaccounted, row.unread) == (unaccounted, unread)
    assert row.balanced == (unaccounted == unread == 0)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("DELETE FROM interaction WHERE source_offset = 0", {"interactions": 1}),
        ("UPDATE interaction SET source_partition = 1 WHERE source_offset = 0", {"interactions": 1}),
        ("DELETE FROM dead_letter", {"letters": 0}),
        ("UPDATE dead_letter SET settled_at = now()", {"letters": 0}),
        ("UPDATE consumer_offset SET purged = 1", {"dead": 0}),
        ("UPDATE consumer_offset SET assessed = 3, received = 4, spanned = 4", {"assessed": 3}),
        ("UPDATE consumer_offset SET pending = 1, received = 4, spanned = 4", {"pending": 1}),
    ],
)
def test_a_recount_finds_what_the_counts_alone_do_not_show(writer, ledger, rows, change, expected):
    read(writer)
    rows(change)
    ((row,), (recount,)) = ledger.read(recount=True)
    assert row.balanced
    assert not recount.balanced
    good = {"assessed": 2, "pending": 0, "interactions": 2, "dead": 1, "letters": 1}
    assert recount == Recount(topic="answers", partition=0, **{**good, **expected})


def test_a_recount_goes_by_all_live_groups_whichever_was_asked_for(database, writer, ledger):
    """What one group has stored is a duplicate to the other, and a rescore stores no interaction."""
    other, rescore = (
        Writer(database, clock, group="other", queue_key=QUEUE_KEY),
        Writer(database, clock, group="rescore-1", rescore=True, queue_key=QUEUE_KEY),
    )
    read(writer)
    for own in (other, rescore):
        read(own, good=3, bad=0)
        own.close()
    rows, recount = ledger.read(group="other", recount=True)
    assert [row.counts["assessed"] for row in rows] == [1]
    assert recount == [Recount(topic="answers", partition=0, assessed=3, pending=0, interactions=3, dead=1, letters=1)]
    (row,), recount = ledger.read(group="rescore-1", recount=True)
    assert not row.live
    assert row.balanced
    assert len(recount) == 1


def test_what_a_replay_stored_is_in_no_ledger(writer, ledger):
    at = Position(topic="answers.jsonl", partition=0, offset=1)
    writer.write(a_batch(an_assessment(position=at), dead_letters=(a_dead_letter(),)))
    assert ledger.read(recount=True) == ([], [])
