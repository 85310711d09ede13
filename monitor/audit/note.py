"""Signed notes and checkpoints in the form of C2SP's signed-note and tlog-checkpoint, with Ed25519.

A checkpoint names the log, its number of leaves and its root: three lines, a blank line, and the signature lines.
Witnesses may add signature lines, which stay in place and are ignored here. The log adds one of its own to say when it
signed: a cosignature of C2SP's tlog-cosignature, whose signed message begins with the time.
"""

from __future__ import annotations

import binascii
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from monitor.audit.merkle import HASH_BYTES
from monitor.core.errors import MonitorError, WrongSettings

KEY_BYTES = 32  # of the seed of a private key, and of a public key
_ED25519, _COSIGNATURE = b"\x01", b"\x04"
_ID_BYTES, _TIME_BYTES = 4, 8
_COSIGNED_BYTES = _ID_BYTES + _TIME_BYTES + 64
_QUEUE = b"monitor audit queue"
_TAGS = b"monitor digests of tags"
_PRIVATE = "PRIVATE+KEY+"
_DASH = "\u2014 "
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


class Signer:
    """An Ed25519 key with a name, which should be the origin of what it signs.

    Raises:
        WrongSettings: `name` is not a valid name, or `seed` does not have 32 bytes.
    """

    def __init__(self, name: str, seed: bytes) -> None:
        _check_name(name)
        if len(seed) != KEY_BYTES:
            raise WrongSettings(f"the audit key must have {KEY_BYTES} bytes, not {len(seed)}")
        self.name = name
        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self._public = self._key.public_key().public_bytes_raw()

    @classmethod
    def generate(cls, name: str, random: Callable[[int], bytes] = secrets.token_bytes) -> Signer:
        """Makes a new key; `random` returns as many bytes as it is asked for."""
        return cls(name, random(KEY_BYTES))

    @classmethod
    def load(cls, text: str) -> Signer:
        """The key of a text in the private form that `private_key` and Go's note.GenerateKey write.

        Raises:
            WrongSettings: `text` is malformed; the message does not repeat it.
        """
        wrong = "the audit key must have the form PRIVATE+KEY+name+hash+base64"
        text = text.strip()
        name, id_, seed = _parts(text.removeprefix(_PRIVATE), wrong)
        signer = cls(name, seed)
        if not text.startswith(_PRIVATE) or signer.id != id_:
            raise WrongSettings(wrong)
        return signer

    @property
    def id(self) -> bytes:
        """The four bytes that, with the name, identify this key."""
        return _key_id(self.name, self._public)

    @property
    def queue_key(self) -> bytes:
        """The key that authenticates what waits to be sealed: 32 bytes, from which the private key cannot be found."""
        return hmac.digest(self._seed, _QUEUE, "sha256")

    @property
    def tag_key(self) -> bytes:
        """The key of the digests by which redacted tags are found; the private key cannot be found from it."""
        return hmac.digest(self._seed, _TAGS, "sha256")

    @property
    def private_key(self) -> str:
        """The private key as text, to be kept secret."""
        return f"{_PRIVATE}{self.name}+{self.id.hex()}+{b64encode(_ED25519 + self._seed).decode()}"

    @property
    def verifier_key(self) -> str:
        """The public key as text, which is enough to check a note."""
        return f"{self.name}+{self.id.hex()}+{b64encode(_ED25519 + self._public).decode()}"

    def line(self, text: str) -> str:
        """The signature line under `text`."""
        return f"{_DASH}{self.name} {b64encode(self.id + self._key.sign(text.encode())).decode()}\n"

    def timed_line(self, text: str, at: datetime) -> str:
        """The cosignature line under `text`, which says that it was signed at `at`, in whole seconds."""
        seconds = int(at.timestamp())
        content = seconds.to_bytes(_TIME_BYTES) + self._key.sign(_timed(text, seconds))
        id_ = _key_id(self.name, self._public, _COSIGNATURE)
        return f"{_DASH}{self.name} {b64encode(id_ + content).decode()}\n"


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
    name, id_, public = _public_parts(verifier_key)
    body, blank, lines = note.rpartition("\n\n")
    text = body + "\n"
    if not blank or not lines.endswith("\n"):
        raise NotProved("the checkpoint is not a signed note")
    signature = _signature(lines, name, id_)
    if signature is None:
        raise NotProved(f"the checkpoint is not signed by {name}+{id_.hex()}")
    _check(public, signature, text.encode(), f"the signature of {name} under the checkpoint is wrong")
    return text


def signed_at(note: str, verifier_key: str) -> datetime | None:
    """When the owner of the key signed a note, by his clock; None where he did not say, as earlier releases do not.

    Raises:
        NotProved: the time is not the one that he signed.
        WrongSettings: `verifier_key` is malformed.
    """
    name, _, public = _public_parts(verifier_key)
    body, _, lines = note.rpartition("\n\n")
    content = _signature(lines, name, _key_id(name, public, _COSIGNATURE))
    if content is None:
        return None
    seconds = int.from_bytes(content[:_TIME_BYTES])
    wrong = f"the time that {name} signed under the checkpoint is wrong"
    _check(public, content[_TIME_BYTES:], _timed(body + "\n", seconds), wrong)
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
            f"{name}+{content[:_ID_BYTES].hex()}"
            for name, content in _signature_lines(lines)
            if blank and len(content) != _COSIGNED_BYTES
        )
    except NotProved:
        return ()


def _public_parts(verifier_key: str) -> tuple[str, bytes, bytes]:
    wrong = "the verifier key must have the form name+hash+base64"
    name, id_, public = _parts(verifier_key.strip(), wrong)
    if id_ != _key_id(name, public):
        raise WrongSettings(wrong)
    return name, id_, public


def _check(public: bytes, signature: bytes, message: bytes, wrong: str) -> None:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except (InvalidSignature, ValueError):
        raise NotProved(wrong) from None


def _timed(text: str, seconds: int) -> bytes:
    """The message of a cosignature."""
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def _signature(lines: str, name: str, id_: bytes) -> bytes | None:
    """The first signature of the key, None where there is none; raises NotProved where a line is malformed."""
    found = None
    for signer, content in _signature_lines(lines):
        if found is None and (signer, content[:_ID_BYTES]) == (name, id_):
            found = content[_ID_BYTES:]
    return found


def _signature_lines(lines: str) -> Iterator[tuple[str, bytes]]:
    """The name on each line, with the id of the key and the signature; raises NotProved where a line is malformed."""
    for line in lines.removesuffix("\n").split("\n"):
        signer, _, encoded = line.removeprefix(_DASH).partition(" ")
        try:
            content = b64decode(encoded, validate=True)
        except (binascii.Error, ValueError):
            content = b""
        if line != f"{_DASH}{signer} {b64encode(content).decode()}" or len(content) <= _ID_BYTES:
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


def _parts(text: str, wrong: str) -> tuple[str, bytes, bytes]:
    """The name, id and key of `name+hash+base64`; raises WrongSettings with the message `wrong`."""
    try:
        name, id_, encoded = text.split("+", 2)
        number, content = bytes.fromhex(id_), b64decode(encoded, validate=True)
    except ValueError:
        raise WrongSettings(wrong) from None
    if not name or len(number) != _ID_BYTES or len(content) != 1 + KEY_BYTES or content[:1] != _ED25519:
        raise WrongSettings(wrong)
    return name, number, content[1:]


def _key_id(name: str, public: bytes, kind: bytes = _ED25519) -> bytes:
    return sha256(name.encode() + b"\n" + kind + public).digest()[:_ID_BYTES]


def _check_name(name: str) -> None:
    if not name or "+" in name or any(character.isspace() or not character.isprintable() for character in name):
        raise WrongSettings(
            f"{name!r} cannot name the audit log: a name must not be empty, and must not contain a space or a +"
        )
