"""Texts with token vectors of the test's choice, to be aligned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.assess.embed.tokens import token_type
from monitor.assess.score.alignment import align

CLOSE = 1e-4


@dataclass
class Text:
    """Tokens of one character each, side by side, in sentences of so many tokens."""

    vectors: np.ndarray
    weights: list[float]
    sizes: list[int]

    @property
    def tokens(self):
        tokens = np.zeros(len(self.vectors), token_type(self.vectors.shape[1]))
        tokens["vector"] = self.vectors
        tokens["start"] = np.arange(len(tokens))
        tokens["end"] = tokens["start"] + 1
        tokens["weight"] = self.weights
        return tokens

    @property
    def spans(self):
        ends = np.cumsum(self.sizes).tolist()
        return [(end - size, end) for size, end in zip(self.sizes, ends, strict=True)]


def text_of(vectors, sizes, weights=None):
    vectors = np.array(vectors, float)
    return Text(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), weights or [1.0] * len(vectors), sizes)


def found(answer, documents):
    return align(answer.tokens, answer.spans, [d.tokens for d in documents], [d.spans for d in documents])
