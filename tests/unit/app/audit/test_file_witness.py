"""The file of a witness on a full disk, and after a power cut."""

from __future__ import annotations

import pytest

from monitor.app.audit.sealer import notes_at
from monitor.app.audit.witnesses import FileWitness
from monitor.audit.key import Signer
from monitor.audit.merkle import EMPTY_ROOT
from monitor.audit.note import Checkpoint, signed
from monitor.core.errors import Fatal
from tests.rig.full_disk import room_for

SIGNER = Signer("monitor", bytes(32))
KEY = SIGNER.verifier_key


def a_note(size):
    return signed(Checkpoint(origin="monitor", size=size, root=EMPTY_ROOT), SIGNER)


@pytest.fixture
def path(tmp_path):
    made = tmp_path / "checkpoints"
    FileWitness(made).publish(a_note(1), KEY)
    return made


def test_a_disk_that_is_full_leaves_no_half_note(path):
    before = path.read_bytes()
    with room_for(len(before) + 20), pytest.raises(Fatal, match="checkpoints"):
        FileWitness(path).publish(a_note(2), KEY)
    assert path.read_bytes() == before
    FileWitness(path).publish(a_note(2), KEY)
    assert list(notes_at(path)) == [a_note(1), a_note(2)]


@pytest.mark.parametrize("cut", range(1, len(a_note(2)), 4))
def test_what_a_power_cut_left_of_a_note_spoils_no_other(path, cut):
    with path.open("a") as file:
        file.write(a_note(2)[:cut])
    witness = FileWitness(path)
    witness.publish(a_note(3), KEY)
    witness.publish(a_note(4), KEY)
    first, *others = notes_at(path)
    assert first == a_note(1)
    assert others[-2:] == [a_note(3), a_note(4)]
    assert "\n\n".join(note.rstrip("\n") for note in others[:-2]) in {a_note(2)[:cut].rstrip("\n"), ""}


def test_a_file_that_ends_without_an_empty_line_goes_on_with_one(path):
    path.write_text(a_note(1))
    FileWitness(path).publish(a_note(2), KEY)
    assert path.read_text() == f"{a_note(1)}\n{a_note(2)}\n"
    assert path.with_name("checkpoints.key").read_text() == f"{KEY}\n"
