"""The stored checkpoints: reads and signs the last one, and checks that the stored tree is the one that it signs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from monitor.audit.key import Signer
from monitor.audit.merkle import Frontier
from monitor.audit.note import Checkpoint, key_of, opened, signed, signed_at
from monitor.core.errors import Fatal
from monitor.store.audit.backfill import is_numbered
from monitor.store.audit.leaf import entry_of
from monitor.store.audit.tree import head_at, tree_size

if TYPE_CHECKING:
    import psycopg

_LAST = "SELECT size, note FROM audit_checkpoint ORDER BY size DESC LIMIT 1"
_SIGN = "INSERT INTO audit_checkpoint (size, root, note, made_at) VALUES (%s, %s, %s, %s)"
NOTES_OF = "SELECT size, note FROM audit_checkpoint WHERE size = ANY(%s)"
_NOTES_AT_A_TIME = 1_000  # there may be a million
_LONGEST_SIZE = 18  # digits that surely fit a column
_UNSIGNED = "SELECT index, kind, body FROM audit_leaf WHERE index >= %s ORDER BY index"


class StoredCheckpoint(NamedTuple):
    """How many leaves a checkpoint signs, and its note."""

    size: int
    note: str


def last_checkpoint(raw: psycopg.Connection) -> StoredCheckpoint | None:
    """The checkpoint of most leaves; None while nothing is signed. Its signature is for the caller to check."""
    row = raw.execute(_LAST).fetchone()
    return None if row is None else StoredCheckpoint(*row)


def signed_size(raw: psycopg.Connection) -> int:
    """The number of leaves that the last checkpoint signs."""
    last = last_checkpoint(raw)
    return 0 if last is None else last.size


def sign(raw: psycopg.Connection, frontier: Frontier, signer: Signer, made_at: datetime | None) -> str:
    """Signs the tree of the frontier and the time `made_at`, stores the checkpoint, and returns its note."""
    note = signed(Checkpoint(origin=signer.name, size=frontier.size, root=frontier.root), signer, made_at)
    raw.execute(_SIGN, (frontier.size, frontier.root, note, made_at))
    return note


def opened_by(note: str, keys: Sequence[str]) -> Checkpoint:
    """The checkpoint of a note that one of the public keys signed.

    Raises:
        NotProved: none of them signed it; the message is about the first key.
    """
    return opened(note, key_of(note, keys))


def time_signed(note: str, keys: Sequence[str]) -> datetime | None:
    """When a note was signed, by the clock of the sealer and in whole seconds, if one of the public keys says so.

    Raises:
        NotProved: the time is not the one that was signed.
    """
    return next((at for key in keys if (at := signed_at(note, key)) is not None), None)


def check_signed(raw: psycopg.Connection) -> None:
    """Checks that the stored tree is the one that was signed last, and no larger; raises Fatal otherwise."""
    last = last_checkpoint(raw)
    size = 0 if last is None else last.size
    # what the note says, because its signature is checked before the next one is made; the columns have none
    if last is not None and (
        size > tree_size(raw) or last.note.split("\n")[1:3] != [str(size), head_at(raw, size).root]
    ):
        raise Fatal(
            f"the audit trail is not the one whose {size} leaves were signed last; nothing is sealed on top of it. "
            "`monitor audit verify` names what was changed"
        )
    if strange := foreign_leaves(raw):
        raise Fatal(
            f"leaf {strange[0]} stands behind the {size} leaves that were signed, and no process with the key sealed "
            "it: nothing is sealed on top of it. `monitor audit verify` names all of them; to go on, delete the rows "
            f"of audit_leaf from index {size} on"
        )


def foreign_leaves(raw: psycopg.Connection) -> list[int]:
    """The leaves behind the last checkpoint, which this release signs when it seals: somebody put them there.

    Those that an earlier release sealed, which signed later, are left out as long as it is the last that has sealed.
    """
    size = signed_size(raw)
    unsigned = raw.execute(_UNSIGNED, (size,)).fetchall()
    numbered = bool(unsigned) and is_numbered(raw, size)
    return [index for index, kind, body in unsigned if numbered or entry_of(kind, body) is not None]


def notes_not_stored(raw: psycopg.Connection, notes: Iterable[str], size: int) -> Iterator[tuple[int, str]]:
    """Those of the notes that are not a checkpoint of up to `size` leaves as it is stored, with their numbers.

    The beginning of such a checkpoint, as a power cut leaves it in a file, says nothing else, and is left out.
    """
    numbered = enumerate(notes, start=1)
    while some := list(islice(numbered, _NOTES_AT_A_TIME)):
        claimed = {number: claimed_size(note) for number, note in some}
        sizes = [its for its in claimed.values() if its is not None]
        stored: dict[int, str] = dict(raw.execute(NOTES_OF, (sizes,)).fetchall())
        for number, note in some:
            at = claimed[number]
            if at is None or at > size or not stored.get(at, "").startswith(note.rstrip("\n")):
                yield number, note


def claimed_size(note: str) -> int | None:
    """The size that a note claims, where it is one that may be stored."""
    _, _, rest = note.partition("\n")
    size = rest.partition("\n")[0]
    return int(size) if size.isascii() and size.isdecimal() and len(size) <= _LONGEST_SIZE else None
