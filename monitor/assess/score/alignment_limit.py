"""Chooses the part of the documents to align an answer with, if all of them would take too long.

Alignment compares each token of the answer with each token of the documents. To keep its time in proportion to the size
of the event, an answer of more than CELLS_PER_TOKEN tokens is compared with only a part of long documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from monitor.assess.embed.tokens import Tokens
from monitor.assess.score.alignment import LONGEST_PASSAGE
from monitor.core.text.sentences import Span
from monitor.core.text.words import stems

CELLS_PER_TOKEN: Final = 2_048  # pairs of tokens for each token of the event
MOST_CELLS: Final = 400_000_000  # pairs of tokens: about three seconds on one core


def within_reach(
    asked: str,
    tokens: int,
    texts: Sequence[str],
    documents: Sequence[Tokens],
    passages: Sequence[Sequence[Span]],
) -> tuple[Sequence[Tokens], float]:
    """The tokens of the documents to align with, and their share of all the documents' tokens.

    Where the share is below 1, they are those of the passages that have most words in common with `asked`.

    Args:
        asked: the text whose words decide: the statements of the answer, and the question.
        tokens: the number of tokens of the longer of the two, which are aligned one after the other.
        texts: the documents.
        documents: the tokens of each document.
        passages: the sentences of each document, in order.
    """
    total = sum(map(len, documents))
    most = min(MOST_CELLS, CELLS_PER_TOKEN * (tokens + total)) // max(tokens, 1)
    if total <= most:
        return documents, 1.0
    words = frozenset(stems(asked))
    ranked = sorted(
        (-len(words.intersection(stems(text[start:end]))), number, place)
        for number, (text, spans) in enumerate(zip(texts, passages, strict=True))
        for place, (start, end) in enumerate(spans)
    )
    borders = [
        [0, *np.searchsorted(found["start"], [start for start, _ in spans[1:]]).tolist(), len(found)]
        for found, spans in zip(documents, passages, strict=True)
    ]
    kept = [np.zeros(len(found), bool) for found in documents]
    left = most
    for _, number, place in ranked:
        begin, end = borders[number][place : place + 2]
        if end - begin > left:
            kept[number][begin : begin + left // LONGEST_PASSAGE * LONGEST_PASSAGE] = True
            break
        kept[number][begin:end] = True
        left -= end - begin
    reached = [found[keep] for found, keep in zip(documents, kept, strict=True)]
    return reached, sum(map(len, reached)) / total
