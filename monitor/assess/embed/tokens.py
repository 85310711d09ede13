"""Token vectors: one row for each token, with its position in the text and its weight."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

# A structured array of shape (tokens,) and type `token_type`: `vector` (unit), `start` and `end` (characters, end
# exclusive) and `weight` (0 for punctuation; the rarer the token, the higher). A single array, so that the cache can
# store it and count its bytes like any other.
Tokens: TypeAlias = NDArray[np.void]

_SURFACES: Final = 4096


@cache
def token_type(dimensions: int) -> np.dtype[np.void]:
    """The row type of `Tokens`. Vectors are in half precision, since the cache holds the tokens of many documents."""
    return np.dtype(
        [("vector", np.float16, dimensions), ("start", np.int32), ("end", np.int32), ("weight", np.float32)]
    )


def surface_vectors(words: Sequence[str], dimensions: int) -> NDArray[np.float32]:
    """A unit vector for each word that depends on its letters alone, shape (len(words), dimensions).

    The same word always has the same vector; the vectors of different words are nearly orthogonal.
    """
    places = np.fromiter((crc32(w.casefold().encode(errors="surrogatepass")) for w in words), np.int64, len(words))
    vectors: NDArray[np.float32] = _surfaces(dimensions)[places % _SURFACES]
    return vectors


@cache
def _surfaces(dimensions: int) -> NDArray[np.float32]:
    table = np.random.default_rng(_SURFACES).standard_normal((_SURFACES, dimensions))
    unit: NDArray[np.float32] = (table / np.linalg.norm(table, axis=1, keepdims=True)).astype(np.float32)
    return unit
