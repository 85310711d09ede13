"""The stored tree: reads its nodes from tiles and leaves, and appends leaves at its right edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from monitor.audit.merkle import HASH_BYTES, Frontier, frontier_of, leaf_hash
from monitor.audit.recovery import Head
from monitor.audit.tiles import TileTree, new_tiles
from monitor.core.errors import Fatal
from monitor.store.audit_rows import Key
from monitor.store.database import copy_rows

if TYPE_CHECKING:
    import psycopg

_TILE = "SELECT hashes FROM audit_tile WHERE level = %s AND index = %s"
_HASHES = "SELECT hash FROM audit_leaf WHERE index >= %s AND index < %s ORDER BY index"
_LEAF_COLUMNS = ("index", "kind", "app", "subject", "part", "sealed_at", "body", "hash")
_SIZE = "SELECT coalesce(max(index)::numeric + 1, 0) FROM audit_leaf"


class NewLeaf(NamedTuple):
    """A leaf that is not in the tree yet: the record's kind and key, and the bytes that are hashed."""

    kind: str
    key: Key
    body: bytes


def tree_size(connection: psycopg.Connection) -> int:
    """The number of stored leaves."""
    (size,) = connection.execute(_SIZE).fetchone() or (0,)
    return int(size)


def stored_tree(connection: psycopg.Connection) -> TileTree:
    """The tree as `connection` reads it now.

    Raises:
        Fatal: the tree is asked for leaves that are not all stored.
    """

    def tile(level: int, index: int) -> bytes | None:
        row = connection.execute(_TILE, (level, index)).fetchone()
        return None if row is None else bytes(row[0])

    def leaves(start: int, end: int) -> bytes:
        found = b"".join(row[0] for row in connection.execute(_HASHES, (start, end)))
        if len(found) != (end - start) * HASH_BYTES:
            raise Fatal(
                f"leaves {start} to {end - 1} of the audit trail are not all stored: run `monitor audit verify`"
            )
        return found

    return TileTree(tile, leaves)


def head_at(connection: psycopg.Connection, size: int) -> Head:
    """The tree of the first `size` leaves. Raises Fatal if they are not all stored."""
    return Head.of(size, frontier_of(size, stored_tree(connection).node).root)


@dataclass(slots=True)
class TreeEdge:
    """The right edge of the stored tree, kept from one batch to the next."""

    frontier: Frontier = field(default_factory=Frontier)

    @classmethod
    def read(cls, connection: psycopg.Connection) -> TreeEdge:
        return cls(frontier_of(tree_size(connection), stored_tree(connection).node))

    def append(self, connection: psycopg.Connection, leaves: Sequence[NewLeaf], now: datetime) -> None:
        """Stores the leaves, sealed at `now`, with the tiles that they complete."""
        start, hashes = self.frontier.size, [leaf_hash(leaf.body) for leaf in leaves]
        rows = (
            (start + at, leaf.kind, *leaf.key, now, leaf.body.decode(), hashes[at]) for at, leaf in enumerate(leaves)
        )
        copy_rows(connection, "audit_leaf", _LEAF_COLUMNS, rows)
        self.frontier.extend(hashes)
        tiles = [
            (tile.level, tile.index, tile.hashes)
            for tile in new_tiles(start, self.frontier.size, stored_tree(connection))
        ]
        if tiles:
            copy_rows(connection, "audit_tile", ("level", "index", "hashes"), tiles)
