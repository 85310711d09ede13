"""The Merkle tree of RFC 6962 and RFC 9162 over SHA-256: roots, inclusion proofs, consistency proofs.

A *node* here is the root of a complete subtree: `node(level, index)` covers the 2**level leaves from
`index * 2**level` on. `tiles.py` finds nodes in stored hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import TypeAlias

HASH_BYTES = 32
EMPTY_ROOT = sha256(b"").digest()

Node: TypeAlias = Callable[[int, int], bytes]  # of level and index


def leaf_hash(body: bytes) -> bytes:
    """SHA-256 of 0x00 and the body; the prefix keeps a leaf from passing for a node."""
    return sha256(b"\x00" + body).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """SHA-256 of 0x01 and both children."""
    return sha256(b"\x01" + left + right).digest()


class Frontier:
    """What is needed to append to a tree: the roots of the complete subtrees that cover it, largest first.

    There is one root for each bit that is set in `size`.

    Raises:
        ValueError: the number of hashes does not fit `size`.
    """

    __slots__ = ("_hashes", "_size")

    def __init__(self, size: int = 0, hashes: Iterable[bytes] = ()) -> None:
        self._size = size
        self._hashes = list(hashes)
        if len(self._hashes) != size.bit_count():
            raise ValueError(f"a tree of {size} leaves has {size.bit_count()} complete subtrees")

    @property
    def size(self) -> int:
        """How many leaves the tree has."""
        return self._size

    @property
    def hashes(self) -> tuple[bytes, ...]:
        """The roots of its complete subtrees, largest first."""
        return tuple(self._hashes)

    @property
    def root(self) -> bytes:
        """The root of the tree."""
        if not self._hashes:
            return EMPTY_ROOT
        *others, root = self._hashes
        for left in reversed(others):
            root = node_hash(left, root)
        return root

    def append(self, leaf: bytes) -> None:
        """Adds the hash of one leaf."""
        size = self._size
        while size & 1:  # complete subtrees of the same size are joined
            leaf = node_hash(self._hashes.pop(), leaf)
            size >>= 1
        self._hashes.append(leaf)
        self._size += 1

    def extend(self, leaves: Iterable[bytes]) -> None:
        """Adds the hashes of leaves, in order."""
        for leaf in leaves:
            self.append(leaf)


def frontier_of(size: int, node: Node) -> Frontier:
    """The frontier of the first `size` leaves."""
    hashes, start = [], 0
    for level in reversed(range(size.bit_length())):
        if size >> level & 1:
            hashes.append(node(level, start >> level))
            start += 1 << level
    return Frontier(size, hashes)


def root_of(hashes: Sequence[bytes]) -> bytes:
    """The root over the hashes of leaves, level by level, which is fastest for many leaves."""
    level = list(hashes)
    if not level:
        return EMPTY_ROOT
    while len(level) > 1:
        odd = [level.pop()] if len(level) % 2 else []
        pairs = iter(level)
        level = [sha256(b"\x01" + left + right).digest() for left, right in zip(pairs, pairs, strict=True)] + odd
    return level[0]


def inclusion_proof(index: int, size: int, node: Node) -> list[bytes]:
    """The hashes that lead from leaf `index` to the root of the first `size` leaves, lowest first.

    Raises:
        ValueError: the tree has no such leaf.
    """
    if not 0 <= index < size:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    proof, start, end = [], 0, size
    while end - start > 1:
        middle = start + _left(end - start)
        if index < middle:
            proof.append(_range(middle, end, node))
            end = middle
        else:
            proof.append(_range(start, middle, node))
            start = middle
    return proof[::-1]


def consistency_proof(old: int, new: int, node: Node) -> list[bytes]:
    """The hashes that prove that a tree of `old` leaves grew into one of `new`; empty if `old` is 0 or `new`.

    Raises:
        ValueError: `old` is greater than `new`.
    """
    if not 0 <= old <= new:
        raise ValueError(f"a tree of {new} leaves never had {old}")
    if old in {0, new}:
        return []
    proof, start, end, whole = [], 0, new, True
    while old != end:
        middle = start + _left(end - start)
        if old <= middle:
            proof.append(_range(middle, end, node))
            end = middle
        else:
            proof.append(_range(start, middle, node))
            start, whole = middle, False
    if not whole:  # otherwise it is the old root, which the verifier has
        proof.append(_range(start, end, node))
    return proof[::-1]


def verify_inclusion(index: int, size: int, leaf: bytes, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` leads from the hash of the leaf to `root` (RFC 9162, 2.1.3.2)."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node_hash(sibling, found)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            found = node_hash(found, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def verify_consistency(old: int, new: int, old_root: bytes, new_root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that the tree of `old_root` grew into that of `new_root` (RFC 9162, 2.1.4.2)."""
    if not 0 <= old <= new:
        return False
    if old in {0, new}:
        return not proof and old_root == (new_root if old else EMPTY_ROOT)
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    if not path:
        return False
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node_hash(sibling, before), node_hash(sibling, after)
            while not at & 1 and at:
                at, last = at >> 1, last >> 1
        else:
            after = node_hash(after, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and before == old_root and after == new_root


def _left(size: int) -> int:
    """The number of leaves in the left part of a tree of `size`: the largest power of two below it."""
    return 1 << (size - 1).bit_length() - 1


def _range(start: int, end: int, node: Node) -> bytes:
    """The root over leaves [start, end); the left part is always a complete subtree."""
    size = end - start
    if size & (size - 1) == 0:
        level = size.bit_length() - 1
        return node(level, start >> level)
    middle = start + _left(size)
    return node_hash(_range(start, middle, node), _range(middle, end, node))
