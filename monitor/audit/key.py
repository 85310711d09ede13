"""The keys of an audit log, in the forms of C2SP's signed-note: one signs notes, its public half checks them.

A note is signed with Ed25519; a cosignature of C2SP's tlog-cosignature signs the time as well.
"""

from __future__ import annotations

import hmac
import secrets
from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from monitor.core.errors import WrongSettings

_KEY_BYTES = 32  # of the seed of a private key, and of a public key
ID_BYTES = 4  # of the hash that, with the name, identifies a key
DASH = "\u2014 "  # begins the line of a signature
_TIME_BYTES = 8
COSIGNED_BYTES = ID_BYTES + _TIME_BYTES + 64  # of a cosignature: the id of the key, the seconds, the signature
_ED25519, _COSIGNATURE = b"\x01", b"\x04"
_QUEUE = b"monitor audit queue"
_TAGS = b"monitor digests of tags"
_PRIVATE = "PRIVATE+KEY+"


class Signer:
    """An Ed25519 key with a name, which should be the origin of what it signs.

    Raises:
        WrongSettings: `name` is not a valid name, or `seed` does not have 32 bytes.
    """

    def __init__(self, name: str, seed: bytes) -> None:
        _check_name(name)
        if len(seed) != _KEY_BYTES:
            raise WrongSettings(f"the audit key must have {_KEY_BYTES} bytes, not {len(seed)}")
        self.name = name
        self._seed = seed
        self._key = Ed25519PrivateKey.from_private_bytes(seed)
        self._public = self._key.public_key().public_bytes_raw()

    @classmethod
    def generate(cls, name: str, random: Callable[[int], bytes] = secrets.token_bytes) -> Signer:
        """Makes a new key; `random` returns as many bytes as it is asked for."""
        return cls(name, random(_KEY_BYTES))

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
        return f"{DASH}{self.name} {b64encode(self.id + self._key.sign(text.encode())).decode()}\n"

    def timed_line(self, text: str, at: datetime) -> str:
        """The cosignature line under `text`, which says that it was signed at `at`, in whole seconds."""
        seconds = int(at.timestamp())
        content = seconds.to_bytes(_TIME_BYTES) + self._key.sign(_cosigned(text, seconds))
        id_ = _key_id(self.name, self._public, _COSIGNATURE)
        return f"{DASH}{self.name} {b64encode(id_ + content).decode()}\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifierKey:
    """A public key with its name."""

    name: str
    public: bytes

    @classmethod
    def load(cls, text: str) -> VerifierKey:
        """The key of a text in the public form that `Signer.verifier_key` and Go's note.GenerateKey write.

        Raises:
            WrongSettings: `text` is malformed.
        """
        wrong = "the verifier key must have the form name+hash+base64"
        name, id_, public = _parts(text.strip(), wrong)
        key = cls(name=name, public=public)
        if key.id != id_:
            raise WrongSettings(wrong)
        return key

    @property
    def id(self) -> bytes:
        """The four bytes that, with the name, identify this key."""
        return _key_id(self.name, self.public)

    @property
    def cosignature_id(self) -> bytes:
        """The four bytes under which this key cosigns."""
        return _key_id(self.name, self.public, _COSIGNATURE)

    def has_signed(self, text: str, signature: bytes) -> bool:
        """Whether `signature` is this key's under `text`."""
        return self._is_of(signature, text.encode())

    def cosigned_seconds(self, text: str, content: bytes) -> int | None:
        """When a cosignature of `text` says that it was made, in seconds since 1970; None where its signature is wrong.

        `content` is what follows the id of the key: the time and the signature.
        """
        seconds = int.from_bytes(content[:_TIME_BYTES])
        return seconds if self._is_of(content[_TIME_BYTES:], _cosigned(text, seconds)) else None

    def _is_of(self, signature: bytes, message: bytes) -> bool:
        try:
            Ed25519PublicKey.from_public_bytes(self.public).verify(signature, message)
        except (InvalidSignature, ValueError):
            return False
        return True


def _parts(text: str, wrong: str) -> tuple[str, bytes, bytes]:
    """The name, id and key of `name+hash+base64`; raises WrongSettings with the message `wrong`."""
    try:
        name, id_, encoded = text.split("+", 2)
        number, content = bytes.fromhex(id_), b64decode(encoded, validate=True)
    except ValueError:
        raise WrongSettings(wrong) from None
    if not name or len(number) != ID_BYTES or len(content) != 1 + _KEY_BYTES or content[:1] != _ED25519:
        raise WrongSettings(wrong)
    return name, number, content[1:]


def _key_id(name: str, public: bytes, kind: bytes = _ED25519) -> bytes:
    return sha256(name.encode() + b"\n" + kind + public).digest()[:ID_BYTES]


def _cosigned(text: str, seconds: int) -> bytes:
    """The message of a cosignature."""
    return f"cosignature/v1\ntime {seconds}\n{text}".encode()


def _check_name(name: str) -> None:
    if not name or "+" in name or any(character.isspace() or not character.isprintable() for character in name):
        raise WrongSettings(
            f"{name!r} cannot name the audit log: a name must not be empty, and must not contain a space or a +"
        )
