"""The hashes of the tree in tiles of 256, as in C2SP's tlog-tiles, and the search for any node in them.

Tile `index` of level 0 holds the hashes of the leaves from `256 * index` on, a tile of level 1 the roots of 256 tiles
of level 0, and so on. Only complete tiles are stored; they never change.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from monitor.audit.merkle import HASH_BYTES, root_of

TILE = 256
TILE_LEVELS = 8  # levels of the tree in one tile
_CACHED = 1024  # tiles in memory: 8 MiB


@dataclass(frozen=True, slots=True, kw_only=True)
class Tile:
    """One row of `audit_tile`: 256 hashes, concatenated."""

    level: int
    index: int
    hashes: bytes


class TileTree:
    """Finds nodes in stored tiles, and computes those above them and at the right edge.

    `tile(level, index)` returns 8,192 bytes, or None where that tile is not stored; `leaves(start, end)` returns the
    concatenated hashes of leaves [start, end), where no tile of level 0 is stored. An instance caches what it reads, so
    it is good for one reading; a new one sees tiles that were stored since.
    """

    def __init__(self, tile: Callable[[int, int], bytes | None], leaves: Callable[[int, int], bytes]) -> None:
        self._leaves = leaves
        self._tile = lru_cache(_CACHED)(tile)
        self._node = lru_cache(TILE * TILE)(self._find)
        self._root = lru_cache(TILE * TILE)(self._root_of_tile)

    def node(self, level: int, index: int) -> bytes:
        """The root of the complete subtree over leaves [index << level, (index + 1) << level)."""
        return self._node(level, index)

    def tile(self, level: int, index: int) -> bytes:
        """The 256 hashes of a complete tile, stored or not."""
        return b"".join(self._slice(level, index, 0, TILE))

    def _find(self, level: int, index: int) -> bytes:
        tile_level, inner = divmod(level, TILE_LEVELS)
        number, offset = divmod(index << inner, TILE)
        return root_of(self._slice(tile_level, number, offset, 1 << inner))

    def _slice(self, level: int, number: int, offset: int, count: int) -> Sequence[bytes]:
        if (found := self._tile(level, number)) is not None:
            return _split(found[offset * HASH_BYTES : (offset + count) * HASH_BYTES])
        start = number * TILE + offset
        if level == 0:
            return _split(self._leaves(start, start + count))
        return [self._root(level - 1, index) for index in range(start, start + count)]

    def _root_of_tile(self, level: int, index: int) -> bytes:
        return root_of(self._slice(level, index, 0, TILE))


def new_tiles(old: int, new: int, tree: TileTree) -> Iterator[Tile]:
    """The tiles that are complete in a tree of `new` leaves but not in one of `old`, lower levels first.

    `tree` must read the leaves of `new`, and need not have the tiles that this function returns.
    """
    level, span = 0, TILE
    while new >= span:
        for index in range(old // span, new // span):
            yield Tile(level=level, index=index, hashes=tree.tile(level, index))
        level, span = level + 1, span * TILE


def _split(hashes: bytes) -> list[bytes]:
    return [hashes[at : at + HASH_BYTES] for at in range(0, len(hashes), HASH_BYTES)]
