"""What each holder can and cannot do unnoticed: a test for each row of the table in docs/audit/audit.md, both columns.

Of the first two rows, what they cannot do is tried at random in `test_attacker.py`.
"""

from __future__ import annotations

from contextlib import closing

import pytest
from sqlalchemy import text

from monitor.audit.finding import Fault
from monitor.audit.key import Signer
from monitor.audit.merkle import frontier_of
from monitor.audit.note import Checkpoint, signed
from monitor.core.errors import Fatal
from monitor.core.model import Verdict
from monitor.store.audit.tree import stored_tree, tree_size
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import Act, Kind, driver, queue_act
from monitor.store.interaction.writer import Writer
from tests.factories.answers import NOON, a_batch, an_assessment, clock
from tests.rig.store.audit_trail import APP, Trail, a_sealer
from tests.rig.store.keys import KEY, QUEUE_KEY, SIGNER

REFUSAL = Verdict.REFUSAL
OLD = NOON.replace(month=NOON.month - 1)
ROWS = ("interaction", "assessment", "audit_secret")


@pytest.fixture
def trail(engine, database):
    """A sealed trail of three answers, `old` and `older` of a month ago."""
    made = Trail(engine, database)
    made.write(an_assessment(id="a"), *(an_assessment(id=id_, occurred_at=OLD) for id_ in ("old", "older")))
    made.turn()
    return made


@pytest.fixture
def run(trail):
    """Does what somebody does who writes to the database past the program."""

    def statement(*statements):
        with trail.engine.begin() as connection:
            for one in statements:
                connection.execute(text(one))

    return statement


def faults(trail, notes=None):
    given = trail.witness.notes if notes is None else notes
    return {one.fault for one in verify(trail.engine, [KEY], QUEUE_KEY, notes=given).findings}


@pytest.mark.parametrize(
    ("statement", "fault"),
    [
        ("UPDATE interaction SET answer = 'forged' WHERE id = 'a'", Fault.CHANGED),
        ("UPDATE assessment SET verdict = 'refusal', revised_at = now() WHERE id = 'a'", Fault.CHANGED),
        ("DELETE FROM interaction WHERE id = 'a'", Fault.MISSING),
        ("UPDATE interaction SET id = 'another' WHERE id = 'a'", Fault.UNSEALED),
        ("UPDATE review SET label = 'grounded'", Fault.ACT),
        ("DELETE FROM silence WHERE id = 's1'", Fault.ACT),
        ("DELETE FROM audit_secret WHERE id = 'a'", Fault.SECRET),
    ],
)
def test_who_writes_to_the_tables_can_change_nothing(trail, run, statement, fault):
    trail.write(*(an_assessment(id=f"q-0-{number}") for number in range(3)))
    trail.people()
    trail.turn()
    assert faults(trail) == set()
    run(statement)
    assert fault in faults(trail)


def test_who_writes_to_the_tables_can_put_back_what_retention_removed_and_take_nothing_for_it(trail, run):
    run(*(f"CREATE TABLE kept_{table} AS SELECT * FROM {table} WHERE id = 'old'" for table in ROWS))
    later = OLD.replace(day=28)
    trail.write(an_assessment(id="later", occurred_at=later), an_assessment(id="no", occurred_at=OLD, verdict=REFUSAL))
    trail.turn()
    trail.retain(later.replace(hour=0), an_assessment().verdict)
    trail.turn()
    run(*(f"INSERT INTO {table} TABLE kept_{table}" for table in ROWS))
    assert faults(trail) == set()
    for id_ in ("later", "no"):  # of the same app and month, and not what the retention removed
        run(*(f"DELETE FROM {table} WHERE id = '{id_}'" for table in ROWS))
        told = verify(trail.engine, [KEY], QUEUE_KEY).findings
        assert [one.subject for one in told if one.fault is Fault.MISSING].count(id_) == 2


def test_who_writes_to_the_queue_can_remove_the_last_entries_of_a_process_that_has_ended(trail, run):
    trail.write(an_assessment(id="last"))  # by a writer that is closed then
    run("DELETE FROM audit_queue", *(f"DELETE FROM {table} WHERE id = 'last'" for table in ROWS))
    trail.turn()
    assert faults(trail) == set()


def test_who_writes_to_the_queue_cannot_remove_entries_of_a_process_that_goes_on(trail, run):
    with closing(Writer(trail.database, clock, queue_key=QUEUE_KEY)) as writer:
        writer.write(a_batch(an_assessment(id="last")))
        run("DELETE FROM audit_queue", *(f"DELETE FROM {table} WHERE id = 'last'" for table in ROWS))
        writer.write(a_batch(an_assessment(id="next")))
    trail.turn()
    assert faults(trail) == {Fault.QUEUE}


def test_who_writes_to_the_queue_can_remove_an_act_that_no_row_records(trail, run):
    with trail.engine.begin() as connection:
        queue_act(connection, Act(kind=Kind.LOOK, by="eve", at=NOON, app=APP, subject="a"))
    run("DELETE FROM audit_queue")
    trail.turn()
    assert faults(trail) == set()


def test_who_writes_events_has_them_sealed_and_can_change_none_that_arrived(trail):
    trail.write(an_assessment(id="invented"))
    trail.write(an_assessment(id="a", answer="another answer under an id that is stored"))
    trail.turn()
    assert faults(trail) == set()
    with trail.engine.connect() as connection:
        answers = connection.scalars(text("SELECT answer FROM interaction WHERE id = 'a'")).all()
    assert answers == [an_assessment().interaction.answer]


def test_who_has_a_copy_of_the_key_can_sign_what_no_witness_has(trail):
    false = signed(Checkpoint(origin="monitor", size=3, root=bytes(32)), SIGNER)
    assert faults(trail, [false]) == {Fault.WITNESS}
    assert faults(trail) == set()


def test_who_has_the_database_and_the_key_can_rewrite_all_that_no_witness_has(trail, run):
    known = list(trail.witness.notes)
    run(
        *(
            f"DELETE FROM {table}"
            for table in (*ROWS, "interaction_key", "audit_leaf", "audit_tile", "audit_checkpoint")
        )
    )
    a_sealer(trail.engine)
    trail.write(an_assessment(id="a", answer="as somebody would like it"))
    a_sealer(trail.engine).seal_and_sign(NOON)
    assert faults(trail, ()) == set()
    assert faults(trail, known) == {Fault.WITNESS}
    with pytest.raises(Fatal, match="knows"):
        a_sealer(trail.engine, trail.witness).seal_and_sign(NOON)


def test_who_has_the_host_stores_what_he_likes_and_contradicts_no_witness(trail, run):
    known = list(trail.witness.notes)
    trail.write(an_assessment(id="as-if-it-had-arrived"))  # with the key, as the program does
    trail.turn()
    assert faults(trail) == set()
    run("DELETE FROM audit_checkpoint", "UPDATE audit_leaf SET body = replace(body, 'grounded', 'refusal')")
    with trail.engine.begin() as connection:
        raw = driver(connection)
        size = tree_size(raw)
        root = frontier_of(size, stored_tree(raw).node).root
        note = signed(Checkpoint(origin="monitor", size=size, root=root), Signer("monitor", bytes(range(32))))
        raw.execute(
            "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES (%s, %s, %s, %s)", (size, root, note, NOON)
        )
    assert faults(trail, known) >= {Fault.WITNESS}
