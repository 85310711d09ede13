"""Signed notes: those of the specification and of Go's package, and forged ones."""

from __future__ import annotations

from base64 import b64decode, b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.audit.key import Signer
from monitor.audit.note import Checkpoint, NotProved, opened, signed, signed_at
from monitor.core.errors import WrongSettings

# From the documentation of golang.org/x/mod/sumdb/note.
GO_PRIVATE = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz"
GO_VERIFIER = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW"
GO_TEXT = "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n"
GO_LINE = (
    "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n"
)
ORIGIN = "monitor.example/audit"
SIGNER = Signer(ORIGIN, bytes(range(32)))
OTHER = Signer("witness.example", bytes(32))
CHECKPOINT = Checkpoint(origin=ORIGIN, size=42, root=bytes(range(32)))
NOTE = signed(CHECKPOINT, SIGNER)
KEY = SIGNER.verifier_key


def test_a_key_of_go_signs_as_go_does():
    signer = Signer.load(GO_PRIVATE)
    assert signer.verifier_key == GO_VERIFIER
    assert signer.private_key == GO_PRIVATE
    assert signer.line(GO_TEXT) == GO_LINE


def test_a_note_that_is_no_checkpoint_is_told_so_once_its_signature_is_good():
    with pytest.raises(NotProved, match="not a checkpoint"):
        opened(f"{GO_TEXT}\n{GO_LINE}", GO_VERIFIER)


def test_a_checkpoint_has_three_lines_and_a_signature():
    root = b64encode(CHECKPOINT.root).decode()
    assert f"{ORIGIN}\n42\n{root}\n\n{SIGNER.line(CHECKPOINT.text)}" == NOTE
    assert opened(NOTE, KEY) == CHECKPOINT
    assert signed(CHECKPOINT, Signer.load(SIGNER.private_key)) == NOTE


@given(st.integers(0, 2**63), st.binary(min_size=32, max_size=32), st.lists(st.from_regex(r"\A[ -~]+\Z"), max_size=3))
def test_what_was_signed_is_opened(size, root, extensions):
    made = Checkpoint(origin=ORIGIN, size=size, root=root, extensions=tuple(extensions))
    assert opened(signed(made, SIGNER), KEY) == made


def test_a_witness_may_add_its_line():
    line = OTHER.line(CHECKPOINT.text)
    assert opened(NOTE + line, KEY) == CHECKPOINT
    before, after = NOTE.split("\n\n")
    assert opened(f"{before}\n\n{line}{after}", KEY) == CHECKPOINT
    assert opened(NOTE + line, OTHER.verifier_key) == CHECKPOINT


@given(st.integers(0, len(NOTE) - 1), st.sampled_from("\0\n +AZaz09=—"))
def test_a_changed_character_is_found(at, other):
    changed = NOTE[:at] + other + NOTE[at + 1 :]
    if changed != NOTE:
        with pytest.raises(NotProved):
            opened(changed, KEY)


@pytest.mark.parametrize(
    ("note", "said"),
    [
        ("", "not a signed note"),
        (NOTE.replace("\n\n", "\n"), "not a signed note"),
        (NOTE.removesuffix("\n"), "not a signed note"),
        (f"{CHECKPOINT.text}\n{OTHER.line(CHECKPOINT.text)}", "not signed by monitor.example/audit"),
        (f"{CHECKPOINT.text}\n{SIGNER.line('x')}", "is wrong"),
        (f"{CHECKPOINT.text}\n{SIGNER.line('x')}{SIGNER.line(CHECKPOINT.text)}", "is wrong"),
        (f"{NOTE}{ORIGIN} AAAA\n", "malformed"),
        (f"{NOTE}— {ORIGIN} !\n", "malformed"),
        (f"{NOTE}— {ORIGIN} AAAA\n", "malformed"),
    ],
)
def test_what_is_not_proved_is_said_plainly(note, said):
    with pytest.raises(NotProved, match=said):
        opened(note, KEY)


@pytest.mark.parametrize(
    "text",
    [
        "o\n42\n",
        "o\n042\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        "o\n-1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        "o\n1\nAAEC\n",
        "\n1\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
        "o\nsome\nAAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=\n",
    ],
)
def test_a_signed_text_of_another_form_is_no_checkpoint(text):
    with pytest.raises(NotProved, match="not a checkpoint"):
        opened(f"{text}\n{SIGNER.line(text)}", KEY)


@pytest.mark.parametrize(
    "key", ["", "a+b+c", KEY[:-4], KEY.replace(ORIGIN, "other"), GO_PRIVATE, KEY.replace("+A", "+B"), "+" + KEY]
)
def test_a_key_that_is_none_is_named(key):
    with pytest.raises(WrongSettings, match="name\\+hash\\+base64"):
        opened(NOTE, key)
    if key != GO_PRIVATE:
        with pytest.raises(WrongSettings) as caught:
            Signer.load(key)
        assert "PRIVATE+KEY+name+hash+base64" in str(caught.value)


def test_a_checkpoint_says_when_it_was_signed_in_the_form_of_a_cosignature():
    at = datetime(2025, 11, 21, 12, 0, 30, 999_999, tzinfo=UTC)
    timed = signed(CHECKPOINT, SIGNER, at)
    assert timed == NOTE + SIGNER.timed_line(CHECKPOINT.text, at)  # what earlier releases wrote, and a line more
    assert opened(timed, KEY) == CHECKPOINT
    assert signed_at(timed, KEY) == at.replace(microsecond=0)
    assert signed_at(NOTE, KEY) is None
    assert signed_at(timed, OTHER.verifier_key) is None


def test_a_witness_of_the_specification_is_read():
    """The example of C2SP's tlog-cosignature, with the time that its bytes hold."""
    line = "jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA=="
    assert int.from_bytes(b64decode(line)[4:12]) == 1679315147
    assert len(b64decode(line)) == len(b64decode(SIGNER.timed_line("x\n", datetime.now(UTC)).split()[2]))


@pytest.mark.parametrize("change", [b"\0" * 7 + b"\1", b"\xff" * 8])
def test_a_changed_time_is_found(change):
    timed = signed(CHECKPOINT, SIGNER, datetime(2025, 11, 21, tzinfo=UTC))
    content = b64decode(timed.split()[-1])
    changed = NOTE + f"— {ORIGIN} {b64encode(content[:4] + change + content[12:]).decode()}\n"
    assert opened(changed, KEY) == CHECKPOINT
    with pytest.raises(NotProved, match=r"the time that .* signed under the checkpoint is wrong"):
        signed_at(changed, KEY)


@pytest.mark.parametrize("name", ["", "a b", "a+b", "a\nb", "a\u00a0b"])
def test_a_name_that_notes_cannot_have_is_refused(name):
    with pytest.raises(WrongSettings, match="cannot name"):
        Signer.generate(name)


def test_a_key_is_drawn_from_what_it_is_given():
    assert Signer.generate(ORIGIN, lambda _: bytes(range(32))).private_key == SIGNER.private_key
    assert Signer.generate(ORIGIN).private_key != Signer.generate(ORIGIN).private_key
    with pytest.raises(WrongSettings, match="32 bytes"):
        Signer(ORIGIN, b"short")
