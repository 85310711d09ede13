"""The stored tree: reads its nodes from tiles and leaves, and appends leaves at its right edge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from monitor.audit.merkle import HASH_BYTES, Frontier, frontier_of
from monitor.audit.tiles import TileTree, new_tiles
from monitor.core.errors import Fatal
from monitor.store.database import copy_rows

if TYPE_CHECKING:
    import psycopg

_TILE = "SELECT hashes FROM audit_tile WHERE level = %s AND index = %s"
_HASHES = "SELECT hash FROM audit_leaf WHERE index >= %s AND index < %s ORDER BY index"
_SIZE = "SELECT coalesce(max(index)::numeric + 1, 0) FROM audit_leaf"


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


@dataclass(slots=True)
class TreeEdge:
    """The right edge of the stored tree, kept from one batch to the next."""

    frontier: Frontier = field(default_factory=Frontier)

    @classmethod
    def read(cls, connection: psycopg.Connection) -> TreeEdge:
        return cls(frontier_of(tree_size(connection), stored_tree(connection).node))

    def append(self, connection: psycopg.Connection, hashes: Sequence[bytes]) -> None:
        """Appends the hashes of leaves that were just stored, and stores the tiles that they complete."""
        old = self.frontier.size
        self.frontier.extend(hashes)
        tiles = [
            (tile.level, tile.index, tile.hashes)
            for tile in new_tiles(old, self.frontier.size, stored_tree(connection))
        ]
        if tiles:
            copy_rows(connection, "audit_tile", ("level", "index", "hashes"), tiles)
