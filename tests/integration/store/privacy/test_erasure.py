"""Erasure on a real server: what goes, what stays, and the act that records it."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.assess.explain_json import findings_json
from monitor.cli.explain.panel import explanation
from monitor.core.message import Offset
from monitor.core.model import Mark, Verdict
from monitor.core.pending import Work
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.interaction.rows import interaction_of
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger
from monitor.store.pending.finish import finish_assessed
from monitor.store.pending.queue import PendingQueue
from monitor.store.privacy.erasure import FIELDS, Erasure, ErasureTarget
from monitor.store.tables.interactions import SCORE_BEFORE_JUDGE
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, clock
from tests.factories.conversations import FOLLOW_UP, READ_AS, a_follow_up
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.privacy import APP, OF_CONVERSATION, SECRET, erase, everything, surround, told


@pytest.fixture
def erasure(engine):
    return Erasure(engine)


def test_nothing_of_what_was_said_is_left_in_any_table(database, writer, erasure):
    writer.write(a_batch(told("q-1", NOON), told("q-2", NOON)))
    for id_ in ("q-1", "q-2"):
        surround(database, id_, NOON)
    assert everything(database).count(SECRET) > 10
    assert [(one.id, one.erased) for one in erase(erasure)] == [("q-1", False), ("q-2", False)]
    left = everything(database)
    for said in (SECRET, "Jane", "jane", "conversation-7", "4bf92f35", "audit_secret:", "pending:"):
        assert said not in left


def test_verdict_figures_and_times_stay_and_the_row_is_still_an_interaction(database, writer, erasure, rows, engine):
    assessment = told("q-1", NOON, verdict=Verdict.SELF_GENERATED)
    writer.write(a_batch(assessment))
    surround(database, "q-1", NOON)
    heard = '{"judge": {"model": "m", "score": 0.9, "says": "supported", "before": 0.5, "turned": -1}}'
    rows(f"UPDATE assessment SET revised_at = now(), earlier = '{{}}', evidence = evidence || '{heard}'")
    judged = f"evidence -> 'judge', {SCORE_BEFORE_JUDGE}"
    figures = f"SELECT verdict, p_grounded, sda, features, evidence -> 'features', {judged} FROM assessment a"
    before = rows(figures)
    erase(erasure)
    assert rows("SELECT earlier, evidence -> 'alignment' FROM assessment") == [(None, [])]
    assert rows(figures) == before
    assert rows("SELECT score, parts, reason FROM judgement") == [(0.5, {}, None)]
    assert rows("SELECT label, note FROM review") == [("grounded", None)]
    (row,) = AssessmentQueries(engine).with_assessments("q-1", APP)
    it = interaction_of(row)
    assert it.marks == {Mark.ERASED}
    assert (it.question, it.answer, it.retrieved_documents, it.occurred_at) == ("", "", (), NOON)
    assert row["support"] == {"origin": "extractive", "documents": []}


def test_others_keep_what_they_say(database, writer, erasure, rows):
    others = [told("q-2", NOON, conversation_id="conversation-8"), told("q-1", NOON, app="other-bot")]
    writer.write(a_batch(told("q-1", NOON), *others))
    surround(database, "q-2", NOON)
    erase(erasure)
    assert rows("SELECT app, id FROM interaction WHERE question <> '' ORDER BY 1, 2") == [
        ("other-bot", "q-1"),
        (APP, "q-2"),
    ]
    assert rows("SELECT note FROM review") == [(SECRET,)]
    assert rows("SELECT app, id FROM audit_secret ORDER BY 1, 2") == [("other-bot", "q-1"), (APP, "q-2")]


def test_each_is_told_to_the_audit_trail_without_its_words(writer, erasure, rows):
    writer.write(a_batch(told("q-1", NOON), told("q-2", NOON)))
    erase(erasure)
    acts = rows("SELECT app, subject, body FROM audit_queue WHERE kind = 'erasure' ORDER BY seq")
    assert [(app, subject) for app, subject, _ in acts] == [(APP, "q-1"), (APP, "q-2")]
    assert acts[0][2] == {"by": "eve", "at": NOON.isoformat(), "fields": list(FIELDS), "reason_given": True}


def test_erasing_again_finds_it_erased_by_its_id_and_nothing_by_its_conversation(writer, erasure):
    writer.write(a_batch(told("q-1", NOON)))
    erase(erasure)
    assert erasure.find(OF_CONVERSATION) == []
    (one,) = erasure.find(ErasureTarget(app=APP, ids=("q-1",)))
    assert one.erased
    erase(erasure, ErasureTarget(app=APP, ids=("q-1",)))  # does no harm


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (ErasureTarget(app=APP, tag=("user", "jane")), ["q-1"]),
        (ErasureTarget(app=APP, tag=("user", "joe")), ["q-2"]),
        (ErasureTarget(app=APP, ids=("q-2", "q-3")), ["q-2"]),
        (ErasureTarget(app="other", ids=("q-2",)), []),
    ],
)
def test_interactions_are_found_by_id_and_by_tag(writer, erasure, wanted, expected):
    writer.write(a_batch(told("q-1", NOON), told("q-2", NOON, tags={"user": "joe"})))
    assert [one.id for one in erasure.find(wanted)] == expected


def test_the_same_event_again_stays_a_duplicate(writer, erasure, rows):
    writer.write(a_batch(told("q-1", NOON)))
    erase(erasure)
    tally = writer.write(a_batch(told("q-1", NOON)))
    assert tally.duplicate == 1
    assert rows("SELECT question FROM interaction") == [("",)]


def test_a_rescore_brings_nothing_back(database, writer, erasure, rows):
    writer.write(a_batch(told("q-1", NOON)))
    erase(erasure)
    again = Writer(database, clock, group="rescore", rescore="fedcba9876543210", queue_key=QUEUE_KEY)
    tally = again.write(a_batch(told("q-1", NOON, profile_hash="fedcba9876543210")))
    again.close()
    assert (tally.duplicate, tally.pending) == (1, 0)
    assert rows("SELECT count(*) FROM assessment") == [(1,)]


def test_the_ledger_counts_no_erased_interaction_as_pending(writer, erasure, engine):
    its = [told(f"q-{n}", NOON).interaction for n in (1, 2)]
    other = told("q-3", NOON, conversation_id="conversation-8").interaction
    first = Offset(topic="answers", partition=0, expected=None, next=4, begin=1, received=3)
    writer.write(a_batch(pending=(*its, other), offsets=(first,)))
    erase(erasure)
    erase(erasure, ErasureTarget(app=APP, ids=("q-1",)))  # counts nothing twice
    (row,), (recount,) = Ledger(engine).read(recount=True)
    assert {name: row.counts[name] for name in ("received", "assessed", "pending", "called_off")} == {
        "received": 3,
        "assessed": 2,
        "pending": 1,
        "called_off": 2,
    }
    assert (row.balanced, recount.balanced) == (True, True)


# --- dead letters ---


def test_dead_letters_that_name_it_are_found(writer, erasure, rows):
    writer.write(a_batch(told("q-1", NOON)))
    letters = (
        b'{"conversation_id": "conversation-7"}',
        b'{"id": "q-1"',
        b"conversation-7 without any JSON",
        b'{"id": "q-10"}',
        b"q-1 without quotes is too short to be sure",
        b"\xff\xfe",
    )
    dead = tuple(a_dead_letter(value, offset=i) for i, value in enumerate(letters, start=10))
    keyed = a_dead_letter(b"nothing", offset=20, key=b"conversation-7")
    headed = a_dead_letter(b"nothing", offset=21, headers=(("conversation", b"conversation-7"),))
    writer.write(a_batch(dead_letters=(*dead, keyed, headed)))
    found = erasure.dead_letters(OF_CONVERSATION, erasure.find(OF_CONVERSATION))
    assert rows("SELECT position FROM dead_letter WHERE id = ANY(%s) ORDER BY 1", found) == [
        (10,),
        (11,),
        (12,),
        (20,),
        (21,),
    ]


def test_an_erased_interaction_can_be_explained(writer, erasure, engine):
    writer.write(a_batch(told("q-1", NOON)))
    erase(erasure)
    (row,) = AssessmentQueries(engine).with_assessments("q-1", APP)
    assert findings_json(row, None)["sentences"] == []
    assert explanation(row)


def test_a_worker_that_is_at_it_stores_nothing_afterwards(writer, erasure, engine, rows):
    it = told("q-1", NOON).interaction
    writer.write(a_batch(pending=(it,)))
    (claim,) = PendingQueue(engine).claim([Work.ASSESS], NOON, most=1, lease=timedelta(minutes=5))
    erase(erasure)
    finish_assessed(writer, [(claim, an_assessment(interaction=it))])
    assert rows("SELECT count(*) FROM assessment") == [(0,)]


def test_no_words_of_an_erased_turn_are_left_in_the_follow_ups_that_borrowed_them(database, writer, erasure, engine):
    first, after = a_follow_up(app=APP)
    writer.write(a_batch(first, after))
    (row,) = AssessmentQueries(engine).with_assessments("q-2", APP)
    assert row["read_as"]["text"] == READ_AS
    erasure.erase(APP, erasure.find(ErasureTarget(app=APP, ids=("q-1",))), by="eve", reason_given=True, now=NOON)
    left = everything(database)
    assert not any(said in left for said in ("premium", "Jane Doe", "jane@shop.example"))
    (row,) = AssessmentQueries(engine).with_assessments("q-2", APP)
    assert row["question"] == FOLLOW_UP
    assert row["read_as"]["text"] is None
    assert row["read_as"]["problem"] == "the turn q-1 is no longer stored, or was erased"
    assert row["read_as"]["borrowed"] == [{"id": "q-1", "text": None}]


def test_an_erased_follow_up_says_no_more_how_it_was_read(writer, erasure, engine, rows):
    writer.write(a_batch(*a_follow_up(app=APP)))
    erasure.erase(APP, erasure.find(ErasureTarget(app=APP, ids=("q-2",))), by="eve", reason_given=True, now=NOON)
    assert rows("SELECT evidence ? 'standalone_question' FROM assessment WHERE id = 'q-2'") == [(False,)]
    (row,) = AssessmentQueries(engine).with_assessments("q-2", APP)
    assert row["read_as"] is None
