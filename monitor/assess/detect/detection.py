"""The input and the result of a detector."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An answer with its question and the documents that should carry it. Empty documents count as absent."""

    question: str
    answer: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedSpan:
    """Characters `[start, end)` of the answer, and the probability (over one half) that no document carries them."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """`score` in [0, 1] is the model's probability that the documents do not carry some part of the answer.

    `spans` are in order and do not overlap; there are none if the score is one half or less.
    """

    score: float
    spans: tuple[DetectedSpan, ...]
