"""Turns without scores, and revisions: whatever was stored gives way to what came later, and every count follows."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import psycopg
import pytest

from monitor.core.batch import Tally
from monitor.core.errors import Retriable
from monitor.core.model import Mark, Unscored, Verdict
from monitor.core.pending import Work
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.verify import verify
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.ledger import Ledger
from monitor.store.pending.finish import finish_assessed
from monitor.store.pending.queue import PendingQueue
from tests.factories.answers import NOON, a_batch, an_assessment, an_interaction, at
from tests.rig.audit.shipped import standalone
from tests.rig.store.audit_trail import APP, Trail
from tests.rig.store.keys import KEY, QUEUE_KEY
from tests.rig.store.pending_work import Reader, assessed, claim

OUTCOMES = ("assessed", "pending", "unscored")
STORED = (
    "SELECT question, answer, model, unscored, replaced_at IS NOT NULL, occurred_at, source_offset FROM interaction"
)
COUNTED = """
    SELECT (SELECT coalesce(sum(total), 0)::int FROM verdict_minute),
        (SELECT coalesce(sum(total), 0)::int FROM verdict_hour),
        (SELECT coalesce(sum(turns), 0)::int FROM unscored_minute)
"""


@pytest.fixture
def trail(engine, database):
    return Trail(engine, database)


@pytest.fixture
def inbox(writer):
    return Reader(writer)


@pytest.fixture
def queue(engine):
    return PendingQueue(engine)


def turn(outcome, number=0, *, revises=False, **over):
    known = {"id": "t", "answer": f"answer {number}", "model": f"model {number % 2}"}
    reason = Unscored.NO_DOCUMENT_TEXT if outcome == "unscored" else None
    return an_interaction(**{**known, "unscored": reason, "revises": revises, **over})


def counts(engine):
    rows, recounted = Ledger(engine).read(recount=True)
    assert [row for row in rows if not row.balanced] + [one for one in recounted if not one.balanced] == []
    (row,) = rows
    return {name: row.counts[name] for name in ("received", "duplicate", *OUTCOMES) if row.counts[name]}


def proven(trail):
    trail.turn()
    return [finding.sentence for finding in verify(trail.engine, [KEY], QUEUE_KEY, notes=trail.witness.notes).findings]


def audited(trail, tmp_path, capsys):
    """What `verify.py` says of the proof of the turn."""
    with Proofs(trail.engine).snapshot() as proved:
        (tmp_path / "proof.json").write_text(json.dumps(proved.prove("t", APP, [KEY], disclose=False).json()))
    return standalone.main([str(tmp_path / "proof.json"), "--key", KEY]), capsys.readouterr().out


def test_an_unscored_turn_is_stored_and_counted_and_nothing_waits_for_it(inbox, engine, rows, trail):
    turn_ = turn("unscored", answer="")
    assert inbox.write(unscored=[turn_, turn_], assessed=["a"]) == Tally(
        received=3, assessed=1, unscored=1, duplicate=1
    )
    assert counts(engine) == {"received": 3, "assessed": 1, "unscored": 1, "duplicate": 1}
    assert rows("SELECT id, unscored, answer FROM interaction WHERE unscored IS NOT NULL") == [
        ("t", "no_document_text", "")
    ]
    assert rows("SELECT app, environment, reason, turns FROM unscored_minute") == [
        (APP, turn_.environment, "no_document_text", 1)
    ]
    assert rows("SELECT * FROM pending") == []
    assert proven(trail) == []


@pytest.mark.parametrize(("before", "after"), list(product(OUTCOMES, OUTCOMES)))
def test_a_revision_replaces_what_is_stored_and_every_count_follows(before, after, inbox, engine, rows, trail):
    inbox.write(**{before: [turn(before)]})
    trail.turn()
    later = turn(after, 1, revises=True, occurred_at=at(90))
    assert inbox.write(**{after: [later]}) == Tally(received=1, duplicate=1)
    assert counts(engine) == {"received": 2, after: 1, "duplicate": 1}
    reason = "no_document_text" if after == "unscored" else None
    assert rows(STORED) == [(later.question, "answer 1", "model 1", reason, True, NOON, 0)]
    assert rows(COUNTED) == [(after == "assessed", after == "assessed", after == "unscored")]
    assert rows("SELECT kind FROM pending") == [("assess",)] * (after == "pending")
    live = rows("SELECT live, revised_at IS NOT NULL, earlier IS NOT NULL FROM assessment")
    assert live == [(True, before == "assessed", before == "assessed")] * (after == "assessed")
    if after == "assessed":
        assert rows("SELECT model FROM verdict_minute WHERE total > 0") == [("model 1",)]
    assert proven(trail) == []


def test_a_revised_turn_that_waits_is_assessed_in_its_own_ledger(inbox, writer, engine, queue, trail):
    inbox.write(assessed=[turn("assessed")])
    trail.turn()
    inbox.write(pending=[turn("pending", 1, revises=True)])
    (claimed,) = claim(queue, Work.ASSESS)
    assert claimed.interaction.answer == "answer 1"
    assert finish_assessed(writer, assessed([claimed])) == 1
    assert counts(engine) == {"received": 2, "assessed": 1, "duplicate": 1}
    assert proven(trail) == []


def test_work_on_earlier_texts_is_not_stored(inbox, writer, queue, engine, rows):
    inbox.write(pending=[turn("pending")])
    claims = claim(queue, Work.ASSESS)
    inbox.write(assessed=[turn("assessed", 1, revises=True)])
    assert finish_assessed(writer, assessed(claims)) == 0
    assert counts(engine) == {"received": 2, "assessed": 1, "duplicate": 1}
    assert rows("SELECT count(*) FROM assessment") == [(1,)]


def test_a_verdict_under_another_profile_gives_way_too_and_is_kept(rows, trail):
    first, second = (an_assessment(interaction=turn("assessed", n, revises=n > 0)) for n in (0, 1))
    trail.write(replace(first, profile_hash="old", verdict=Verdict.REFUSAL))
    trail.turn()
    trail.write(second)
    assert rows("SELECT profile_hash, earlier ->> 'profile_hash', earlier ->> 'verdict' FROM assessment") == [
        (second.profile_hash, "old", "refusal")
    ]
    assert proven(trail) == []


def test_of_several_revisions_the_last_counts_whatever_the_order_of_outcomes(
    inbox, engine, rows, trail, tmp_path, capsys
):
    steps = ["unscored", "assessed", "pending", "assessed", "unscored", "unscored", "assessed"]
    for number, outcome in enumerate(steps):
        inbox.write(**{outcome: [turn(outcome, number, revises=number > 0)]})
        if number % 2:
            trail.turn()
    assert rows(STORED)[0][1] == "answer 6"
    assert counts(engine) == {"received": 7, "assessed": 1, "duplicate": 6}
    assert rows(COUNTED) == [(1, 1, 0)]
    assert proven(trail) == []
    code, said = audited(trail, tmp_path, capsys)
    assert (code, "6 revised records name the record before them" in said) == (0, True), said


def test_a_turn_that_is_revised_over_and_over_stays_small(inbox, rows, trail):
    inbox.write(assessed=[turn("assessed")])
    for number in range(1, 21):
        inbox.write(assessed=[turn("assessed", number, revises=True)])
    ((earlier,),) = rows("SELECT earlier FROM assessment")
    states = []
    while earlier is not None:
        states.append(earlier)
        earlier = earlier.get("earlier")
    assert [state.get("revised_at") is None for state in states] == [False] * 7 + [True], "and the first stays"
    assert proven(trail) == []


def test_a_turn_and_its_revisions_in_one_batch(inbox, engine, rows, trail):
    tally = inbox.write(
        assessed=["other", turn("assessed")],
        unscored=[turn("unscored", 1, revises=True), turn("unscored", 2, revises=True)],
    )
    assert tally == Tally(received=4, assessed=2, duplicate=2)
    assert counts(engine) == {"received": 4, "assessed": 1, "unscored": 1, "duplicate": 2}
    assert rows(COUNTED) == [(1, 1, 1)]
    assert rows("SELECT answer FROM interaction WHERE id = 't'") == [("answer 2",)]
    assert proven(trail) == []


def test_a_revision_of_nothing_is_stored_as_new_and_an_older_one_does_not_undo_it(writer, inbox, rows):
    late = replace(turn("unscored", 1, revises=True))
    assert inbox.write(assessed=[turn("assessed", 2, revises=True)]) == Tally(received=1, assessed=1)
    before = rows(STORED)
    earlier = replace(late, position=inbox.place(0))
    assert writer.write(a_batch_of(earlier)) == Tally(received=1, duplicate=1)
    assert rows(STORED) == before


def test_a_revision_that_says_the_same_changes_nothing(inbox, rows):
    inbox.write(assessed=[turn("assessed")])
    before = rows("SELECT * FROM interaction"), rows("SELECT * FROM assessment")
    inbox.write(assessed=[turn("assessed", revises=True)])
    assert (rows("SELECT * FROM interaction"), rows("SELECT * FROM assessment")) == before


def test_an_interaction_that_another_producer_stored_under_the_same_id_is_not_replaced(writer, inbox, rows):
    inbox.write(assessed=[turn("assessed")])
    before = rows("SELECT * FROM interaction"), rows("SELECT * FROM assessment")
    forged = [turn("unscored", 1), turn("unscored", 2, revises=True)]
    assert Reader(writer, topic="otlp").write(unscored=forged) == Tally(received=2, duplicate=2)
    assert (rows("SELECT * FROM interaction"), rows("SELECT * FROM assessment")) == before


def test_an_erased_turn_stays_erased_and_one_that_retention_removed_stays_away(inbox, engine, rows, trail):
    inbox.write(assessed=[turn("assessed"), turn("assessed", id="gone", occurred_at=NOON.replace(month=1))])
    trail.erase("t")
    trail.retain(NOON.replace(month=2))
    revisions = [
        turn("assessed", 1, revises=True),
        turn("unscored", 1, revises=True, id="gone", occurred_at=NOON.replace(month=1)),
    ]
    assert inbox.write(assessed=revisions[:1], unscored=revisions[1:]) == Tally(received=2, duplicate=2)
    assert rows("SELECT id, answer, marks FROM interaction") == [("t", "", [Mark.ERASED.value])]
    assert counts(engine) == {"received": 4, "assessed": 2, "duplicate": 2}
    assert proven(trail) == []


def test_a_revised_turn_that_lost_its_verdict_goes_with_retention(inbox, trail, rows):
    inbox.write(assessed=[turn("assessed")])
    trail.turn()
    inbox.write(unscored=[turn("unscored", 1, revises=True)])
    trail.turn()
    trail.retain(at(60))
    assert rows("SELECT count(*) FROM interaction") == [(0,)]
    assert proven(trail) == []


def test_labels_stay_with_a_revised_turn(inbox, trail, rows):
    inbox.write(assessed=[turn("assessed", id="q-0-1"), turn("assessed", id="q-0-2")])
    trail.people()
    inbox.write(unscored=[turn("unscored", 1, id="q-0-1", revises=True)])
    assert rows("SELECT interaction_id, label FROM review ORDER BY 1") == [("q-0-1", "refusal"), ("q-0-2", "refusal")]
    assert proven(trail) == []


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE interaction SET answer = 'forged'",
        "UPDATE interaction SET unscored = 'no_retrieval'",
        "UPDATE interaction SET unscored = NULL, replaced_at = NULL, replaced_offset = NULL",
        "UPDATE interaction SET replaced_at = replaced_at + interval '1 s'",
        "UPDATE interaction SET replaced_offset = 7",
    ],
)
@pytest.mark.parametrize("revised", [False, True])
def test_what_is_changed_without_a_sealed_revision_is_found(change, revised, inbox, rows, trail):
    inbox.write(unscored=[turn("unscored")])
    if revised:
        inbox.write(unscored=[turn("unscored", 1, revises=True)])
    assert proven(trail) == []
    before = rows("SELECT * FROM interaction")
    rows(change)
    assert before == rows("SELECT * FROM interaction") or any("of t in support-bot" in said for said in proven(trail))


def test_an_assessment_that_goes_without_a_sealed_revision_is_found(inbox, rows, trail):
    inbox.write(assessed=[turn("assessed")])
    inbox.write(assessed=[turn("assessed", 1, revises=True)])
    assert proven(trail) == []
    rows("DELETE FROM assessment")
    assert any("is not stored, and its interaction is" in said for said in proven(trail))


def test_earlier_content_that_is_put_back_is_found(inbox, rows, trail):
    inbox.write(unscored=[turn("unscored")])
    rows("CREATE TABLE before AS SELECT * FROM interaction")
    inbox.write(unscored=[turn("unscored", 1, revises=True)])
    assert proven(trail) == []
    rows("DELETE FROM interaction; INSERT INTO interaction SELECT * FROM before")
    assert any("was changed" in said for said in proven(trail))


def test_killed_in_between_it_is_revised_once(inbox, engine, rows, monkeypatch):
    inbox.write(assessed=[turn("assessed")])
    before = rows("SELECT * FROM interaction")
    with monkeypatch.context() as broken:
        broken.setattr(Writer, "recount_unscored", _no_connection)
        with pytest.raises(Retriable):
            inbox.write(unscored=[turn("unscored", 1, revises=True)])
    assert rows("SELECT * FROM interaction") == before
    assert inbox.write(unscored=[turn("unscored", 1, revises=True)]) == Tally(received=1, duplicate=1)
    assert counts(engine) == {"received": 2, "unscored": 1, "duplicate": 1}


def _no_connection(*_args, **_over):
    raise psycopg.OperationalError("the connection is gone")


def a_batch_of(*unscored):
    return a_batch(unscored=unscored, received=len(unscored))
