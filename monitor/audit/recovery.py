"""The act of recovery: it says what a trail lost when its database was restored from a backup.

It is the first leaf after the restored ones, and excuses exactly the checkpoints that it names. It is signed with the
key of the log by itself, so that nobody who can only write to the database makes one, whatever way a leaf took.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from monitor.audit.canonical import canonical
from monitor.audit.key import Signer
from monitor.audit.note import NotProved, signed_text
from monitor.audit.record import portable
from monitor.core.model import Json

SUBJECT = "trail"  # of the leaf
_HEAD = "the recovery of an audit trail\n"  # the name of a log has no spaces, so no checkpoint begins like this
_SIGNATURE = "signature"


class Head(NamedTuple):
    """The tree of a checkpoint: its number of leaves, and their root in base64, as a note has it."""

    size: int
    root: str

    @classmethod
    def of(cls, size: int, root: bytes) -> Head:
        return cls(size, b64encode(root).decode())


@dataclass(frozen=True, slots=True, kw_only=True)
class WitnessState:
    """What one witness knew: its newest checkpoint, when it got that, if it says so, and how many of them are lost."""

    name: str
    newest: Head
    at: str | None
    lost: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """What was lost, by whom it was recovered, when (RFC 3339) and why.

    `restored` is the tree that was left, `signed` the size of its last checkpoint; `lost` are the checkpoints beyond it
    that witnesses knew, in the order of their sizes.
    """

    by: str
    at: str
    reason: str
    restored: Head
    signed: int
    witnesses: tuple[WitnessState, ...]
    lost: tuple[Head, ...]

    @property
    def leaves_lost(self) -> int:
        """How many leaves were lost, as far as witnesses know."""
        return self.lost[-1].size - self.restored.size

    def body(self, signer: Signer) -> dict[str, Json]:
        """The body of the act, with its signature."""
        body = self._body()
        return {**body, _SIGNATURE: signer.line(_text(body)).removesuffix("\n")}

    def _body(self) -> dict[str, Json]:
        witnesses: list[Json] = [
            {"name": its.name, **its.newest._asdict(), "at": its.at, "lost": its.lost} for its in self.witnesses
        ]
        return {
            "by": self.by,
            "at": self.at,
            "reason": self.reason,
            "restored": {**self.restored._asdict(), "signed": self.signed},
            "leaves_lost": self.leaves_lost,
            "witnesses": witnesses,
            "lost": [list(head) for head in self.lost],
        }


def recovery_of(body: Mapping[str, Any], index: int, keys: Sequence[str]) -> Recovery:
    """The recovery that the body of the leaf `index` records, which one of the public keys signed for that place.

    Raises:
        NotProved: none of them signed it, or it was signed for another place.
    """
    said = {name: value for name, value in body.items() if name != _SIGNATURE}
    _check_signature(said, str(body.get(_SIGNATURE)), keys)
    restored = said["restored"]  # the key signs nothing else that begins as a recovery does
    if restored["size"] != index:
        raise NotProved(f"it was signed for leaf {restored['size']}")
    return Recovery(
        by=said["by"],
        at=said["at"],
        reason=said["reason"],
        restored=Head(restored["size"], restored["root"]),
        signed=restored["signed"],
        witnesses=tuple(
            WitnessState(name=its["name"], newest=Head(its["size"], its["root"]), at=its["at"], lost=its["lost"])
            for its in said["witnesses"]
        ),
        lost=tuple(Head(size, root) for size, root in said["lost"]),
    )


def _check_signature(said: Mapping[str, Any], signature: str, keys: Sequence[str]) -> None:
    for key in keys:
        with suppress(NotProved, ValueError):  # what an attacker has put in need not have a canonical form
            signed_text(f"{_text(said)}\n{signature}\n", key)
            return
    raise NotProved("no key of this log has signed it")


def _text(body: Mapping[str, Any]) -> str:
    return f"{_HEAD}{canonical(portable(dict(body))).decode()}\n"
