"""Aligns the tokens and sentences of an answer with its documents (metrics.md §5).

With S the cosines of the answer's token vectors i to the documents' j:

- token: c_i = max_j S_ij;
- context: g_i = max_j of the mean, over those k of -1, 0, 1 for which i + k and j + k are tokens, of the best
  S_{i+k, l} with |l - j - k| ≤ 1, so that a token counts for more if its neighbours are found next to it;
- support of a token: x_i = -½(1 - c_i)² - ½(1 - g_i)², 0 if a document holds it exactly;
- support of a sentence or an answer: the mean of x, weighted by the weights of the tokens.

The documents count as one text. The recipe is that of shared/data/README.md, with token vectors in a smaller space
(`fit_projection.py`) and without the discount for words of the question.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.single_precision import Floats, single, single_of_document
from monitor.assess.embed.tokens import Tokens
from monitor.core.text.sentences import Span

RARE = 4.0  # weight above which a token is a rare word
RARE_UNIT = 5.0  # weight that counts as one rare word
# Tokens of a block. A longer text is aligned in several blocks, so that memory stays bounded. A token next to a cut has
# no context beyond it; c, and the passages with their scores, do not depend on the cuts.
ROWS, COLUMNS = 1024, 4096
LONGEST_PASSAGE = 256  # tokens; a longer sentence of a document is split into pieces
BOTH = 0.03  # how much better (cosine) two neighbouring sentences must be than the best single one
_ONE_TOKEN_WIDTH = 2  # columns for an answer of one token, with the column of zeros


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """One or two neighbouring sentences of a document: its number, and characters `[start, end)` of its text."""

    document: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceAlignment:
    """How well the documents carry a sentence of the answer.

    `support` ≤ 0 is the weighted mean of its tokens' x over all documents; `weight` is the sum of the weights, `rare`
    the number of rare words. `passage` is the best passage; `score` is the weighted mean of the tokens' highest cosines
    with that passage alone, in [-1, 1]. For a sentence of more than ROWS tokens, they are those of its best part.
    """

    support: float
    weight: float
    rare: float
    passage: Passage
    score: float


class _Part(NamedTuple):
    """Tokens `[first, last)` at characters `[start, end)`: all tokens of span number `span`, or a piece of them."""

    span: int
    first: int
    last: int
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """The tokens of the documents, ready for alignment: passage p is rows `[starts[p], starts[p + 1])` of `vectors`.

    `together` says for each passage but the last whether the next one is in the same document.
    """

    vectors: Floats
    starts: list[int]
    passages: list[Passage]
    together: NDArray[np.bool_]

    @classmethod
    def of(cls, documents: Sequence[Tokens], passages: Sequence[Sequence[Span]]) -> Source:
        """The source of `documents`. `passages` are the sentences of each, in order, which hold all tokens."""
        filled = [
            (number, tokens, spans)
            for number, (tokens, spans) in enumerate(zip(documents, passages, strict=True))
            if len(tokens) and spans
        ]
        vectors = [single_of_document(tokens) for _, tokens, _ in filled]
        starts, found = [0], []
        for number, tokens, spans in filled:
            begin = starts[-1]
            for part in _parts(tokens, spans, LONGEST_PASSAGE):
                starts.append(begin + part.last)
                found.append(Passage(document=number, start=part.start, end=part.end))
        together = np.array([left.document == right.document for left, right in pairwise(found)], bool)
        joined = np.concatenate(vectors) if vectors else np.empty((0, 0), np.float32)
        return cls(vectors=joined, starts=starts, passages=found, together=together)

    def align(self, answer: Tokens, sentences: Sequence[Span]) -> list[SentenceAlignment | None]:
        """The alignment of each sentence; None for a sentence without tokens, or if no document has tokens.

        Args:
            answer: the tokens of the answer.
            sentences: the sentences of the answer, in order, which hold all tokens.
        """
        found: list[SentenceAlignment | None] = [None] * len(sentences)
        if not self.passages or not len(answer) or not sentences:
            return found
        rows = max(1, min(ROWS, ROWS * COLUMNS // len(self.passages)))
        parts = _parts(answer, sentences, rows)
        weights = _weights(answer, parts)
        aligned: list[SentenceAlignment] = []
        for first, last in _blocks([part.first for part in parts] + [len(answer)], rows):
            begin, end = parts[first].first, parts[last - 1].last
            bounds = [part.first - begin for part in parts[first:last]]
            aligned += self._aligned(answer[begin:end], weights[begin:end], bounds)
        for span, group in groupby(zip(parts, aligned, strict=True), key=lambda pair: pair[0].span):
            found[span] = _joined([alignment for _, alignment in group])
        return found

    def support(self, text: str, tokens: Tokens) -> float | None:
        """The support of a text as one sentence, as `align` gives it, without looking for passages."""
        if not self.passages or not len(tokens):
            return None
        if len(tokens) > ROWS:
            return next((found.support for found in self.align(tokens, [(0, len(text))]) if found), None)
        closest, in_context = np.full((2, len(tokens) + 1), -1, np.float32)
        for first, last in _blocks(self.starts, COLUMNS):
            cosines = self.vectors[self.starts[first] : self.starts[last]] @ _with_zeros(tokens).T
            np.maximum(closest, np.maximum.reduce(cosines, axis=0), out=closest)
            np.maximum(in_context, _context(cosines), out=in_context)
        weights = _weights(tokens, [_Part(0, 0, len(tokens), 0, len(text))])
        shares = weights / np.maximum(np.add.reduceat(weights, [0]), np.finfo(np.float32).tiny)
        return float(np.add.reduceat(_support(closest[:-1], in_context[:-1]) * shares, [0])[0])

    def _aligned(self, answer: Tokens, weights: Floats, starts: list[int]) -> list[SentenceAlignment]:
        """The alignment of each part of a block of the answer. The parts begin at `starts`."""
        count = len(answer)
        vectors = _with_zeros(answer)
        best = np.empty((len(self.passages), count + 1), np.float32)
        in_context = np.full(count + 1, -1, np.float32)
        for first, last in _blocks(self.starts, COLUMNS):
            begin = self.starts[first]
            cosines = self.vectors[begin : self.starts[last]] @ vectors.T
            for passage in range(first, last):  # several times faster than reduceat
                own = cosines[self.starts[passage] - begin : self.starts[passage + 1] - begin]
                np.maximum.reduce(own, axis=0, out=best[passage])
            np.maximum(in_context, _context(cosines), out=in_context)
        best, in_context = best[:, :count], in_context[:count]
        closest = np.maximum.reduce(best, axis=0)
        support = _support(closest, in_context)
        total = np.maximum(np.add.reduceat(weights, starts), np.finfo(np.float32).tiny)
        shares = weights / np.repeat(total, np.diff([*starts, count]))
        rare = np.add.reduceat(np.where(answer["weight"] > RARE, answer["weight"], 0), starts) / RARE_UNIT
        return [
            SentenceAlignment(support=x, weight=w, rare=r, passage=passage, score=score)
            for x, w, r, (passage, score) in zip(
                np.add.reduceat(support * shares, starts).tolist(),
                total.tolist(),
                rare.tolist(),
                self._best_passages(best, shares, starts),
                strict=True,
            )
        ]

    def _best_passages(self, best: Floats, shares: Floats, starts: Sequence[int]) -> list[tuple[Passage, float]]:
        """The best passage of each part, or pair of neighbouring passages, with its score.

        `best` are the highest cosines, shape (passages, tokens), `shares` the weights, which sum to 1 in each part.
        """
        singles = _sums(best, shares, starts)
        places = singles.argmax(axis=0)
        scores = np.maximum.reduce(singles, axis=0)
        found = [(self.passages[p], score) for p, score in zip(places.tolist(), scores.tolist(), strict=True)]
        if self.together.any():
            pairs = _sums(np.maximum(best[:-1], best[1:]), shares, starts)
            pairs[~self.together] = -np.inf
            for part in np.flatnonzero(np.maximum.reduce(pairs, axis=0) > scores + BOTH).tolist():
                p = int(pairs[:, part].argmax())
                left, right = self.passages[p : p + 2]
                both = Passage(document=left.document, start=left.start, end=right.end)
                found[part] = both, float(pairs[p, part])
        return found


def align(
    answer: Tokens, sentences: Sequence[Span], documents: Sequence[Tokens], passages: Sequence[Sequence[Span]]
) -> list[SentenceAlignment | None]:
    """`Source.align` for one answer: the alignment of each of its sentences with the documents."""
    return Source.of(documents, passages).align(answer, sentences)


def _with_zeros(tokens: Tokens) -> Floats:
    """The vectors in single precision, and a row of zeros for `_context`."""
    vectors = single(tokens)
    return np.concatenate([vectors, np.zeros((1, vectors.shape[1]), np.float32)])


def _support(closest: Floats, in_context: Floats) -> Floats:
    """The support x of each token, from its c and its g."""
    support: Floats = (np.square(1 - closest) + np.square(1 - in_context)) * np.float32(-0.5)
    return support


def _context(cosines: Floats) -> Floats:
    """The context g of the module's docstring, shape (tokens of the answer + 1,).

    Args:
        cosines: shape (tokens of the documents, tokens of the answer + 1), the last column 0; overwritten.
    """
    near = np.empty_like(cosines)
    np.maximum(cosines[:-1], cosines[1:], out=near[:-1])
    near[-1] = cosines[-1]
    np.maximum(near[1:], cosines[:-1], out=near[1:])
    columns, width = near.shape
    if columns == 1 or width == _ONE_TOKEN_WIDTH:  # a single token on either side has no neighbours
        highest: Floats = near.max(axis=0)
        return highest
    # One step along the diagonal, on the flat array: a step over an edge meets the column of zeros.
    flat, step = near.reshape(-1), width + 1
    total = cosines
    sums = total.reshape(-1)
    np.add(flat[step:], flat[:-step], out=sums[step:])
    sums[:step] = flat[:step]
    sums[:-step] += flat[step:]
    total[0] *= 1.5  # an edge has two terms instead of three, two of the corners have one
    total[-1] *= 1.5
    total[1:-1, 0] *= 1.5
    total[1:-1, -2] *= 1.5
    total[0, -2] *= 2
    total[-1, 0] *= 2
    means: Floats = np.maximum.reduce(total, axis=0) / 3
    return means


def _sums(values: Floats, shares: Floats, starts: Sequence[int]) -> Floats:
    """The weighted sum of each part's columns, shape (rows, parts). A product for each row and part takes too long."""
    sums: Floats = np.add.reduceat(values * shares, starts, axis=1)
    return sums


def _weights(answer: Tokens, parts: Sequence[_Part]) -> Floats:
    """The weights of the tokens. In a sentence whose weights are all 0, like "5.", all tokens count the same."""
    weights: Floats = answer["weight"]
    first = [parts[0], *(right for left, right in pairwise(parts) if left.span != right.span)]
    starts = [part.first for part in first]
    silent = np.add.reduceat(weights, starts) == 0
    if not silent.any():
        return weights
    return np.where(np.repeat(silent, np.diff([*starts, len(answer)])), np.float32(1), weights)


def _parts(tokens: Tokens, spans: Sequence[Span], most: int) -> list[_Part]:
    """The tokens of each span that has any, in pieces of at most `most` tokens. Together they cover all tokens."""
    begins = tokens["start"].searchsorted([start for start, _ in spans]).tolist()
    begins[0] = 0
    parts = []
    for span, (begin, end) in enumerate(pairwise([*begins, len(tokens)])):
        for first in range(begin, end, most):
            last = min(first + most, end)
            start = spans[span][0] if first == begin else int(tokens["start"][first])
            stop = spans[span][1] if last == end else int(tokens["start"][last])
            parts.append(_Part(span, first, last, start, stop))
    return parts


def _joined(parts: Sequence[SentenceAlignment]) -> SentenceAlignment:
    """The alignment of a sentence from those of its pieces."""
    if len(parts) == 1:
        return parts[0]
    best = max(parts, key=lambda part: part.score)
    weight = sum(part.weight for part in parts)
    return SentenceAlignment(
        support=sum(part.support * part.weight for part in parts) / weight,
        weight=weight,
        rare=sum(part.rare for part in parts),
        passage=best.passage,
        score=best.score,
    )


def _blocks(starts: Sequence[int], most: int) -> Iterator[tuple[int, int]]:
    """Ranges `[first, last)` of pieces with at most `most` tokens together, or of a single piece.

    Piece i begins at `starts[i]`, which is strictly ascending and ends with the number of tokens.
    """
    first = 0
    while first < len(starts) - 1:
        last = max(first + 1, bisect_right(starts, starts[first] + most) - 1)
        yield first, last
        first = last
