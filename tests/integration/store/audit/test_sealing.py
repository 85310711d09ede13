"""Sealing with a real PostgreSQL: which leaves arise, in which order, and how they verify."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from threading import Event

import pytest
from sqlalchemy import text

from monitor.alert.rules.file import load_rules
from monitor.app.privacy.retention import remove
from monitor.assess.classify.profile import load_profile
from monitor.audit.export import Stored
from monitor.audit.finding import Fault
from monitor.audit.key import Signer
from monitor.audit.merkle import leaf_hash, root_of, verify_consistency
from monitor.audit.note import opened
from monitor.core.errors import Fatal
from monitor.core.model import Mark, Verdict
from monitor.core.pending import Work
from monitor.core.retry import Retry
from monitor.privacy.retention import Keeping, Policy
from monitor.store.audit.acts import RulesRecorder
from monitor.store.audit.backfill import PIECE, look_for_missing
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.recovery import Contradicted
from monitor.store.audit.seal import Sealing
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import SEAL_LOCK
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.interaction.writer import Writer
from monitor.store.privacy.retention import Retention
from tests.factories.answers import A_STAND_IN, NOON, a_batch, an_assessment, an_interaction, at, clock
from tests.rig.store.audit_trail import APP, SIGNER, Notes, Trail, a_sealer, a_trail
from tests.rig.store.keys import KEY, QUEUE_KEY

LEAVES = "SELECT index, kind, app, subject, part, body::jsonb FROM audit_leaf ORDER BY index"


@pytest.fixture
def trail(engine, database):
    return Trail(engine, database)


def checked(trail, **over):
    return verify(trail.engine, [KEY], QUEUE_KEY, **{"notes": trail.witness.notes, **over})


def findings(trail, **over):
    return [(one.fault, one.sentence) for one in checked(trail, **over).findings]


def states(trail, id_):
    with Proofs(trail.engine).snapshot() as proved:
        return [record.stored for record in proved.about(id_, APP, disclose=False)]


def test_what_is_stored_becomes_leaves_in_its_order_and_verifies(trail, rows):
    trail.write(an_assessment(id="b"), an_assessment(id="a"))
    assert trail.turn() == 4
    profile = an_assessment().profile_hash
    assert [row[1:5] for row in rows(LEAVES)] == [
        ("interaction", APP, "a", ""),
        ("assessment", APP, "a", profile),
        ("interaction", APP, "b", ""),
        ("assessment", APP, "b", profile),
    ]
    assert rows("SELECT count(*) FROM audit_queue") == [(0,)]
    found = checked(trail)
    assert (found.findings, found.size, found.signed, found.checkpoints) == ((), 4, 4, 1)


def test_no_text_of_anybody_stands_in_a_leaf(trail, rows):
    trail.write(an_assessment(question="UNIQUE-Q", answer="UNIQUE-A", conversation_id="UNIQUE-C"))
    trail.turn()
    assert rows("SELECT count(*) FROM audit_leaf WHERE body LIKE '%%UNIQUE%%' OR body LIKE '%%snapshots%%'") == [(0,)]


def test_a_duplicate_is_not_sealed_again(trail):
    trail.write(an_assessment())
    assert trail.turn() == 2
    trail.write(an_assessment())
    assert trail.turn() == 0
    assert len(trail.witness.notes) == 1


def test_checkpoints_are_of_the_tree_that_only_grew(trail, rows):
    for batch in range(3):
        trail.write(*(an_assessment(id=f"{batch}-{number}") for number in range(150)))
        trail.turn()
    hashes = [bytes(row[0]) for row in rows("SELECT hash FROM audit_leaf ORDER BY index")]
    heads = [opened(note, KEY) for note in trail.witness.notes]
    assert [(head.size, head.root) for head in heads] == [(n, root_of(hashes[:n])) for n in (300, 600, 900)]
    with Proofs(trail.engine).snapshot() as proved:
        steps = proved.consistency([300, 600, 900])
    roots = {head.size: head.root for head in heads}
    assert all(verify_consistency(s.old, s.new, roots[s.old], roots[s.new], s.proof) for s in steps)
    assert rows("SELECT level, index FROM audit_tile ORDER BY 1, 2") == [(0, 0), (0, 1), (0, 2)]
    assert findings(trail) == []


def test_the_same_is_found_by_several_processes_and_from_any_leaf_on(trail):
    trail.write(*(an_assessment(id=f"{number:04}") for number in range(2500)))
    trail.turn()
    with trail.engine.begin() as connection:
        connection.execute(text("UPDATE interaction SET answer = 'forged' WHERE id = '2400'"))
        connection.execute(text("UPDATE assessment SET verdict = 'refusal' WHERE id = '2400'"))
    found = [findings(trail), findings(trail, processes=2)]
    assert found[0] == found[1]
    assert [fault for fault, _ in found[0]] == [Fault.CHANGED, Fault.CHANGED]
    assert found[0][0][1] == "the interaction of 2400 in support-bot, leaf 4800, was changed: answer"
    later = checked(trail, start=4500)
    assert later.start == 4096
    assert [one.index for one in later.findings] == [4800, 4801]
    with trail.engine.begin() as connection:
        connection.execute(text("UPDATE interaction SET answer = 'forged' WHERE id = '0007'"))
    assert [one.index for one in checked(trail, start=4500).findings] == [4800, 4801]


def test_a_revision_is_a_new_leaf_and_what_was_before_holds(trail, rows):
    trail.write(an_assessment(support=A_STAND_IN), follow_ups={Work.SIDECAR})
    trail.turn()
    trail.revise()
    assert [fault for fault, _ in findings(trail)] == []  # it waits to be sealed
    trail.turn()
    assert [row[1] for row in rows(LEAVES)] == ["interaction", "assessment", "assessment"]
    assert findings(trail) == []
    assert states(trail, "q-1") == [Stored.SAME, Stored.REVISED, Stored.SAME]


def test_a_change_that_is_queued_as_if_it_were_a_revision_is_found(trail):
    trail.write(an_assessment())
    trail.turn()
    with trail.engine.begin() as connection:
        connection.execute(text("UPDATE assessment SET verdict = 'refusal'"))
        connection.execute(
            text(
                "INSERT INTO audit_queue (kind, app, subject, part, queued_at)"
                " SELECT 'assessment', app, id, profile_hash, now() FROM assessment"
            )
        )
    assert [fault for fault, _ in findings(trail)] == [Fault.QUEUE, Fault.CHANGED]
    trail.turn()
    assert [fault for fault, _ in findings(trail)] == [Fault.QUEUE, Fault.CHANGED]


def test_what_was_erased_still_proves_and_its_secret_is_gone(trail, rows):
    trail.write(*(an_assessment(id=id_) for id_ in "abc"), follow_ups={Work.JUDGE})
    trail.judge()
    trail.turn()
    trail.erase("b")
    assert findings(trail) == []  # the act waits
    trail.turn()
    assert findings(trail) == []
    assert rows("SELECT id FROM audit_secret ORDER BY id") == [("a",), ("c",)]
    with Proofs(trail.engine).snapshot() as proved:
        assert {record.disclosed for record in proved.about("b", APP, disclose=True)} == {None}
        assert all(record.disclosed for record in proved.about("a", APP, disclose=True))
        stored = {id_: {its.stored for its in proved.about(id_, APP, disclose=False)} for id_ in "ab"}
        assert stored == {"a": {Stored.SAME}, "b": {Stored.ERASED, None}}  # the act is no row


def test_what_is_erased_before_it_is_sealed_is_sealed_as_it_was_and_cannot_be_opened(trail, rows):
    trail.write(an_assessment(id="a"), an_assessment(id="b"))
    trail.erase("a")
    trail.turn()
    assert [row[5].get("gone") for row in rows(LEAVES)] == [None] * 5
    assert states(trail, "a") == [Stored.ERASED, Stored.ERASED, None]
    assert rows("SELECT id FROM audit_secret") == [("b",)]
    assert findings(trail) == []


def test_an_erasure_that_nobody_told_of_is_found(trail):
    trail.write(an_assessment())
    trail.turn()
    with trail.engine.begin() as connection:
        connection.execute(text("DELETE FROM audit_secret"))
    assert {fault for fault, _ in findings(trail)} == {Fault.SECRET}
    assert states(trail, "q-1") == [Stored.DIFFERS, Stored.DIFFERS]


def test_what_is_erased_and_filled_again_is_found(trail):
    trail.write(an_assessment())
    trail.turn()
    trail.erase("q-1")
    trail.turn()
    with trail.engine.begin() as connection:
        connection.execute(text("UPDATE interaction SET answer = 'another'"))
    [(fault, sentence)] = findings(trail)
    assert fault is Fault.CHANGED
    assert sentence.endswith("was erased, and has again: answer")
    assert states(trail, "q-1")[:2] == [Stored.DIFFERS, Stored.ERASED]


def test_retention_accounts_for_what_it_removed_and_for_no_more(trail):
    old = NOON - timedelta(days=9)
    trail.write(*(an_assessment(id=id_, occurred_at=old) for id_ in "ab"), an_assessment(id="c"))
    trail.turn()
    trail.retain(NOON - timedelta(days=1), verdict=Verdict.GROUNDED)
    trail.turn()
    assert findings(trail) == []
    assert states(trail, "a") == [Stored.REMOVED, Stored.REMOVED]
    with trail.engine.begin() as connection:
        for table in ("interaction", "assessment", "audit_secret"):
            connection.execute(text(f"DELETE FROM {table} WHERE id = 'c'"))
    assert [fault for fault, _ in findings(trail)] == [Fault.MISSING, Fault.MISSING]
    assert states(trail, "c") == [Stored.DIFFERS, Stored.DIFFERS]


def test_retention_by_verdict_excuses_neither_other_verdicts_nor_more_than_it_removed(trail):
    old, future = NOON - timedelta(days=9), NOON + timedelta(days=900)
    its = [an_assessment(id=verdict, verdict=verdict, occurred_at=old) for verdict in Verdict]
    future = an_assessment(id="f", occurred_at=future, marks=frozenset({Mark.TIME_OUT_OF_RANGE}))
    with closing(Writer(trail.database, clock, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(*its, future, pending=(an_interaction(id="p", occurred_at=old),)))
    trail.turn()
    day = timedelta(days=1)
    policy = Policy(others=Keeping(keep=day, by_verdict={Verdict.REFUSAL: 75 * day}))
    gone = remove(
        Retention(trail.engine), policy, by="eve", now=NOON + 2 * day, again=Retry(stop=Event(), patience=0.0)
    )
    assert sum(one.due for one in gone) == 4  # not the refusal
    trail.turn()
    assert findings(trail) == []
    with trail.engine.begin() as connection:
        for table in ("interaction", "assessment", "audit_secret"):
            connection.execute(text(f"DELETE FROM {table} WHERE id = 'refusal'"))
    assert [fault for fault, _ in findings(trail)] == [Fault.MISSING, Fault.MISSING]


def test_rows_of_an_earlier_release_are_sealed_a_piece_at_a_time(trail, rows):
    trail.turn()  # the look that a migration asks for
    trail.write(*(an_assessment(id=f"{number:05}") for number in range(PIECE + 5)))
    with trail.engine.begin() as connection:
        connection.execute(text("DELETE FROM audit_queue"))
    assert {fault for fault, _ in findings(trail)} == {Fault.UNSEALED}
    look_for_missing(trail.engine, NOON)
    assert checked(trail).backfilling
    sealing = Sealing(trail.engine)
    while sealing.seal_batch(NOON, SIGNER).more:
        pass
    assert rows(
        "SELECT count(DISTINCT (kind, subject)), count(*) FROM audit_leaf WHERE kind NOT IN ('backfill', 'missing')"
    ) == [(2 * (PIECE + 5),) * 2]
    assert rows("SELECT body::jsonb -> 'body' -> 'rows' FROM audit_leaf WHERE kind = 'backfill'") == [
        (2 * (PIECE + 5),)
    ]
    assert findings(trail) == []


def test_labels_silences_profiles_and_acknowledgements_are_sealed_and_held_against_their_rows(trail, rows):
    trail.write(*(an_assessment(id=f"q-0-{number}") for number in range(4)))
    trail.people()
    AssessmentQueries(trail.engine).save_profile(load_profile("hash", "hash/64", "hash/64"), NOON)
    trail.turn()
    kinds = [row[1] for row in rows(LEAVES) if row[1] not in ("interaction", "assessment")]
    assert sorted(kinds) == ["label", "label", "profile", "silence", "silence", "unsilence"]
    assert findings(trail) == []
    for change in (
        "UPDATE review SET label = 'grounded' WHERE id = (SELECT min(id) FROM review)",
        "DELETE FROM review WHERE id = (SELECT max(id) FROM review)",
        "UPDATE silence SET ends_at = ends_at + interval '1 hour' WHERE id = 's2'",
        "UPDATE profile SET definition = definition || '{\"version\": 99}'",
        "INSERT INTO silence SELECT 's3', matchers, starts_at, ends_at, created_by, comment FROM silence LIMIT 1",
    ):
        with trail.engine.begin() as connection:
            connection.execute(text(change.replace(":", r"\:")))
    assert {fault for fault, _ in findings(trail)} == {Fault.ACT}
    assert len(findings(trail)) == 5


def test_rules_are_sealed_when_they_change(trail, rows):
    recorder, rules = RulesRecorder(lambda: trail.engine), load_rules(None, receivers=())
    recorder.record(rules, NOON)
    recorder.record(rules, at(1))
    RulesRecorder(lambda: trail.engine).record(rules, at(2))  # after a restart
    recorder.record(replace(rules, source=rules.source + "# tuned\n"), at(3))
    trail.turn()
    told = [row[5]["body"] for row in rows(LEAVES) if row[1] == "rules"]
    assert [body["source"] for body in told] == [rules.source, rules.source + "# tuned\n"]
    assert set(told[0]["rules"]) == {rule.name for rule in rules.rules}


def test_one_replica_seals_at_a_time(trail, engine):
    trail.write(an_assessment())
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:n)"), {"n": SEAL_LOCK})
        assert trail.turn() == 0
    assert trail.turn() == 2


def test_two_sealers_in_turns_make_one_tree(trail):
    other = a_sealer(trail.engine, trail.witness)
    for number in range(6):
        trail.write(*(an_assessment(id=f"{number}-{n}") for n in range(70)))
        (other if number % 2 else trail.sealer).seal_and_sign(at(number))
    assert findings(trail) == []


def test_nothing_is_sealed_on_top_of_what_was_changed(trail):
    trail.write(an_assessment(id="a"))
    trail.turn()
    with trail.engine.begin() as connection:
        connection.execute(text("DELETE FROM audit_leaf WHERE index = 1"))
    trail.write(an_assessment(id="b"))
    with pytest.raises(Fatal, match="is not the one whose 2 leaves were signed last"):
        a_sealer(trail.engine).seal_and_sign(NOON)
    assert Proofs(trail.engine).status().waiting == 1


def test_another_key_signs_only_where_the_one_before_is_named(trail):
    trail.write(an_assessment(id="a"))
    trail.turn()
    new = Signer("monitor", bytes(32))
    with closing(Writer(trail.database, clock, queue_key=new.queue_key)) as writer:
        writer.write(a_batch(an_assessment(id="b")))
    with pytest.raises(Fatal, match="PREVIOUS_KEYS"):
        a_sealer(trail.engine, signer=new).seal_and_sign(NOON)
    a_sealer(trail.engine, signer=new, previous=(KEY,)).seal_and_sign(NOON)
    assert verify(trail.engine, [new.verifier_key, KEY]).findings == ()
    assert {one.fault for one in verify(trail.engine, [new.verifier_key]).findings} == {Fault.CHECKPOINT}


def test_what_a_witness_saw_outlives_the_whole_database(trail):
    """The owner of the database empties it and starts anew, with the same key."""
    trail.write(an_assessment(id="a"), an_assessment(id="b"))
    trail.turn()
    with trail.engine.begin() as connection:
        for table in ("audit_leaf", "audit_checkpoint", "audit_secret", "interaction", "assessment", "interaction_key"):
            connection.execute(text(f"DELETE FROM {table}"))
    notes = list(trail.witness.notes)
    trail.write(an_assessment(id="c"), an_assessment(id="d"))
    with pytest.raises(Contradicted, match="the witness notes knows 4 leaves, and the database has 0"):
        trail.turn()
    trail.sealer = a_sealer(trail.engine, Notes())  # to a witness that knows nothing
    trail.turn()
    assert findings(trail, notes=()) == []
    assert {fault for fault, _ in findings(trail, notes=notes)} == {Fault.WITNESS}


def test_pending_interactions_are_sealed_before_they_are_assessed(trail):
    with closing(Writer(trail.database, lambda: NOON, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(pending=(an_interaction(),), received=1))
    assert trail.turn() == 1
    assert findings(trail) == []


def test_a_trail_of_every_fate_verifies(engine, database):
    trail = a_trail(engine, database, batches=4, size=12)
    assert findings(trail) == []
    assert len(trail.witness.notes) == 5


@pytest.mark.parametrize("entry", ['"entry":"0123456789abcdef/1",', ""])
def test_a_leaf_that_somebody_puts_behind_the_signed_ones_is_not_signed(trail, entry):
    """An act that would excuse whoever took the row away."""
    trail.write(an_assessment(id="a"))
    trail.turn()
    body = (
        f'{{"app":"{APP}","body":{{"at":"{NOON.isoformat()}","by":"ann","reason_given":true}},{entry}"id":"a",'
        f'"kind":"erasure","sealed_at":"2025-11-21T12:01:00.000000Z","v":1}}'
    )
    leaf = {"app": APP, "at": at(1), "body": body, "hash": leaf_hash(body.encode())}
    with trail.engine.begin() as connection:
        connection.execute(text("INSERT INTO audit_leaf VALUES (2, 'erasure', :app, 'a', '', :at, :body, :hash)"), leaf)
    trail.write(an_assessment(id="b"))
    for sealer in (trail.sealer, a_sealer(trail.engine, trail.witness)):
        with pytest.raises(Fatal, match="leaf 2 stands behind the 2 leaves that were signed"):
            sealer.seal_and_sign(NOON)
    assert (Fault.LEAF, "leaf 2 stands behind the last checkpoint, and no process with the key sealed it") in [
        (one.fault, one.sentence) for one in checked(trail).findings
    ]
    with trail.engine.begin() as connection:
        connection.execute(text("DELETE FROM audit_leaf WHERE index >= 2"))
    trail.turn()
    assert findings(trail) == []
