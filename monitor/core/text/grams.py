"""Hashes every run of a few characters of a text, so that two texts are compared without looking at each pair."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Grams = NDArray[np.uint64]


def gram_hashes(text: str, length: int) -> Grams:
    """The hash of each run of `length` characters, in order; none for a shorter text. Different runs may collide."""
    points = np.frombuffer(text.encode("utf-32-le", errors="surrogatepass"), np.uint32).astype(np.uint64)
    count = len(points) - length + 1
    if count <= 0:
        return np.zeros(0, np.uint64)
    hashes = np.zeros(count, np.uint64)
    for place in range(length):
        hashes = hashes * np.uint64(0x100000001B3) + points[place : place + count]
    return hashes
