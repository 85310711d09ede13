"""Restored backups: nothing is sealed on top of one until a sealed recovery says what was lost."""

from __future__ import annotations

import json
from base64 import b64encode

import pytest
from sqlalchemy import text

from monitor.audit.canonical import canonical
from monitor.audit.finding import Fault
from monitor.audit.key import Signer
from monitor.audit.merkle import EMPTY_ROOT, leaf_hash
from monitor.audit.note import Checkpoint, opened, signed
from monitor.audit.recovery import Head
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.store.audit.recovery import Contradicted, WitnessNotes
from monitor.store.audit.tree import TreeEdge
from monitor.store.audit.verify import verify
from monitor.store.audit_queue import driver
from tests.factories.answers import an_assessment, at
from tests.rig.store.audit_trail import Notes, Trail, a_sealer
from tests.rig.store.keys import KEY, SIGNER

WRITTEN = (
    *("audit_queue", "audit_leaf", "audit_tile", "audit_secret", "audit_checkpoint"),
    *("interaction", "assessment", "interaction_key", "profile"),
)
WHO = {"by": "ann", "reason": "the disk failed"}


class Backup:
    """A copy of every table that the trail is about, in the same database."""

    def __init__(self, trail):
        self._trail = trail
        self._each("CREATE TABLE backup_{0} AS TABLE {0}")

    def restore(self):
        self._each("DELETE FROM {0}", "INSERT INTO {0} OVERRIDING SYSTEM VALUE TABLE backup_{0}")
        self._trail.sealer = a_sealer(self._trail.engine, self._trail.witness)

    def _each(self, *statements):
        with self._trail.engine.begin() as connection:
            for name in WRITTEN:
                for statement in statements:
                    connection.execute(text(statement.format(name)))


@pytest.fixture
def trail(engine, database):
    return Trail(engine, database)


@pytest.fixture
def restored(trail):
    """A trail of 4 leaves under two checkpoints, restored when it had 8 under four."""
    store(trail, "a", "b")
    backup = Backup(trail)
    store(trail, "c", "d")
    assert len(trail.witness.notes) == 4
    backup.restore()
    trail.backup = backup
    return trail


def store(trail, *ids):
    """Stores each answer under a checkpoint of its own."""
    for id_ in ids:
        trail.write(an_assessment(id=id_))
        trail.turn()


def recover(trail, **over):
    plan = trail.sealer.plan_recovery((), at=at(trail.minutes), **{**WHO, **over})
    trail.sealer.recover(plan, at(trail.minutes))
    return plan


def checked(trail, notes=None):
    return verify(trail.engine, [KEY], notes=trail.witness.notes if notes is None else notes)


def leaves(trail):
    with trail.engine.connect() as connection:
        return connection.scalar(text("SELECT count(*) FROM audit_leaf"))


def insert_leaf(trail, body, *, kind="recovery", subject="trail"):
    """What whoever can write to the database can do: a leaf with its hash and tiles, at the end of the tree."""
    with trail.engine.begin() as connection:
        raw = driver(connection)
        edge = TreeEdge.read(raw)
        raw.execute(
            "INSERT INTO audit_leaf VALUES (%s, %s, '', %s, '', %s, %s, %s)",
            (edge.frontier.size, kind, subject, at(5), body, leaf_hash(body.encode())),
        )


def test_nothing_is_sealed_on_a_restored_backup_until_it_is_recovered(restored):
    restored.write(an_assessment(id="e"))
    known = list(restored.witness.notes)
    with pytest.raises(Contradicted, match="knows 8 leaves, and the database has 4: nothing is sealed") as refused:
        restored.turn()
    assert "monitor audit recover" in str(refused.value)
    assert (leaves(restored), restored.witness.notes) == (4, known)
    plan = recover(restored)
    assert (plan.restored.size, plan.signed, plan.leaves_lost) == (4, 4, 4)
    assert [head.size for head in plan.lost] == [6, 8]
    restored.turn()
    found = checked(restored)
    assert found.findings == ()
    assert (found.size, found.signed) == (7, 7)
    assert [(sealed.index, sealed.recovery) for sealed in found.recoveries] == [(4, plan)]
    assert [opened(note, KEY).size for note in restored.witness.notes] == [2, 4, 6, 8, 5, 7]


def test_sealing_goes_on_past_the_size_that_was_lost(restored):
    recover(restored)
    for number in range(4):
        store(restored, f"n-{number}")
    assert checked(restored).findings == ()
    assert checked(restored).size == 13


def test_a_recovery_names_who_when_why_and_what_each_witness_knew(restored):
    copy = WitnessNotes(name="copy", notes=restored.witness.notes[:3], at=at(3))
    plan = restored.sealer.history.plan([restored.witness.read(), copy], at="2026-11-22T12:00:00+00:00", **WHO)
    assert [(its.name, its.newest.size, its.at, its.lost) for its in plan.witnesses] == [
        ("notes", 8, None, 2),
        ("copy", 6, at(3).isoformat(timespec="seconds"), 1),
    ]
    restored.sealer.recover(plan, at(9))
    with restored.engine.connect() as connection:
        body = connection.scalar(text("SELECT body::jsonb -> 'body' FROM audit_leaf WHERE kind = 'recovery'"))
    assert (body["by"], body["at"], body["reason"]) == ("ann", "2026-11-22T12:00:00+00:00", "the disk failed")
    assert body["restored"].keys() == {"size", "root", "signed"}
    assert [size for size, _ in body["lost"]] == [6, 8]


def test_a_checkpoint_that_no_recovery_names_stays_a_finding(restored):
    other = signed(Checkpoint(origin="monitor", size=8, root=EMPTY_ROOT), SIGNER)
    recover(restored)
    (finding,) = checked(restored, [*restored.witness.notes, other]).findings
    assert finding.fault is Fault.WITNESS
    assert "checkpoint of 8 leaves" in finding.sentence


def test_a_recovery_excuses_nothing_that_is_cut_off_later(restored):
    recover(restored)
    backup = Backup2(restored)
    store(restored, "e", "f")
    backup.restore()
    assert {finding.fault for finding in checked(restored).findings} == {Fault.WITNESS}
    with pytest.raises(Contradicted):
        restored.turn()
    again = recover(restored, reason="it failed again")
    assert [head.size for head in again.lost] == [7, 9]
    store(restored, "g")
    found = checked(restored)
    assert found.findings == ()
    assert [sealed.recovery.reason for sealed in found.recoveries] == ["the disk failed", "it failed again"]


class Backup2(Backup):
    """A second one beside the first."""

    def _each(self, *statements):
        super()._each(*(statement.replace("backup_", "backup2_") for statement in statements))


def test_where_nothing_is_lost_there_is_nothing_to_recover(trail):
    store(trail, "a")
    assert trail.sealer.plan_recovery((), at=at(1), **WHO) is None


def test_no_recovery_excuses_another_history_below_the_restored_size(trail):
    store(trail, "a", "b")
    trail.witness.notes[0] = signed(Checkpoint(origin="monitor", size=2, root=EMPTY_ROOT), SIGNER)
    with pytest.raises(Contradicted, match="knows another root of the first 2 leaves"):
        trail.turn()
    with pytest.raises(Fatal, match="no recovery can excuse it"):
        trail.sealer.plan_recovery((), at=at(1), **WHO)


def test_a_recovery_that_was_planned_for_another_tree_is_not_sealed(restored):
    plan = restored.sealer.plan_recovery((), at=at(4), **WHO)
    recover(restored)
    with pytest.raises(Fatal, match="has changed since the recovery was planned"):
        restored.sealer.recover(plan, at(5))


def test_everything_may_be_lost(trail):
    backup = Backup(trail)
    store(trail, "a")
    backup.restore()
    recover(trail)
    store(trail, "b")
    found = checked(trail)
    assert (found.findings, found.recoveries[0].index) == ((), 0)


def test_a_recovery_with_another_signature_is_found_and_believed_by_nobody(restored):
    plan = restored.sealer.plan_recovery((), at=at(4), **WHO)
    forger = Signer("monitor", bytes(reversed(range(32))))
    record = {"v": 1, "kind": "recovery", "app": "", "id": "trail", "body": plan.body(forger)}
    insert_leaf(restored, canonical({**record, "sealed_at": "2025-11-21T12:05:00.000000Z"}).decode())
    with pytest.raises(Contradicted):
        restored.turn()
    found = checked(restored)
    assert found.recoveries == ()
    assert {Fault.RECOVERY, Fault.WITNESS} <= {finding.fault for finding in found.findings}


@pytest.mark.parametrize(
    "spoil",
    [
        lambda body: body["lost"].append([10, b64encode(EMPTY_ROOT).decode()]),
        lambda body: body["restored"].update(size=5),
        lambda body: body.update(by="bob"),
        lambda body: body.pop("signature"),
        lambda body: body.update(lost=["\ud800"]),
    ],
    ids=["more is lost", "another place", "somebody else", "not signed", "not even text"],
)
def test_a_recovery_that_was_signed_cannot_be_changed(restored, spoil):
    body = restored.sealer.plan_recovery((), at=at(4), **WHO).body(SIGNER)
    spoil(body)
    insert_leaf(restored, json.dumps({"v": 1, "kind": "recovery", "app": "", "id": "trail", "body": body}))
    assert checked(restored).recoveries == ()
    with pytest.raises(Contradicted):
        restored.turn()


def test_a_signed_recovery_does_not_fit_another_place(restored):
    """Whoever keeps the leaf of an honest recovery, and puts it behind another history of the same length."""
    recover(restored)
    with restored.engine.connect() as connection:
        body = connection.scalar(text("SELECT body FROM audit_leaf WHERE kind = 'recovery'"))
    restored.backup.restore()
    with restored.engine.begin() as connection:
        connection.execute(text("DELETE FROM audit_leaf WHERE index = 3"))
        connection.execute(text("DELETE FROM audit_checkpoint WHERE size = 4"))
    insert_leaf(restored, '{"forged":1}', kind="look", subject="a")
    insert_leaf(restored, body)
    assert checked(restored).recoveries[0].recovery.restored.size == 4
    assert "the recovery, leaf 4, holds another root of the first 4 leaves" in " ".join(
        finding.sentence for finding in checked(restored).findings
    )
    with pytest.raises(Fatal):
        restored.turn()


def test_a_checkpoint_whose_root_was_made_to_fit_another_history_is_not_built_on(trail):
    """The note in the database and in the witness stay; the columns beside it are changed with the leaf."""
    store(trail, "a", "b")
    with trail.engine.begin() as connection:
        body, forged = "{}", leaf_hash(b"{}")
        connection.execute(text("UPDATE audit_leaf SET body = :b, hash = :h WHERE index = 3"), {"b": body, "h": forged})
        root = TreeEdge.read(driver(connection)).frontier.root
        connection.execute(text("UPDATE audit_checkpoint SET root = :root WHERE size = 4"), {"root": root})
    trail.write(an_assessment(id="c"))
    with pytest.raises(Fatal, match="is not the one whose 4 leaves were signed last"):
        a_sealer(trail.engine, trail.witness).seal_and_sign(at(3))
    assert leaves(trail) == 4


def test_a_file_of_another_log_is_not_written_to(trail):
    store(trail, "a")
    foreign = signed(Checkpoint(origin="other", size=1, root=EMPTY_ROOT), Signer("other", bytes(32)))
    witness = Notes()
    witness.notes.append(foreign)
    with pytest.raises(Contradicted, match=r"signed by other\+[0-9a-f]{8}, which is no key of this trail"):
        a_sealer(trail.engine, witness).seal_and_sign(at(2))
    assert witness.notes == [foreign]
    witness.shared = True  # such as a topic of several logs
    a_sealer(trail.engine, witness).seal_and_sign(at(2))


def test_a_note_that_was_cut_off_holds_up_nothing(trail):
    store(trail, "a", "b")
    trail.witness.notes[-1] = trail.witness.notes[-1][:40]
    store(trail, "c")
    assert leaves(trail) == 6


def test_another_key_than_that_of_the_trail_seals_nothing(trail):
    store(trail, "a")
    trail.write(an_assessment(id="b"))
    with pytest.raises(WrongSettings, match=r"is signed by monitor\+[0-9a-f]{8}, and the key of this installation"):
        a_sealer(trail.engine, signer=Signer("monitor", bytes(32))).seal_and_sign(at(2))
    assert leaves(trail) == 2


def test_the_head_of_an_empty_tree_is_known():
    assert Head.of(0, EMPTY_ROOT) == (0, b64encode(EMPTY_ROOT).decode())


def test_a_checkpoint_that_a_process_could_not_publish_before_it_ended_is_published_by_the_next(trail):
    class Away(Notes):
        def publish(self, *_):
            raise Retriable("it is out of reach")

    trail.write(an_assessment(id="late"))
    assert a_sealer(trail.engine, Away()).seal_and_sign(at(1)) == 2
    assert a_sealer(trail.engine, trail.witness).seal_and_sign(at(2)) == 0
    assert [opened(note, KEY).size for note in trail.witness.notes] == [2]
    a_sealer(trail.engine, trail.witness).seal_and_sign(at(3))
    assert len(trail.witness.notes) == 1  # once is enough


def test_a_witness_that_gives_nothing_back_is_not_told_again_by_every_process(trail):
    class Channel(Notes):
        def read(self, *, recent=False):
            return WitnessNotes(name="a channel", notes=(), readable=not recent)

    store(trail, "a")
    channel = Channel()
    a_sealer(trail.engine, channel).seal_and_sign(at(2))
    assert channel.notes == []


def test_a_note_of_which_a_power_cut_left_the_beginning_is_no_finding(trail):
    store(trail, "a", "b")
    first, last = trail.witness.notes
    for cut in range(len("monitor\n4"), len(last), 7):
        assert checked(trail, [first, last[:cut], last]).findings == ()
    for other in (last[:-20] + "AAAA", last.replace("\n4\n", "\n2\n")):
        assert [one.fault for one in checked(trail, [first, other]).findings] == [Fault.WITNESS]
