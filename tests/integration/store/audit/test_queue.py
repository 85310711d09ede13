"""The queue is no way into the trail: what no process with the key has queued is never sealed, and is found."""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import text

from monitor.audit.finding import Fault
from monitor.store.audit.backfill import look_for_missing
from monitor.store.audit.leaf import leaf_body
from monitor.store.audit.tree import NewLeaf, TreeEdge
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Act, Kind, driver, queue_act
from monitor.store.audit_rows import SECRET, make_secrets, read_rows, row_record
from monitor.store.interaction.writer import Writer
from tests.factories.answers import NOON, a_batch, an_assessment, at, clock
from tests.rig.store.audit_trail import APP, Trail, a_sealer
from tests.rig.store.keys import KEY, QUEUE_KEY

WITHOUT_KEY = "UPDATE audit_queue SET source = '', number = 0, records = NULL, mac = NULL"


@pytest.fixture
def trail(engine, database):
    return Trail(engine, database)


def sentences(trail, key=QUEUE_KEY):
    return [one.sentence for one in verify(trail.engine, [KEY], key, notes=trail.witness.notes).findings]


def run(trail, statement):
    with trail.engine.begin() as connection:
        return connection.execute(text(statement))


def sealed_by_the_release_before(trail, id_):
    """Seals an interaction and its assessment as releases did that numbered no entries."""
    trail.write(an_assessment(id=id_))
    profile = an_assessment().profile_hash
    with trail.engine.begin() as connection:
        raw = driver(connection)
        connection.execute(text("DELETE FROM audit_queue"))
        make_secrets(raw, [(APP, id_)])
        leaves = []
        for kind, part in ((Kind.INTERACTION, ""), (Kind.ASSESSMENT, profile)):
            row = read_rows(raw, kind, [(APP, id_, part)])[APP, id_, part]
            body = leaf_body(row_record(kind, row, bytes(row[SECRET]), 1), NOON)
            leaves.append(NewLeaf(kind, (APP, id_, part), body))
        TreeEdge.read(raw).append(raw, leaves, NOON)


def test_what_the_release_before_has_queued_is_taken_in_once(trail, rows):
    sealed_by_the_release_before(trail, "old")
    trail.write(an_assessment(id="waits"))
    run(trail, WITHOUT_KEY)
    trail.write(an_assessment(id="new"))
    assert sentences(trail) == []
    trail.turn()
    kinds = [row[0] for row in rows("SELECT kind FROM audit_leaf ORDER BY index")]
    assert kinds == ["interaction", "assessment"] * 3 + ["backfill"]
    assert rows("SELECT body::jsonb -> 'body' -> 'rows' FROM audit_leaf WHERE kind = 'backfill'") == [(2,)]
    assert sentences(trail) == []
    trail.write(an_assessment(id="later"))
    run(trail, WITHOUT_KEY)
    assert trail.turn() == 0
    told = sentences(trail)
    assert "the interaction of later in support-bot (0123456789abcdef) waits to be sealed" in told[0]
    assert [sentence for sentence in told[1:] if "later" not in sentence] == []


def test_a_release_before_that_writes_on_is_taken_in_when_somebody_with_the_key_asks(trail):
    trail.write(an_assessment(id="a"))
    trail.turn()
    trail.write(an_assessment(id="b"))
    run(trail, WITHOUT_KEY)
    trail.turn()
    assert len(sentences(trail)) == 3  # the entry, the interaction, the assessment
    look_for_missing(trail.engine, NOON)
    trail.turn()
    assert sentences(trail) == []


def test_a_request_to_look_that_nobody_with_the_key_made_has_no_effect(trail):
    trail.write(an_assessment(id="a"))
    trail.turn()
    trail.write(an_assessment(id="b"))
    run(trail, "DELETE FROM audit_queue")
    run(trail, "INSERT INTO audit_queue (kind, app, subject, queued_at) VALUES ('missing', '', '', now())")
    assert trail.turn() == 0
    assert all("was never sealed" in sentence for sentence in sentences(trail))
    assert len(sentences(trail)) == 2


@pytest.mark.parametrize("act", [Kind.ERASURE, Kind.RETENTION])
def test_an_act_that_was_queued_without_the_key_excuses_nothing(trail, act):
    trail.write(an_assessment(id="a"))
    trail.turn()
    body = {"rows": 5, "before": "2099-01-01T00:00:00+00:00", "verdict": None}
    with trail.engine.begin() as connection:
        queue_act(connection, Act(kind=act, by="eve", at=NOON, app=APP, subject="2025-11", body=body))
    for statement in ("UPDATE audit_queue SET mac = NULL", "DELETE FROM interaction", "DELETE FROM assessment"):
        run(trail, statement)
    told = sentences(trail)
    assert f"the {act} of 2025-11 in support-bot waits to be sealed" in told[-1] + told[0]
    assert sum("or cannot be read, and no retention says why" in sentence for sentence in told) == 2
    look_for_missing(trail.engine, NOON)
    trail.turn()
    assert sum("or cannot be read, and no retention says why" in sentence for sentence in sentences(trail)) == 2


def test_a_retention_excuses_no_more_than_it_removed(trail):
    old = NOON.replace(month=NOON.month - 1)
    trail.write(*(an_assessment(id=id_, occurred_at=old) for id_ in "ab"), an_assessment(id="c"))
    trail.turn()
    trail.retain(NOON.replace(day=1))
    trail.write(an_assessment(id="d", occurred_at=old.replace(hour=1)))  # after the retention
    trail.turn()
    assert sentences(trail) == []


def test_an_answer_taken_out_before_a_retention_is_missed_by_its_count(trail):
    old = NOON.replace(month=NOON.month - 1)
    trail.write(*(an_assessment(id=id_, occurred_at=old) for id_ in "abc"))
    trail.turn()
    for table in ("interaction", "assessment", "audit_secret"):
        run(trail, f"DELETE FROM {table} WHERE id = 'b'")
    trail.retain(NOON.replace(day=1))
    trail.turn()
    (told,) = sentences(trail)
    assert told == (
        "3 sealed interactions of support-bot are not stored, and retentions removed 2: some were removed otherwise "
        f"({old:%Y-%m})"
    )


def test_only_an_assessment_of_an_interaction_that_is_there_is_no_retention(trail):
    old = NOON.replace(month=NOON.month - 1)
    trail.write(an_assessment(id="a", occurred_at=old), an_assessment(id="b", occurred_at=old))
    trail.turn()
    trail.retain(NOON.replace(day=1))
    trail.turn()
    trail.write(an_assessment(id="c"))
    trail.turn()
    run(trail, "DELETE FROM assessment WHERE id = 'c'")
    assert sentences(trail) == [
        "the assessment of c in support-bot (0123456789abcdef), leaf 6, is not stored, and its interaction is"
    ]


def test_a_writer_that_failed_goes_on_under_another_source(trail, rows, monkeypatch):
    with closing(Writer(trail.database, clock, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(an_assessment(id="a")))
        with monkeypatch.context() as patch:
            patch.setattr(writer, "follow_up", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                writer.write(a_batch(an_assessment(id="b")))
        writer.write(a_batch(an_assessment(id="b"), an_assessment(id="c")))
    numbers = "SELECT array_agg(number ORDER BY seq) FROM audit_queue WHERE number > 0 GROUP BY source ORDER BY 1"
    assert rows(numbers) == [([1],), ([1, 2],)]
    trail.turn()
    assert sentences(trail) == []


def test_without_the_key_nothing_that_waits_is_believed(trail):
    trail.write(an_assessment(id="a"))
    trail.turn()
    trail.write(an_assessment(id="b"))
    assert sentences(trail, None) == []
    trail.erase("a")
    assert {one.fault for one in verify(trail.engine, [KEY], None).findings} == {Fault.SECRET}
    assert {one.fault for one in verify(trail.engine, [KEY], QUEUE_KEY).findings} == set()
    trail.sealer.seal_and_sign(at(9))
    assert sentences(trail, None) == []


def test_nobody_keeps_an_entry_from_being_sealed_by_a_mark(engine, database, rows):
    """What waits is not compared with its row, so an entry that waited for ever would leave the row to be changed."""
    trail = Trail(engine, database)
    trail.write(an_assessment(id="a"))
    rows("UPDATE audit_queue SET refused = true WHERE subject = 'a'")
    rows("UPDATE interaction SET answer = 'forged' WHERE id = 'a'")
    (finding,) = verify(engine, [KEY], QUEUE_KEY).findings
    assert "is kept from being sealed" in finding.sentence
    assert a_sealer(engine).seal_and_sign(NOON) == 2
    assert [one.fault for one in verify(engine, [KEY], QUEUE_KEY).findings] == [Fault.CHANGED]
