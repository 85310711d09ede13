"""Statements of completeness, as an auditor reads them, against everybody who holds the database and not the key."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import text

from monitor.audit.finding import Fault
from monitor.core.message import Offset, Position, Skip
from monitor.store.audit import statements
from monitor.store.audit.acts import act_body
from monitor.store.audit.checks.positions import _in_no_leaf, state_gaps
from monitor.store.audit.verify import verify
from monitor.store.deadletters.dead_letters import DeadLetters, LetterFilter, settle
from monitor.store.interaction.writer import Writer
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, clock
from tests.rig.store.audit_trail import APP, Trail
from tests.rig.store.keys import KEY, QUEUE_KEY

OLD = NOON.replace(month=NOON.month - 1)


def told(offset, **over):
    position = Position(topic="answers", partition=3, offset=offset)
    return an_assessment(**{"id": f"q-{offset}", "position": position, **over})


class Reader:
    """Reads a partition as a process of a group does: a batch at a time, each from where the last one ended."""

    def __init__(self, trail, group="monitor", topic_id="A"):
        self.trail, self.group, self.topic_id, self.expected = trail, group, topic_id, None
        self.writer = Writer(trail.database, clock, queue_key=QUEUE_KEY, group=group)

    def read(self, first, end, *answers, dead=(), **skipped):
        letters = tuple(a_dead_letter(topic="answers", offset=at) for at in dead)
        letters = tuple(_in_partition(letter) for letter in letters)
        skips = {Skip(name): number for name, number in skipped.items()}
        offset = Offset(
            topic="answers",
            partition=3,
            expected=self.expected,
            begin=first,
            next=end,
            received=len(answers) + len(letters),
            skipped=skips,
            topic_id=self.topic_id,
        )
        self.expected = end
        self.writer.write(a_batch(*answers, dead_letters=letters, offsets=(offset,)))

    def again(self):
        """The next process, which knows what the store says."""
        self.writer.close()
        successor = Reader(self.trail, self.group, self.topic_id)
        with self.trail.engine.connect() as connection:
            query = text("SELECT next_offset FROM consumer_offset WHERE group_id = :group")
            successor.expected = connection.scalar(query, {"group": self.group})
        return successor


def _in_partition(letter):
    position = replace(letter.message.position, partition=3)
    return replace(letter, message=replace(letter.message, position=position))


@pytest.fixture
def trail(engine, database):
    return Trail(engine, database)


@pytest.fixture
def reader(trail):
    """Has read seven offsets in three batches, with every outcome; all of it is sealed."""
    reader = Reader(trail)
    reader.read(10, 13, told(10), told(11), told(12))
    reader.read(13, 16, told(13, id="q-10"), dead=(14,), control=1)
    reader.read(16, 17, told(16))
    trail.turn()
    yield reader
    reader.writer.close()


@pytest.fixture
def run(trail):
    def statements(*given):
        with trail.engine.begin() as connection:
            for one in given:
                connection.exec_driver_sql(one)

    return statements


def verified(trail):
    return verify(trail.engine, [KEY], QUEUE_KEY, notes=trail.witness.notes)


def findings(trail):
    return [(one.fault, one.sentence) for one in verified(trail).findings]


def test_the_statements_say_together_what_became_of_every_offset(trail, reader):
    found = verified(trail)
    assert found.findings == ()
    (covered,) = found.covered
    assert (covered.topic, covered.partition, covered.group) == ("answers", 3, "monitor")
    assert (covered.first, covered.next, covered.statements, covered.gaps) == (10, 17, 3, [])
    assert (covered.stored, covered.duplicate, covered.dead, dict(covered.skipped)) == (4, 1, 1, {"control": 1})
    assert covered.stored + covered.duplicate + covered.dead + covered.skipped.total() == 17 - 10
    # also while the next one waits to be sealed
    reader.read(17, 18, told(17))
    assert (verified(trail).findings, verified(trail).covered[0].next) == ((), 18)


def test_who_takes_the_last_batch_out_of_the_queue_must_have_it_read_again(trail, reader, run):
    reader.read(17, 19, told(17), told(18))
    rows = [f"DELETE FROM {table} WHERE id IN ('q-17', 'q-18')" for table in ("interaction", "assessment")]
    rows += [f"DELETE FROM {table} WHERE id IN ('q-17', 'q-18')" for table in ("interaction_key", "audit_secret")]
    run("DELETE FROM audit_queue", *rows)
    trail.turn()
    passed = "offsets 17 to 18 of answers/3 were passed over by the group monitor"
    assert [sentence.startswith(passed) for _, sentence in findings(trail)] == [True]  # though no process goes on
    run("UPDATE consumer_offset SET next_offset = 17")
    assert findings(trail) == []
    successor = reader.again()
    successor.read(17, 19, told(17), told(18))
    successor.writer.close()
    trail.turn()
    assert findings(trail) == []


def test_who_moves_the_stored_offset_on_leaves_a_gap_that_stays(trail, reader, run):
    run("UPDATE consumer_offset SET next_offset = 20")
    successor = reader.again()
    successor.read(20, 21, told(20))
    successor.writer.close()
    trail.turn()
    sentence = (
        "offsets 17 to 19 of answers/3 were passed over by the group monitor: no sealed statement says what became of "
        "them"
    )
    assert findings(trail) == [(Fault.POSITIONS, sentence)]


def test_who_forgets_the_stored_offset_so_that_reading_begins_at_the_end_leaves_a_gap_too(trail, reader, run):
    run("DELETE FROM consumer_offset")
    successor = reader.again()
    successor.read(30, 31, told(30))
    successor.writer.close()
    trail.turn()
    assert [fault for fault, _ in findings(trail)] == [Fault.POSITIONS]


def test_who_takes_one_answer_of_a_batch_out_of_the_queue_is_named_its_offset(trail, reader, run):
    reader.read(17, 20, told(17), told(18), told(19))
    tables = ("interaction", "assessment", "audit_secret", "interaction_key")
    run("DELETE FROM audit_queue WHERE subject = 'q-18'", *(f"DELETE FROM {name} WHERE id = 'q-18'" for name in tables))
    trail.turn()
    sentence = "offset 18 of answers/3 was stored, and no leaf holds it: it was taken out of the queue"
    assert (Fault.POSITIONS, sentence) in findings(trail)


def test_who_claims_an_id_before_its_answer_comes_is_named(trail, reader, run):
    run(f"INSERT INTO interaction_key (app, id, month) VALUES ('{APP}', 'q-17', '{NOON:%Y-%m-01}')")
    reader.read(17, 18, told(17))
    trail.turn()
    sentence = (
        "offset 17 of answers/3 was called a duplicate of q-17 in support-bot, which no leaf holds: it was kept from "
        "being stored"
    )
    assert findings(trail) == [(Fault.POSITIONS, sentence)]


@pytest.mark.usefixtures("reader")
def test_who_changes_or_removes_a_statement_is_found_as_with_any_leaf(trail, run):
    run("UPDATE audit_leaf SET body = replace(body, '\"next\":13', '\"next\":12') WHERE kind = 'positions'")
    assert Fault.LEAF in {fault for fault, _ in findings(trail)}
    run("UPDATE audit_leaf SET body = replace(body, '\"next\":12', '\"next\":13') WHERE kind = 'positions'")
    assert findings(trail) == []
    run("DELETE FROM audit_leaf WHERE index = (SELECT min(index) + 1 FROM audit_leaf WHERE kind = 'positions')")
    assert Fault.LEAF in {fault for fault, _ in findings(trail)}


@pytest.mark.usefixtures("reader")
def test_who_queues_a_statement_without_the_key_fills_no_gap(trail, run):
    run("UPDATE consumer_offset SET next_offset = 20")
    forged = "replace(replace(body, '\"next\":17', '\"next\":20'), '\"first\":16', '\"first\":17')"
    copied = (
        "INSERT INTO audit_queue (kind, app, subject, queued_at, records, source, number, mac) SELECT 'positions', '', "
        f"'answers/3', now(), {forged}, 'x', 1, 'x' FROM audit_leaf WHERE position('\"next\":17' IN body) > 0"
    )
    run(copied)
    trail.turn()
    assert {fault for fault, _ in findings(trail)} == {Fault.POSITIONS, Fault.QUEUE}


def test_a_gap_of_an_earlier_release_is_accounted_for_by_name_and_shown_ever_after(trail, reader, run):
    run("UPDATE consumer_offset SET next_offset = 20")  # as a process without statements does
    reader.expected = 20
    reader.read(20, 21, told(20))
    trail.turn()
    assert state_gaps(trail.engine, by="ada", now=NOON) == 1
    trail.turn()
    found = verified(trail)
    assert found.findings == ()
    assert found.covered[0].unstated == [(17, 20, "ada", NOON.isoformat())]
    assert state_gaps(trail.engine, by="ada", now=NOON) == 0


def test_a_statement_that_is_sealed_while_gaps_are_looked_for_is_no_gap(trail, reader, monkeypatch):
    reader.read(17, 20, told(17), told(18), told(19))

    def sealed_meanwhile(body):
        monkeypatch.undo()
        trail.turn()
        return act_body(body)

    monkeypatch.setattr(statements, "act_body", sealed_meanwhile)
    assert state_gaps(trail.engine, by="ada", now=NOON) == 0
    assert findings(trail) == []


def test_offsets_are_named_in_the_plural_where_no_leaf_holds_several():
    (finding,) = _in_no_leaf(("answers", 3), [(5, 9)], [])
    said = "offsets 5 to 9 of answers/3 were stored, and no leaf holds them: they were taken out of the queue"
    assert finding.sentence == said


def test_retries_second_groups_new_topics_and_what_the_broker_lost_are_no_gaps(trail, reader):
    letters = DeadLetters(trail.engine)
    ids = letters.page(LetterFilter(), after=0, last=10**6, most=10, most_bytes=10**6)
    (letter,) = letters.open_letters(ids)
    assert settle(reader.writer, [(letter, told(14))], [], NOON)["assessed"] == 1  # the dead one of offset 14
    other = Reader(trail, group="again")
    other.read(10, 17, told(10), told(11), told(12), told(13, id="q-10"), told(14), told(16), control=1)
    other.writer.close()
    reader.read(17, 40, told(38), told(39), expired=21)
    reader.topic_id = "B"  # deleted and made again: it begins with 0
    reader.read(0, 2, told(0, id="new-0"), told(1, id="new-1"))
    trail.erase("q-11")
    trail.retain(NOON)
    trail.turn()
    found = verified(trail)
    assert found.findings == ()
    assert [(its.group, its.first, its.next, its.stored) for its in found.covered] == [
        ("again", 10, 17, 0),
        ("monitor", 10, 40, 6),
        ("monitor", 0, 2, 2),
    ]
    assert found.covered[1].skipped["expired"] == 21


def test_an_answer_too_late_for_a_month_that_retention_has_closed_is_no_finding(trail, reader):
    trail.write(an_assessment(id="old", occurred_at=OLD))
    trail.turn()
    trail.retain(OLD.replace(day=28))
    reader.read(17, 18, told(17, id="late", occurred_at=OLD))
    trail.turn()
    assert findings(trail) == []


def test_a_consumer_of_the_earlier_release_is_covered_from_where_this_one_begins(trail, run):
    run(
        "INSERT INTO consumer_offset (group_id, topic, partition, next_offset, topic_id) "
        "VALUES ('monitor', 'answers', 3, 5000, 'A')"
    )
    reader = Reader(trail)
    reader.expected = 5000
    reader.read(5000, 5001, told(5000))
    reader.writer.close()
    trail.turn()
    found = verified(trail)
    assert (found.findings, found.covered[0].first) == ((), 5000)
