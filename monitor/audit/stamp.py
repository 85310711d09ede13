"""Time stamps of checkpoints by authorities outside: what they say, and whether they are of the checkpoint.

A time stamp is over a `note.statement`: the note, and the public key. So it also shows which key the log had then.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from typing_extensions import override

from monitor.audit.note import NotProved
from monitor.audit.verifier import terms, tokens
from monitor.core.model import Json


class StampKind(StrEnum):
    """The form of a time stamp."""

    TIMESTAMP = terms.TIMESTAMP  # a response of RFC 3161, signed by its authority
    RECEIPT = terms.RECEIPT  # of OpenTimestamps, which leads to a Bitcoin block once it is complete
    UNKNOWN = "unknown"  # whatever else somebody wrote into the table

    @classmethod
    @override
    def _missing_(cls, value: object) -> StampKind:
        return cls.UNKNOWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """A time stamp of the checkpoint of `size` leaves; `witness` is the host that gave it.

    `stamped_at` is the time that it says, None where it says none. `complete`: nothing more is to be asked for.
    """

    size: int
    witness: str
    kind: StampKind
    token: bytes
    obtained_at: datetime
    stamped_at: datetime | None
    complete: bool

    def json(self) -> dict[str, Json]:
        """What an export and a proof hold of it."""
        token = b64encode(self.token).decode()
        return {"size": self.size, "witness": self.witness, "kind": self.kind.value, "token": token}


def read_token(kind: StampKind, token: bytes, statement: bytes) -> tuple[datetime | None, bool]:
    """The time that a time stamp of `statement` says, and whether it is complete. Its signature is not checked.

    Raises:
        NotProved: it is malformed, or of something else.
    """
    if kind is StampKind.UNKNOWN:
        raise NotProved("it is of an unknown kind")
    try:
        if kind is StampKind.RECEIPT:
            receipt = tokens.Receipt(token)
            digest, expected = receipt.digest, hashlib.sha256(statement).digest()
            at, complete = None, bool(receipt.bitcoin)
        else:
            function, digest, at = tokens.stamped(token)
            expected, complete = hashlib.new(function, statement).digest(), True
    except (terms.Fault, *terms.MALFORMED) as error:
        raise NotProved(f"it is malformed: {error}") from None
    if digest != expected:
        raise NotProved("it is of something else")
    return at, complete


def is_of(stamp: Stamp, statement: str) -> bool:
    """Whether a time stamp is of the statement, and says the time that its row says."""
    try:
        at, _ = read_token(stamp.kind, stamp.token, statement.encode())
    except NotProved:
        return False
    return at == stamp.stamped_at


def a_receipt(statement: bytes, answer: bytes) -> bytes:
    """The file of a receipt from what a calendar answered to the SHA-256 of `statement`."""
    return tokens.MAGIC + hashlib.sha256(statement).digest() + answer


def pending_of(receipt: bytes) -> bytes | None:
    """What to ask the calendar for, to complete a receipt; None where it waits for nothing."""
    return next(iter(tokens.Receipt(receipt).pending), None)


def completed(receipt: bytes, answer: bytes) -> bytes:
    """The receipt with the calendar's newer answer in the place of its promise, which stands at the end.

    Raises:
        NotProved: the receipt ends with something else.
    """
    at = receipt.rfind(b"\0" + tokens.PENDING)
    payload = receipt[at + 1 + len(tokens.PENDING) :]
    if at < 0 or not payload or payload[0] != len(payload) - 1:
        raise NotProved("the receipt does not end with the promise of its calendar")
    return receipt[:at] + answer
