"""The evidence for a verdict: the passage that supports each sentence, and facts that no document holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedSentence:
    """A sentence of the answer that makes a statement, with the passage of the documents that supports it best.

    All offsets are in characters, `[start, end)`. `document` is the index of the retrieved document, from 0, since ids
    may repeat. `score` is the mean cosine of the sentence's words to that passage, weighted by their information;
    `contradicts` is true when the passage differs by a negation, an opposite or another figure only.
    """

    answer_start: int
    answer_end: int
    document: int
    document_id: str
    start: int
    end: int
    score: float
    contradicts: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingFact:
    """A number, date or name at `[start, end)` of the answer that is in neither the documents nor the question."""

    kind: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The features, the aligned sentences and the missing facts of one answer.

    `features` has a value for each name in `assess.score.features.FEATURES`, None where a text is missing. `compared`
    is the share of the documents' tokens that the answer was aligned with; below 1 only if the texts are too long.
    """

    features: Mapping[str, float | None]
    alignment: tuple[AlignedSentence, ...] = ()
    missing: tuple[MissingFact, ...] = ()
    compared: float = 1.0
