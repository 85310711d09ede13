"""The vectors of tokens in single precision, in which they are compared."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock
from typing import Final, NamedTuple

import numpy as np
from cachetools import LRUCache
from numpy.typing import NDArray

from monitor.assess.embed.tokens import Tokens

Floats = NDArray[np.float32]

KEPT_BYTES: Final = 2**26  # of recent documents: vectors of some 85,000 tokens in both precisions

_SINGLE: Final[Floats] = np.arange(2**16, dtype=np.uint16).view(np.float16).astype(np.float32)  # by the bits of a half


class _Kept(NamedTuple):
    tokens: Tokens  # as long as they are held, no other array has their id
    vectors: Floats


_kept: LRUCache[int, _Kept] = LRUCache(KEPT_BYTES, lambda kept: kept.tokens.nbytes + kept.vectors.nbytes)
_lock = Lock()


def single(tokens: Tokens) -> Floats:
    """The vectors, shape (tokens, dimensions). A table is twice as quick as numpy's own conversion."""
    vectors: Floats = _SINGLE.take(tokens["vector"].view(np.uint16))
    return vectors


def single_of_document(tokens: Tokens) -> Floats:
    """`single`, kept for recent documents. Neither `tokens` nor the result may be written to."""
    with _lock:
        kept = _kept.get(id(tokens))
    if kept is not None:
        return kept.vectors
    vectors = single(tokens)
    if tokens.base is None:  # a view would hold the memory of all that it is a view of
        with _lock, suppress(ValueError):  # the document alone exceeds the bound
            _kept[id(tokens)] = _Kept(tokens, vectors)
    return vectors
