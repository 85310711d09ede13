"""What a detector is asked, and what it says."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """An answer with the documents that have to carry it; empty documents count as absent."""

    question: str
    answer: str
    documents: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DetectedSpan:
    """Answer offsets `[start, end)` in characters, and the probability, over one half, that they are not carried."""

    start: int
    end: int
    probability: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detection:
    """`score` in [0, 1] is the model's probability that something in the answer is not carried by the documents.

    `spans` stand in order and do not overlap; there are none where the score is one half or less.
    """

    score: float
    spans: tuple[DetectedSpan, ...]
