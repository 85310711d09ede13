"""Signed notes and checkpoints in the form of C2SP's signed-note and tlog-checkpoint, with Ed25519.

A checkpoint names the log, its number of leaves and its root: three lines, a blank line, and the signature lines.
Witnesses may add signature lines, which stay in place and are ignored here. The log adds one of its own to say when it
signed: a cosignature of C2SP's tlog-cosignature, whose signed message begins with the time.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from monitor.audit.key import COSIGNED_BYTES, DASH, ID_BYTES, Signer, VerifierKey
from monitor.audit.merkle import HASH_BYTES
from monitor.core.errors import MonitorError

_LONGEST = 1 << 20  # characters of a note; longer ones are refused


class NotProved(MonitorError):
    """A part of the audit trail does not prove what it should; the message says which."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """The state of a log: its origin, its number of leaves, and their root of 32 bytes.

    `extensions` are further lines; this program writes none.
    """

    origin: str
    size: int
    root: bytes
    extensions: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The text that is signed."""
        lines = (self.origin, str(self.size), b64encode(self.root).decode(), *self.extensions)
        return "".join(f"{line}\n" for line in lines)


def signed(checkpoint: Checkpoint, signer: Signer, at: datetime | None = None) -> str:
    """The checkpoint as a note signed by `signer`, with the time `at` if it is given; the same bytes each time."""
    timed = "" if at is None else signer.timed_line(checkpoint.text, at)
    return f"{checkpoint.text}\n{signer.line(checkpoint.text)}{timed}"


def opened(note: str, verifier_key: str) -> Checkpoint:
    """The checkpoint of a note, after checking the signature of the key; other signature lines are ignored.

    Raises:
        NotProved: the note is not a signed checkpoint, or the signature of this key is missing or wrong.
        WrongSettings: `verifier_key` is malformed.
    """
    if len(note) > _LONGEST:
        raise NotProved("the checkpoint is not a signed note")
    return _checkpoint(signed_text(note, verifier_key))


def signed_text(note: str, verifier_key: str) -> str:
    """The text of a note, whatever it says, after checking the signature of the key.

    Raises:
        NotProved: it is no signed note, or the signature of this key is missing or wrong.
        WrongSettings: `verifier_key` is malformed.
    """
    key = VerifierKey.load(verifier_key)
    body, blank, lines = note.rpartition("\n\n")
    text = body + "\n"
    if not blank or not lines.endswith("\n"):
        raise NotProved("the checkpoint is not a signed note")
    signature = _signature(lines, key.name, key.id)
    if signature is None:
        raise NotProved(f"the checkpoint is not signed by {key.name}+{key.id.hex()}")
    if not key.has_signed(text, signature):
        raise NotProved(f"the signature of {key.name} under the checkpoint is wrong")
    return text


def signed_at(note: str, verifier_key: str) -> datetime | None:
    """When the owner of the key signed a note, by his clock; None where he did not say, as earlier releases do not.

    Raises:
        NotProved: the time is not the one that he signed.
        WrongSettings: `verifier_key` is malformed.
    """
    key = VerifierKey.load(verifier_key)
    body, _, lines = note.rpartition("\n\n")
    content = _signature(lines, key.name, key.cosignature_id)
    if content is None:
        return None
    wrong = f"the time that {key.name} signed under the checkpoint is wrong"
    seconds = key.cosigned_seconds(body + "\n", content)
    if seconds is None:
        raise NotProved(wrong)
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        raise NotProved(wrong) from None


def key_of(note: str, keys: Sequence[str]) -> str:
    """The first of the public keys that signed the checkpoint of a note.

    Raises:
        NotProved: none of them signed it; the message is about the first key.
    """
    problem: NotProved | None = None
    for key in keys:
        try:
            opened(note, key)
        except NotProved as error:
            problem = problem or error
        else:
            return key
    raise problem or NotProved("there is no key to check the checkpoint with")


def statement(note: str, verifier_key: str) -> str:
    """What is time-stamped of a checkpoint: its note, and the public key that signed it, after an empty line."""
    return f"{note}\n{verifier_key}\n"


def signers(note: str) -> tuple[str, ...]:
    """The keys that claim to have signed a note, as name+hash; none where it is not a whole note.

    Cosignatures are left out: they are by witnesses, or by a key that has signed as well.
    """
    text, blank, lines = note.rpartition("\n\n")
    try:
        _checkpoint(text + "\n")
        return tuple(
            f"{name}+{content[:ID_BYTES].hex()}"
            for name, content in _signature_lines(lines)
            if blank and len(content) != COSIGNED_BYTES
        )
    except NotProved:
        return ()


def _signature(lines: str, name: str, id_: bytes) -> bytes | None:
    """The first signature of the key, None where there is none; raises NotProved where a line is malformed."""
    found = None
    for signer, content in _signature_lines(lines):
        if found is None and (signer, content[:ID_BYTES]) == (name, id_):
            found = content[ID_BYTES:]
    return found


def _signature_lines(lines: str) -> Iterator[tuple[str, bytes]]:
    """The name on each line, with the id of the key and the signature; raises NotProved where a line is malformed."""
    for line in lines.removesuffix("\n").split("\n"):
        signer, _, encoded = line.removeprefix(DASH).partition(" ")
        try:
            content = b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            content = b""
        if line != f"{DASH}{signer} {b64encode(content).decode()}" or len(content) <= ID_BYTES:
            raise NotProved("the checkpoint has a malformed signature line")
        yield signer, content


def _checkpoint(text: str) -> Checkpoint:
    try:
        origin, size, root, *extensions = text.removesuffix("\n").split("\n")
        made = Checkpoint(
            origin=origin, size=int(size), root=b64decode(root, validate=True), extensions=tuple(extensions)
        )
    except ValueError:
        raise NotProved("the signed note is not a checkpoint") from None
    # a checkpoint has exactly one form, so it must give the same text again
    well_formed = made.text == text and made.size >= 0 and len(made.root) == HASH_BYTES
    if not well_formed or not all((origin, *extensions)):
        raise NotProved("the signed note is not a checkpoint")
    return made
