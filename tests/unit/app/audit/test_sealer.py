"""The key's file, the witness's file, and what becomes of a witness that fails; without a database."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from monitor.app.audit.sealer import Sealer, key_at, notes_at
from monitor.app.audit.witnesses import FileWitness
from monitor.audit.merkle import EMPTY_ROOT
from monitor.audit.note import Checkpoint, Signer, opened, signed
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.store.audit.seal import SealedBatch

NOW = datetime(2025, 11, 21, 12, 0, tzinfo=UTC)
SIGNER = Signer("monitor", bytes(32))


def a_note(size: int) -> str:
    return signed(Checkpoint(origin="monitor", size=size, root=EMPTY_ROOT), SIGNER)


class Sealing:
    """Gives what it is told to."""

    def __init__(self, *batches, notes=()):
        self.batches, self.notes = list(batches), list(notes)

    def seal_batch(self, now):
        assert now == NOW
        return self.batches.pop(0)

    def checkpoint(self, signer, previous_keys):
        assert (signer, previous_keys) == (SIGNER, ())
        return self.notes.pop(0) if self.notes else None


class Flaky:
    def __init__(self, *errors):
        self.errors, self.told = list(errors), []

    def publish(self, note):
        if self.errors:
            raise self.errors.pop(0)
        self.told.append(note)


def test_it_seals_until_nothing_is_left():
    sealing = Sealing(
        SealedBatch(leaves=2, more=True), SealedBatch(leaves=1, more=True), SealedBatch(leaves=0, more=False)
    )
    assert Sealer(sealing=sealing, signer=SIGNER).seal(NOW) == 3


def test_it_leaves_it_to_another_replica():
    assert Sealer(sealing=Sealing(None), signer=SIGNER).seal(NOW) == 0


def test_a_witness_that_fails_is_told_the_next_time_and_holds_up_no_other(caplog):
    flaky, steady = Flaky(Retriable("no route"), Fatal("no channel")), Flaky()
    sealer = Sealer(
        sealing=Sealing(notes=["one\n", "two\n"]), signer=SIGNER, witnesses={"flaky": flaky, "steady": steady}
    )
    for _ in range(4):
        sealer.checkpoint()
    assert steady.told == ["one\n", "two\n"]
    assert flaky.told == ["two\n"]
    assert caplog.text.count("the witness flaky did not take the checkpoint") == 2


def test_a_key_is_made_once_for_its_owner_only(tmp_path):
    path = tmp_path / "audit" / "key"
    made = key_at(path, "monitor")
    assert path.stat().st_mode & 0o777 == 0o600
    assert key_at(path, "monitor").verifier_key == made.verifier_key
    assert [file.name for file in path.parent.iterdir()] == ["key"]


def test_a_key_that_others_may_read_is_refused(tmp_path):
    path = tmp_path / "key"
    key_at(path, "monitor")
    path.chmod(0o640)
    with pytest.raises(WrongSettings, match="chmod 600"):
        key_at(path, "monitor")


def test_a_key_of_another_log_is_refused(tmp_path):
    key_at(tmp_path / "key", "one")
    with pytest.raises(WrongSettings, match="is the key of one, but MONITOR_AUDIT__ORIGIN is two"):
        key_at(tmp_path / "key", "two")


def test_a_file_that_is_no_key_is_refused_and_not_repeated(tmp_path):
    (tmp_path / "key").write_text("a secret")
    (tmp_path / "key").chmod(0o600)
    with pytest.raises(WrongSettings) as refused:
        key_at(tmp_path / "key", "monitor")
    assert "a secret" not in str(refused.value)


def test_a_witness_file_gives_back_the_notes_it_was_told(tmp_path):
    witness, notes = FileWitness(tmp_path / "w" / "checkpoints"), [a_note(size) for size in (1, 2, 3)]
    for note in notes:
        witness.publish(note)
    assert list(notes_at(tmp_path / "w" / "checkpoints")) == notes
    assert [opened(note, SIGNER.verifier_key).size for note in notes] == [1, 2, 3]


def test_notes_without_a_blank_line_between_them_and_with_cosignatures_are_told_apart(tmp_path):
    cosigned = a_note(1) + "\u2014 witness AAAAAAAA\n"
    (tmp_path / "notes").write_text(cosigned + a_note(2))
    assert list(notes_at(tmp_path / "notes")) == [cosigned, a_note(2)]


def test_a_witness_file_that_cannot_be_written_or_read_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(Fatal, match="checkpoints: File exists"):
        FileWitness(tmp_path / "file" / "checkpoints").publish("note")
    with pytest.raises(WrongSettings, match="cannot be read"):
        list(notes_at(tmp_path / "nothing"))
