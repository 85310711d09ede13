"""The key's file, the witness's file, and what becomes of a witness that fails; without a database."""

from __future__ import annotations

import os
from contextlib import nullcontext
from datetime import UTC, datetime
from threading import Thread

import pytest

from monitor.app.audit.key import key_at
from monitor.app.audit.sealer import Sealer, notes_at
from monitor.app.audit.witnesses import FileWitness
from monitor.audit.key import Signer
from monitor.audit.merkle import EMPTY_ROOT
from monitor.audit.note import Checkpoint, opened, signed
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.store.audit.recovery import Contradicted, WitnessNotes
from monitor.store.audit.seal import SealedBatch

NOW = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)
SIGNER = Signer("monitor", bytes(32))


def a_note(size: int) -> str:
    return signed(Checkpoint(origin="monitor", size=size, root=EMPTY_ROOT), SIGNER)


class Sealing:
    """Gives what it is told to, and raises what it is told to."""

    def __init__(self, *batches):
        self.batches = list(batches)

    def seal_batch(self, now, signer, previous_keys):
        assert (now, signer, previous_keys) == (NOW, SIGNER, ())
        batch = self.batches.pop(0) if self.batches else None
        if isinstance(batch, Exception):
            raise batch
        return batch


def a_batch(note=None, *, leaves=1, more=False):
    return SealedBatch(leaves=leaves, more=more, note=note)


class History:
    """Believes that every witness but those in `contradicted` knows what the trail holds."""

    def __init__(self, *contradicted):
        self.contradicted, self.compared = contradicted, []

    def check_key(self, key):
        assert key == SIGNER.verifier_key

    def check(self, known, *, shared):
        self.compared.append((known.name, shared))
        if known.name in self.contradicted:
            raise Contradicted(f"{known.name} knows more")


class Flaky:
    def __init__(self, *errors, name="flaky", shared=True, unreadable=None):
        self.errors, self.told = list(errors), []
        self.name, self.shared, self.unreadable = name, shared, unreadable

    def read(self, *, recent=False):
        assert recent
        if self.unreadable:
            raise self.unreadable
        return WitnessNotes(name=self.name, notes=())

    def publish(self, note, key):
        assert key == SIGNER.verifier_key
        if self.errors:
            raise self.errors.pop(0)
        self.told.append(note)


def test_it_seals_until_nothing_is_left():
    sealing = Sealing(a_batch("one\n", leaves=2, more=True), a_batch("two\n", more=True), a_batch(leaves=0))
    witness = Flaky()
    assert Sealer(sealing=sealing, history=History(), signer=SIGNER, witnesses={"w": witness}).seal_and_sign(NOW) == 3
    assert witness.told == ["two\n"]  # the newest is enough


def test_it_leaves_it_to_another_replica():
    assert Sealer(sealing=Sealing(None), history=History(), signer=SIGNER).seal_and_sign(NOW) == 0


def test_nothing_is_sealed_or_signed_while_a_witness_knows_more():
    sealing = Sealing(a_batch("one\n"))
    witnesses = {"a": Flaky(name="a"), "b": Flaky(name="b", shared=False), "c": Flaky(name="c")}
    sealer = Sealer(sealing=sealing, history=(history := History("b")), signer=SIGNER, witnesses=witnesses)
    with pytest.raises(Contradicted):
        sealer.seal_and_sign(NOW)
    assert history.compared == [("a", True), ("b", False)]
    assert len(sealing.batches) == 1
    assert [witness.told for witness in witnesses.values()] == [[], [], []]


def test_a_witness_that_cannot_be_read_is_named_and_the_others_are_compared(caplog):
    witnesses = {"a": Flaky(name="a", unreadable=Retriable("no route")), "b": Flaky(name="b")}
    sealer = Sealer(sealing=Sealing(None), history=(history := History()), signer=SIGNER, witnesses=witnesses)
    sealer.seal_and_sign(NOW)
    assert history.compared == [("b", True)]
    assert "the witness a cannot be read" in caplog.text


def test_what_was_signed_before_an_error_is_told_all_the_same():
    sealing = Sealing(a_batch("one\n", more=True), Retriable("no route"))
    sealer = Sealer(sealing=sealing, history=History(), signer=SIGNER, witnesses={"w": (witness := Flaky())})
    with pytest.raises(Retriable):
        sealer.seal_and_sign(NOW)
    assert witness.told == ["one\n"]


def test_a_witness_that_fails_is_told_the_next_time_and_holds_up_no_other(caplog):
    flaky, steady = Flaky(Retriable("no route"), Fatal("no channel")), Flaky()
    sealer = Sealer(
        sealing=Sealing(a_batch("one\n"), a_batch("two\n")),
        history=History(),
        signer=SIGNER,
        witnesses={"flaky": flaky, "steady": steady},
    )
    for _ in range(4):
        sealer.seal_and_sign(NOW)
    assert steady.told == ["one\n", "two\n"]
    assert flaky.told == ["two\n"]
    assert caplog.text.count("the witness flaky did not take the checkpoint") == 2


def test_a_key_is_made_once_for_its_owner_only(tmp_path):
    path = tmp_path / "audit" / "key"
    made = key_at(path, "monitor", before_new=lambda: None)
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_at(path, "monitor", before_new=_refuse).verifier_key == made.verifier_key
    assert [file.name for file in path.parent.iterdir()] == ["key"]


def test_no_key_is_made_where_that_is_refused(tmp_path):
    with pytest.raises(WrongSettings, match="somebody else's"):
        key_at(tmp_path / "audit" / "key", "monitor", before_new=_refuse)
    assert list(tmp_path.iterdir()) == []


def _refuse():
    raise WrongSettings("this trail is somebody else's")


def test_a_key_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "key"
    key_at(path, "monitor", before_new=lambda: None)
    path.chmod(0o640)
    with pytest.raises(WrongSettings, match="chmod 600"):
        key_at(path, "monitor", before_new=_refuse)


@pytest.mark.parametrize(
    ("owner", "mode", "process", "refused"),
    [
        (10001, 0o400, 10001, None),
        (10001, 0o440, 10001, "chmod 600"),
        (0, 0o440, 10001, None),  # a Secret of Kubernetes, a credential of systemd
        (0, 0o640, 10001, None),
        (0, 0o460, 10001, "chmod 600"),
        (0, 0o444, 10001, "chmod 600"),
        (0, 0o640, 0, "chmod 600"),
        (0, 0o600, 0, None),
        (1000, 0o600, 0, r"belongs to another user \(1000\).* chown 0 \S+/key as root"),
        (1000, 0o640, 10001, r"belongs to another user \(1000\).* chown 10001 \S+/key as root"),
    ],
)
def test_a_key_is_taken_from_a_file_that_only_this_user_and_root_know(
    monkeypatch, tmp_path, owner, mode, process, refused
):
    """A file of root's may also be readable by the group of a process that is not root."""
    path = tmp_path / "key"
    made = key_at(path, "monitor", before_new=lambda: None)
    monkeypatch.setattr("os.geteuid", lambda: process)
    monkeypatch.setattr("os.fstat", lambda _: os.stat_result((mode, 0, 0, 1, owner, 0, 74, 0, 0, 0)))
    with pytest.raises(WrongSettings, match=refused) if refused else nullcontext():
        assert key_at(path, "monitor", before_new=_refuse).verifier_key == made.verifier_key


def test_a_key_of_another_log_is_refused(tmp_path):
    key_at(tmp_path / "key", "one", before_new=lambda: None)
    with pytest.raises(WrongSettings, match="is the key of one, but MONITOR_AUDIT__ORIGIN is two"):
        key_at(tmp_path / "key", "two", before_new=_refuse)


def test_a_file_that_is_no_key_is_refused_and_not_repeated(tmp_path):
    (tmp_path / "key").write_text("a secret")
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(WrongSettings) as refused:
        key_at(tmp_path / "key", "monitor", before_new=_refuse)
    assert "a secret" not in str(refused.value)


def test_a_witness_file_gives_back_the_notes_it_was_told(tmp_path):
    witness, notes = FileWitness(tmp_path / "w" / "checkpoints"), [a_note(size) for size in (1, 2, 3)]
    for note in notes:
        witness.publish(note, SIGNER.verifier_key)
    assert list(notes_at(tmp_path / "w" / "checkpoints")) == notes
    assert witness.read().notes == witness.read(recent=True).notes == notes
    assert witness.read().at is not None
    assert (tmp_path / "w" / "checkpoints.key").read_text() == f"{SIGNER.verifier_key}\n"  # once
    assert [opened(note, SIGNER.verifier_key).size for note in notes] == [1, 2, 3]


def test_a_note_that_is_published_while_they_are_read_is_left_out(tmp_path):
    witness = FileWitness(tmp_path / "checkpoints")
    witness.publish(a_note(1), SIGNER.verifier_key)
    notes = notes_at(tmp_path / "checkpoints")  # from here on leaves may be added, with notes about them
    witness.publish(a_note(2), SIGNER.verifier_key)
    assert list(notes) == [a_note(1)]


def test_notes_can_come_from_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    writer = Thread(target=(tmp_path / "pipe").write_text, args=(a_note(1),))
    writer.start()
    assert list(notes_at(tmp_path / "pipe")) == [a_note(1)]
    writer.join()


@pytest.mark.parametrize(
    "content", ['{"id":"a-1"}\n{"id":"a-2"}\n', "id,question,answer\n1,a,b\n", "a text of some words\n"]
)
def test_a_file_that_is_no_witness_is_not_taken_for_a_damaged_one(tmp_path, content):
    (tmp_path / "answers").write_text(content)
    with pytest.raises(WrongSettings, match="answers: holds no checkpoints: name the file that a witness keeps"):
        list(notes_at(tmp_path / "answers"))


def test_of_a_long_file_the_last_notes_are_recent_whole_ones(tmp_path):
    notes = [a_note(size) for size in range(1, 400)]
    (tmp_path / "checkpoints").write_text("\n".join(notes) + "\n" + a_note(400)[:30])  # the disk was full
    *recent, cut_off = FileWitness(tmp_path / "checkpoints").read(recent=True).notes
    assert 100 < len(recent) < 300
    assert recent == notes[-len(recent) :]
    assert cut_off == a_note(400)[:30]


def test_where_there_is_no_witness_file_yet_no_note_is_known(tmp_path):
    assert FileWitness(tmp_path / "checkpoints").read().notes == ()


def test_notes_without_a_blank_line_between_them_and_with_cosignatures_are_told_apart(tmp_path):
    cosigned = a_note(1) + "\u2014 witness AAAAAAAA\n"
    (tmp_path / "notes").write_text(cosigned + a_note(2))
    assert list(notes_at(tmp_path / "notes")) == [cosigned, a_note(2)]


def test_a_witness_file_that_cannot_be_written_or_read_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Fatal, match="checkpoints: File exists"):
        FileWitness(tmp_path / "file" / "checkpoints").publish("note", "key")
    with pytest.raises(WrongSettings, match="cannot be read"):
        list(notes_at(tmp_path / "nothing"))
