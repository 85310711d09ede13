"""Checks the tree over all ranges: the roots at signed sizes, the higher tiles, and the roots that witnesses hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING

from monitor.audit.finding import Fault, Finding
from monitor.audit.merkle import Frontier, frontier_of, root_of
from monitor.audit.tiles import TILE
from monitor.store.audit.checks.ranges import RANGE, RangeResult
from monitor.store.audit.tree import stored_tree

if TYPE_CHECKING:
    import psycopg

_TILE = "SELECT hashes FROM audit_tile WHERE level = %s AND index = %s"
_OUTSIDE = """
    SELECT level, index FROM audit_tile
    WHERE level NOT BETWEEN 0 AND 5 OR index < 0
        OR (index::numeric + 1) * (ARRAY[2^8, 2^16, 2^24, 2^32, 2^40, 2^48])[level + 1]::numeric > %s
    ORDER BY level, index
"""


class TreeCheck:
    """Joins the results of ranges in their order, from leaf `start` on, a multiple of `RANGE`.

    `known` holds by tree size the roots that witnesses hold, each with the name of the witness.
    """

    def __init__(
        self, connection: psycopg.Connection, start: int, known: Mapping[int, Sequence[tuple[str, bytes]]]
    ) -> None:
        self._connection = connection
        self._known = known
        self._hashes = frontier_of(start, stored_tree(connection).node).hashes if start else ()
        self._first = start // TILE
        self._roots: list[bytes] = []  # of the complete tiles of level 0, from tile `first` on
        self._first_wrong: int | None = None
        self._good = 0
        self.later_wrong = 0

    def join(self, checked: RangeResult) -> Iterator[Finding]:
        """Checks the roots at the signed and marked sizes of this range."""
        task = checked.task
        expected: list[tuple[int, bytes, Finding]] = []
        for size, root in checked.signed:
            sentence = f"the checkpoint of {size} leaves: its root is not that of the stored leaves"
            expected.append((size, root, Finding(fault=Fault.CHECKPOINT, sentence=sentence)))
        for size in task.marks:
            for name, root in self._known.get(size, ()):
                sentence = f"{name} holds another root of the first {size} leaves: they were rewritten"
                expected.append((size, root, Finding(fault=Fault.WITNESS, sentence=sentence)))
        for size, root, finding in sorted(expected, key=itemgetter(0)):
            yield from self._compared(size, self._root(task.start, size, checked.shares[size]), root, finding)
        self._roots += checked.tile_roots
        if task.end - task.start == RANGE:
            edge = Frontier(task.start // RANGE, self._hashes)
            edge.append(checked.shares[task.end][0])
            self._hashes = edge.hashes

    def _root(self, start: int, size: int, share: tuple[bytes, ...]) -> bytes:
        if size - start == RANGE:
            edge = Frontier(start // RANGE, self._hashes)
            edge.append(share[0])
            return edge.root
        return Frontier(size, (*self._hashes, *share)).root

    def _compared(self, size: int, found: bytes, expected: bytes, finding: Finding) -> Iterator[Finding]:
        """Names the first wrong root with the leaves to look at, and counts later ones: they cannot be right."""
        if found == expected:
            self._good = max(self._good, size)
        elif self._first_wrong is None or size == self._first_wrong:
            self._first_wrong = size
            where = f"; look at leaves {self._good} to {size - 1}"
            yield Finding(fault=finding.fault, sentence=finding.sentence + where)
        else:
            self.later_wrong += 1

    def finish(self, size: int) -> Iterator[Finding]:
        """Checks the tiles of level 1 and higher, and finds tiles that a tree of this size does not have."""
        roots, first, level = self._roots, self._first, 1
        while len(roots) >= TILE:
            skipped = -first % TILE  # their tile begins before the first checked leaf
            first, roots = (first + skipped) // TILE, roots[skipped:]
            above = []
            for number in range(len(roots) // TILE):
                below = roots[number * TILE : (number + 1) * TILE]
                row = self._connection.execute(_TILE, (level, first + number)).fetchone()
                if row is None or bytes(row[0]) != b"".join(below):
                    problem = "is missing" if row is None else "does not hold the roots of the tiles below"
                    yield _tile(level, first + number, problem)
                above.append(root_of(below))
            roots, level = above, level + 1
        for level, index in self._connection.execute(_OUTSIDE, (size,)):
            yield _tile(level, index, f"does not belong to a tree of {size} leaves")


def _tile(level: int, index: int, problem: str) -> Finding:
    return Finding(fault=Fault.TILE, sentence=f"tile {index} of level {level} {problem}")
