"""Token vectors: one row a token, with where it stands in its text and how much it tells."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

# A structured array of shape (tokens,), of `token_type`: `vector` (unit), `start` and `end` (characters, end exclusive)
# and `weight` (0 for punctuation; the rarer, the higher). One array, so that a cache keeps and counts it as any other.
Tokens: TypeAlias = NDArray[np.void]

_SURFACES: Final = 4096


@cache
def token_type(dimensions: int) -> np.dtype[np.void]:
    """The row type of `Tokens` with vectors of so many dimensions, in half precision: a document is kept for long."""
    return np.dtype(
        [("vector", np.float16, dimensions), ("start", np.int32), ("end", np.int32), ("weight", np.float32)]
    )


def surface_vectors(words: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """A unit vector for each word by its letters alone, shape (len(words), dimensions).

    The same word has the same vector everywhere; of different words the vectors are nearly orthogonal.
    """
    places = np.fromiter((crc32(w.casefold().encode(errors="surrogatepass")) for w in words), np.int64, len(words))
    vectors: NDArray[np.float32] = _surfaces(dimensions)[places % _SURFACES]
    return vectors


@cache
def _surfaces(dimensions: int) -> NDArray[np.float32]:
    table = np.random.default_rng(_SURFACES).standard_normal((_SURFACES, dimensions))
    unit: NDArray[np.float32] = (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)
    return unit
