"""The list of new answers: each stored answer once, whatever the order of commits, in a bounded number a round."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import psycopg
import pytest
from sqlalchemy import text

from monitor.alert.signal import Signal, SignalKind
from monitor.core.model import Verdict
from monitor.store.alert import new_answers
from monitor.store.alert.new_answers import COLLECTED, KEPT, MOST_TURNS, NewAnswerList
from tests.factories.answers import NOON, a_batch, an_assessment, at
from tests.rig.store.new_answers import PatientList

SCORE = Signal(kind=SignalKind.RANKS, name="score")
REFUSAL = Signal(kind=SignalKind.RANKS, name="refusal")


@pytest.fixture
def listing(engine):
    return PatientList(engine)


def answered(number, **over):
    return an_assessment(**{"id": f"q-{number}", "question": f"question {number}?", **over})


def ids(listing, engine, *, after=None, most=1_000):
    """The ids of the listed answers beyond a place, in order, and the place to go on from."""
    found = listing.read(SCORE, {}, after=after, most=most)
    with engine.connect() as connection:
        chances = {
            new_answers.chance_of(app, id_): id_
            for app, id_ in connection.execute(text("SELECT app, id FROM interaction"))
        }
    return [chances[answer.chance] for answer in found.answers], found.through


def test_each_stored_answer_is_listed_once(engine, writer, listing):
    writer.write(a_batch(*(answered(i) for i in range(3))))
    listing.fill(NOON)
    first, place = ids(listing, engine)
    assert sorted(first) == ["q-0", "q-1", "q-2"]
    listing.fill(NOON)
    writer.write(a_batch(answered(0), answered(3, occurred_at=at(-60 * 24 * 20))))  # one again, and one very late
    listing.fill(NOON)
    assert ids(listing, engine, after=place)[0] == ["q-3"]
    assert len(ids(listing, engine)[0]) == 4


def test_an_answer_whose_transaction_ends_late_is_listed_later_and_before_no_other(engine, writer, listing, database):
    with psycopg.connect(database) as slow:
        slow.execute("SELECT pg_current_xact_id()")  # began to write before the others
        writer.write(a_batch(answered(1)))
        NewAnswerList(engine).fill(NOON)
        assert ids(listing, engine) == ([], 0)
        slow.commit()
    listing.fill(NOON)
    assert ids(listing, engine)[0] == ["q-1"]


def test_a_backlog_is_listed_in_bounded_rounds(engine, writer, listing, monkeypatch):
    monkeypatch.setitem(new_answers._LIMITS, "most", 2)
    monkeypatch.setattr(new_answers, "MOST_LISTED", 2)
    writer.write(a_batch(*(answered(i) for i in range(5))))
    seen = []
    for _ in range(4):
        listing.fill(NOON)
        seen.append(len(ids(listing, engine)[0]))
    assert seen == [2, 4, 5, 5]


def test_a_rule_reads_a_bounded_number_and_goes_on_from_there(engine, writer, listing):
    writer.write(a_batch(*(answered(i) for i in range(100))))
    listing.fill(NOON)
    found, after = [], None
    for size in (59, 41, 0):
        some, after = ids(listing, engine, after=after, most=60)
        assert len(some) == size
        found += some
    assert len(set(found)) == 100


def test_a_question_answered_alike_counts_once_and_the_same_refusal_to_others_counts(writer, listing):
    flood = [answered(i, question="hi", answer="Hello!") for i in range(50)]
    refusals = [answered(100 + i, answer="I do not know.", verdict=Verdict.REFUSAL) for i in range(3)]
    writer.write(a_batch(*flood))
    listing.fill(NOON)
    writer.write(a_batch(*refusals, answered(60, question="hi", answer="Hello!")))
    listing.fill(NOON)
    found = listing.read(REFUSAL, {}, after=None, most=1_000).answers
    assert sorted(answer.value for answer in found) == [0, 1, 1, 1]


def test_a_conversation_is_placed_once_with_the_answers_of_its_first_half_hour(engine, writer, listing):
    writer.write(a_batch(answered(1, conversation_id="c")))
    listing.fill(NOON)
    writer.write(a_batch(answered(2, conversation_id="c"), answered(3)))
    listing.fill(NOON + timedelta(minutes=1))
    assert ids(listing, engine)[0] == ["q-3"]
    listing.fill(NOON + COLLECTED)
    together = listing.read(SCORE, {}, after=None, most=1_000).answers
    assert [answer.place for answer in together][1:] == [together[-1].place] * 2
    writer.write(a_batch(answered(4, conversation_id="c")))
    listing.fill(NOON + 3 * COLLECTED)
    assert len(ids(listing, engine)[0]) == 3


def test_a_conversation_of_many_turns_counts_with_its_first_ones(engine, writer, listing):
    writer.write(a_batch(*(answered(i, conversation_id="endless") for i in range(MOST_TURNS + 30))))
    listing.fill(NOON)
    listing.fill(NOON + COLLECTED)
    assert len(ids(listing, engine)[0]) == MOST_TURNS


def test_a_clock_set_back_keeps_no_conversation_waiting(engine, writer, listing):
    writer.write(a_batch(answered(1, conversation_id="c")))
    listing.fill(NOON + timedelta(days=365))
    listing.fill(NOON)
    assert ids(listing, engine)[0] == ["q-1"]


def test_a_rescore_and_a_revision_are_not_new(engine, writer, listing):
    writer.write(a_batch(answered(1)))
    listing.fill(NOON)
    with engine.begin() as connection:
        connection.execute(text("UPDATE assessment SET p_self_generated = 0.9, revised_at = now()"))
    listing.fill(NOON)
    assert len(ids(listing, engine)[0]) == 1


def test_old_answers_leave_the_list_and_not_the_order(engine, writer, listing):
    writer.write(a_batch(answered(1)))
    listing.fill(NOON)
    _, place = ids(listing, engine)
    listing.fill(NOON + KEPT + timedelta(minutes=1))
    assert ids(listing, engine)[0] == []
    writer.write(a_batch(answered(2)))
    listing.fill(NOON + KEPT + timedelta(minutes=1))
    assert ids(listing, engine, after=place)[0] == ["q-2"]


def test_the_list_keeps_so_many_different_answers_however_many_are_repeated(engine, writer, listing, monkeypatch):
    monkeypatch.setattr(new_answers, "MOST_KEPT", 6)
    for first in range(0, 8, 2):
        new = [answered(first), answered(first + 1)]
        repeats = [answered(f"{first}-{i}", question=f"question {i % 2}?") for i in range(40)]
        writer.write(a_batch(*new, *repeats))
        listing.fill(NOON)
    assert sorted(ids(listing, engine)[0]) == [f"q-{n}" for n in range(2, 8)]


def test_a_database_restored_elsewhere_lists_nothing_again(engine, writer, listing):
    writer.write(a_batch(answered(1)))
    listing.fill(NOON)
    with engine.begin() as connection:  # numbers of transactions that are still to come
        connection.execute(text("UPDATE new_answer_progress SET transaction_id = transaction_id + 1000000"))
        connection.execute(text("UPDATE assessment SET transaction_id = txid_current() + 3"))
        connection.execute(text("DELETE FROM new_answer"))
    for _ in range(5):
        NewAnswerList(engine).fill(NOON + timedelta(hours=1))
        with engine.begin() as connection:
            connection.execute(text("SELECT pg_current_xact_id()"))
    listing.fill(NOON + timedelta(hours=1))
    assert ids(listing, engine)[0] == []


def test_a_selector_and_a_missing_value_leave_answers_out(writer, listing):
    one = answered(1)
    without = replace(one.metrics, qrd=None)
    writer.write(a_batch(one, replace(answered(2), metrics=without), answered(3, app="bank")))
    listing.fill(NOON)
    qrd = Signal(kind=SignalKind.RANKS, name="qrd")
    found = listing.read(qrd, {"app": (one.interaction.app,)}, after=None, most=1_000).answers
    assert len(found) == 1
