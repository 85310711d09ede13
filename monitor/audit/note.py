"""Signed notes and checkpoints in the form of C2SP's signed-note and tlog-checkpoint, with Ed25519.

A checkpoint names the log, its number of leaves and its root: three lines, a blank line, and the signature lines.
Witnesses may add signature lines, which stay in place and are ignored here.
"""

from __future__ import annotations

import binascii
import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from monitor.audit.merkle import HASH_BYTES
from monitor.core.errors import MonitorError, WrongSettings

KEY_BYTES = 32  # of the seed of a private key, and of a public key
_ED25519 = b"\x01"
_ID_BYTES = 4
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


def signed(checkpoint: Checkpoint, signer: Signer) -> str:
    """The checkpoint as a note signed by `signer`; the same bytes each time."""
    return f"{checkpoint.text}\n{signer.line(checkpoint.text)}"


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
    wrong = "the verifier key must have the form name+hash+base64"
    name, id_, public = _parts(verifier_key.strip(), wrong)
    if id_ != _key_id(name, public):
        raise WrongSettings(wrong)
    body, blank, lines = note.rpartition("\n\n")
    text = body + "\n"
    if not blank or not lines.endswith("\n"):
        raise NotProved("the checkpoint is not a signed note")
    signature = _signature(lines, name, id_)
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, text.encode())
    except (InvalidSignature, ValueError):
        raise NotProved(f"the signature of {name} under the checkpoint is wrong") from None
    return text


def signers(note: str) -> tuple[str, ...]:
    """The keys that claim to have signed a note, as name+hash; none where it is not a whole note."""
    text, blank, lines = note.rpartition("\n\n")
    try:
        _checkpoint(text + "\n")
        return tuple(f"{name}+{content[:_ID_BYTES].hex()}" for name, content in _signature_lines(lines) if blank)
    except NotProved:
        return ()


def _signature(lines: str, name: str, id_: bytes) -> bytes:
    """The first signature of the key; raises NotProved where there is none, or a line is malformed."""
    found = None
    for signer, content in _signature_lines(lines):
        if found is None and (signer, content[:_ID_BYTES]) == (name, id_):
            found = content[_ID_BYTES:]
    if found is None:
        raise NotProved(f"the checkpoint is not signed by {name}+{id_.hex()}")
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


def _key_id(name: str, public: bytes) -> bytes:
    return sha256(name.encode() + b"\n" + _ED25519 + public).digest()[:_ID_BYTES]


def _check_name(name: str) -> None:
    if not name or "+" in name or any(character.isspace() or not character.isprintable() for character in name):
        raise WrongSettings(
            f"{name!r} cannot name the audit log: a name must not be empty, and must not contain a space or a +"
        )
