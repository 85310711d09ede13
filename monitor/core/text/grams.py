"""Hashes every run of a few characters of a text, so that two texts are compared without looking at each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Grams = NDArray[np.uint64]

_BASE = 0x100000001B3


def gram_hashes(text: str, length: int) -> Grams:
    """The hash of each run of `length` characters, in order; none for a shorter text. Different runs may collide.

    It is the polynomial of the characters in _BASE modulo 2⁶⁴. That of a run is computed from those of its halves.
    """
    points = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), np.uint32).astype(np.uint64)
    if len(points) < length:
        return np.zeros(0, np.uint64)
    hashes, hashed = points, 1  # of the runs of `hashed` characters
    for bit in format(length, "b")[1:]:
        hashes = hashes[:-hashed] * np.uint64(pow(_BASE, hashed, 2**64)) + hashes[hashed:]
        hashed *= 2
        if bit == "1":
            hashes = hashes[:-1] * np.uint64(_BASE) + points[hashed:]
            hashed += 1
    return hashes
