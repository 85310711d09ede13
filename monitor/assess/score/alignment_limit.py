"""Chooses the part of the documents to align an answer with, if all of them would take too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.assess.embed.tokens import Tokens
from monitor.core.text.sentences import Span
from monitor.core.text.words import stems

MOST_CELLS: Final = 400_000_000  # answer tokens times document tokens: about three seconds on one core


def within_reach(
    answer: str,
    tokens: Tokens,
    texts: Sequence[str],
    documents: Sequence[Tokens],
    passages: Sequence[Sequence[Span]],
) -> Sequence[Tokens]:
    """The tokens of the documents; beyond MOST_CELLS only those of the passages that share most words with the answer.

    Args:
        answer: the statements of the answer.
        tokens: the tokens of the answer.
        texts: the documents.
        documents: the tokens of each document.
        passages: the sentences of each document, in order.
    """
    most = MOST_CELLS // max(len(tokens), 1)
    if sum(map(len, documents)) <= most:
        return documents
    words = frozenset(stems(answer))
    owners = [
        np.searchsorted([start for start, _ in spans], found["start"], side="right") - 1
        for found, spans in zip(documents, passages, strict=True)
    ]
    sizes = [
        np.bincount(np.maximum(owner, 0), minlength=len(spans)) for owner, spans in zip(owners, passages, strict=True)
    ]
    ranked = sorted(
        (-len(words.intersection(stems(text[start:end]))), number, place)
        for number, (text, spans) in enumerate(zip(texts, passages, strict=True))
        for place, (start, end) in enumerate(spans)
    )
    kept: list[list[int]] = [[] for _ in documents]
    taken = 0
    for _, number, place in ranked:
        taken += int(sizes[number][place])
        if taken > most:
            break
        kept[number].append(place)
    return [found[np.isin(owner, places)] for found, owner, places in zip(documents, owners, kept, strict=True)]
