"""The Merkle tree (RFC 9162, sections 2.1.3.2 and 2.1.4.2)."""

from __future__ import annotations

import hashlib
from base64 import b64decode
from collections.abc import Sequence


def node(left: bytes, right: bytes) -> bytes:
    """The hash of two child nodes."""
    return hashlib.sha256(b"\x01" + left + right).digest()


def included(index: int, size: int, leaf: bytes, root: bytes, proof: Sequence[bytes]) -> bool:
    """Whether `proof` leads from the leaf at `index` to the root of `size` leaves."""
    if not 0 <= index < size:
        return False
    at, last, found = index, size - 1, leaf
    for sibling in proof:
        if last == 0:
            return False
        if at & 1 or at == last:
            found = node(sibling, found)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            found = node(found, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and found == root


def grew(old: int, new: int, roots: tuple[bytes, bytes], proof: Sequence[bytes]) -> bool:
    """Whether `proof` shows that a tree of `old` leaves with the first root grew into `new` leaves with the second."""
    if old == 0:
        return not proof and roots[0] == hashlib.sha256(b"").digest()
    path = [roots[0], *proof] if old & (old - 1) == 0 else list(proof)
    if not 0 < old < new or not path:
        return False
    at, last = old - 1, new - 1
    while at & 1:
        at, last = at >> 1, last >> 1
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0:
            return False
        if at & 1 or at == last:
            before, after = node(sibling, before), node(sibling, after)
            while at and not at & 1:
                at, last = at >> 1, last >> 1
        else:
            after = node(after, sibling)
        at, last = at >> 1, last >> 1
    return last == 0 and (before, after) == roots


def hashes(encoded: Sequence[str]) -> list[bytes]:
    """The hashes of a proof."""
    return [b64decode(item, validate=True) for item in encoded]
