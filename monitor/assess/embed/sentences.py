"""Vectors of the sentences of a text, from the token vectors of the one pass that encodes the text.

A sentence's vector is the mean of its tokens' vectors in the last layer. They have seen the sentences around them, so
it knows what "it" stands for, which a sentence that is embedded alone does not (*late chunking*, Günther et al., 2024,
arXiv:2409.04701).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from monitor.core.text.cache import cached_by_text
from monitor.core.text.sentences import Span, sentence_pieces

Vectors: TypeAlias = NDArray[np.float16]

LONGEST: Final = 500  # characters of a sentence; also of a chunk (ChunkRAG, metrics.md §3)


@cached_by_text
def sentences_of(text: str) -> Sequence[Span]:
    """Characters `[start, end)` of each sentence that has a vector: at most LONGEST long, longer ones in pieces."""
    return tuple(sentence_pieces(text, LONGEST))


def pooled(
    states: NDArray[np.float32], token_starts: NDArray[np.int32], sentences: Sequence[Span]
) -> tuple[NDArray[np.intp], NDArray[np.float32]]:
    """The numbers of the sentences that the tokens of a window belong to, and the sums of their vectors.

    `states` has shape (tokens, dimensions). A token belongs to the last sentence that begins at it or before.
    """
    starts = [start for start, _ in sentences]
    owners = np.maximum(np.searchsorted(starts, token_starts, side="right") - 1, 0)
    first = np.flatnonzero(np.diff(owners, prepend=-1))
    return owners[first], np.add.reduceat(states, first, axis=0)


def unit_rows(sums: NDArray[np.float32]) -> Vectors:
    """The rows rescaled to length 1; zero rows stay."""
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    rows: Vectors = (sums / np.maximum(lengths, np.finfo(np.float32).tiny)).astype(np.float16)
    return rows
