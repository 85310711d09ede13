"""Token and sentence alignment of an answer with its documents (metrics.md §5).

With S the cosines of the answer's token vectors i to the documents' j:

- token: c_i = max_j S_ij;
- context: g_i = max_j of the mean over k = -1, 0, 1 of the best S_{i+k, l} with |l - j - k| ≤ 1, so that a token counts
  for more where its neighbours are found beside it;
- support of a token: x_i = -½(1 - c_i)² - ½(1 - g_i)², 0 where it is found as it stands;
- support of a sentence or an answer: the mean of x weighted by what each token tells.

The recipe is the one of ../shared/data/README.md with token vectors in a smaller space (`fit_projection.py`), without
the discount for words of the question.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.embed.tokens import Tokens
from monitor.sentences import Span

Floats = NDArray[np.float32]
Indices = NDArray[np.int64]

RARE = 4.0  # weight above which a token is a rare word
RARE_UNIT = 5.0  # weight that counts as one rare word
# Tokens of a block; a longer text is aligned in several, cut between sentences, so that memory stays bounded.
ROWS, COLUMNS = 1024, 4096
BOTH = 0.03  # cosine by which two neighbouring sentences have to be better than the best single one


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One or two neighbouring sentences of a document: its number, and characters `[start, end)` of its text."""

    document: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceAlignment:
    """How a sentence of the answer is carried by the documents.

    `support` ≤ 0 is the weighted mean of its tokens' x over all documents; `weight` is what it was weighted by, `rare`
    how many rare words it has. `passage` is the best one, and `score` the weighted mean of the tokens' highest cosines
    to that passage alone, in [-1, 1].
    """

    support: float
    weight: float
    rare: float
    passage: Passage
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """The documents' tokens with their passages: passage p begins at column `starts[p]` and is `passages[p]`."""

    vectors: Floats
    starts: Indices
    passages: list[Passage]


def align(
    answer: Tokens, sentences: Sequence[Span], documents: Sequence[Tokens], passages: Sequence[Sequence[Span]]
) -> list[SentenceAlignment | None]:
    """The alignment of each sentence of the answer; None for one without tokens, or where no document has any.

    Args:
        answer: its tokens.
        sentences: its sentences, in order, which hold every token.
        documents: tokens of each document.
        passages: the sentences of each document, in order, which hold every token.
    """
    source = _source(documents, passages)
    found: list[SentenceAlignment | None] = [None] * len(sentences)
    if source is None or not len(answer) or not sentences:
        return found
    starts, kept = _starts(answer, sentences)
    for first, last in _blocks(starts, len(answer), ROWS):
        begin, end = int(starts[first]), int(starts[last]) if last < len(starts) else len(answer)
        rows = answer[begin:end]
        for place, one in zip(kept[first:last], _aligned(rows, starts[first:last] - begin, source), strict=True):
            found[place] = one
    return found


def _aligned(rows: Tokens, starts: Indices, source: _Source) -> list[SentenceAlignment]:
    vectors, weights = rows["vector"].astype(np.float32), rows["weight"]
    silent = np.add.reduceat(weights, starts) == 0  # a sentence like "5." is read by all its tokens alike
    if silent.any():
        weights = np.where(np.repeat(silent, np.diff(np.append(starts, len(rows)))), np.float32(1), weights)
    total = np.add.reduceat(weights, starts)
    closest = np.full(len(rows), -1.0, np.float32)
    in_context = closest.copy()
    means: list[Floats] = []
    for first, last in _blocks(source.starts, len(source.vectors), COLUMNS):
        begin = int(source.starts[first])
        end = int(source.starts[last]) if last < len(source.starts) else len(source.vectors)
        cosines = vectors @ source.vectors[begin:end].T
        np.maximum(closest, cosines.max(axis=1), out=closest)
        best = np.maximum.reduceat(cosines, source.starts[first:last] - begin, axis=1)
        pairs = np.maximum(best[:, :-1], best[:, 1:])
        for highest in (best, pairs):
            sums = np.add.reduceat(highest * weights[:, None], starts, axis=0)
            means.append((sums / total[:, None]).astype(np.float32))
        np.maximum(in_context, _context(cosines), out=in_context)
    support = -0.5 * np.square(1 - closest) - 0.5 * np.square(1 - in_context)
    supports = np.add.reduceat(support * weights, starts) / total
    rare = np.add.reduceat(np.where(rows["weight"] > RARE, rows["weight"], 0), starts) / RARE_UNIT
    best_passages = _best_passages(means, source)
    return [
        SentenceAlignment(support=x, weight=w, rare=r, passage=passage, score=score)
        for x, w, r, (passage, score) in zip(
            supports.tolist(), total.tolist(), rare.tolist(), best_passages, strict=True
        )
    ]


def _context(cosines: Floats) -> Floats:
    """g of the module's formula, shape (rows,); neighbours beyond an edge are left out of the mean."""
    near = cosines.copy()
    np.maximum(near[:, 1:], cosines[:, :-1], out=near[:, 1:])
    np.maximum(near[:, :-1], cosines[:, 1:], out=near[:, :-1])
    rows, columns = near.shape
    if rows == 1 or columns == 1:
        highest: Floats = near.max(axis=1)
        return highest
    total = near.copy()
    total[1:, 1:] += near[:-1, :-1]
    total[:-1, :-1] += near[1:, 1:]
    total[0] *= 1.5  # two instead of three at an edge, one in two of the corners
    total[-1] *= 1.5
    total[1:-1, 0] *= 1.5
    total[1:-1, -1] *= 1.5
    total[0, -1] *= 2
    total[-1, 0] *= 2
    means: Floats = total.max(axis=1) / 3
    return means


def _best_passages(means: Sequence[Floats], source: _Source) -> list[tuple[Passage, float]]:
    """The best passage of each sentence with its score; `means` are of single passages and of pairs, block by block."""
    singles = np.concatenate(means[0::2], axis=1)
    best = singles.argmax(axis=1)
    found = [(source.passages[p], float(singles[s, p])) for s, p in enumerate(best)]
    begin = 0
    for single, pairs in zip(means[0::2], means[1::2], strict=True):
        for s in range(len(pairs)) if pairs.shape[1] else ():
            p = int(pairs[s].argmax())
            left, right = source.passages[begin + p], source.passages[begin + p + 1]
            enough = max(found[s][1], float(singles[s, best[s]]) + BOTH)
            if left.document == right.document and pairs[s, p] > enough:
                found[s] = Passage(document=left.document, start=left.start, end=right.end), float(pairs[s, p])
        begin += single.shape[1]
    return found


def _source(documents: Sequence[Tokens], passages: Sequence[Sequence[Span]]) -> _Source | None:
    vectors, starts, places = [], [], []
    columns = 0
    for number, (tokens, spans) in enumerate(zip(documents, passages, strict=True)):
        if not len(tokens) or not spans:
            continue
        begins, kept = _starts(tokens, spans)
        vectors.append(tokens["vector"])
        starts.append(begins + columns)
        places += [Passage(document=number, start=spans[p][0], end=spans[p][1]) for p in kept]
        columns += len(tokens)
    if not columns:
        return None
    joined = np.concatenate(vectors).astype(np.float32)
    return _Source(vectors=joined, starts=np.concatenate(starts), passages=places)


def _starts(tokens: Tokens, spans: Sequence[Span]) -> tuple[Indices, list[int]]:
    """Where the tokens of each span begin, ascending from 0, and the numbers of the spans that have any."""
    begins = np.searchsorted(tokens["start"], [start for start, _ in spans])
    ends = np.append(begins[1:], len(tokens))
    kept = np.flatnonzero(ends > begins)
    starts = begins[kept]
    starts[0] = 0
    return starts, kept.tolist()


def _blocks(starts: Indices, count: int, most: int) -> list[tuple[int, int]]:
    """Ranges `[first, last)` of spans that begin at `starts`, of at most `most` tokens together, or of one span."""
    if count <= most:
        return [(0, len(starts))]
    blocks, first = [], 0
    while first < len(starts):
        last = max(first + 1, int(np.searchsorted(starts, starts[first] + most, side="right")) - 1)
        if count <= starts[first] + most:
            last = len(starts)
        blocks.append((first, last))
        first = last
    return blocks
