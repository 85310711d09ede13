"""What carries an answer, sentence by sentence, and what in it no document holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AlignedSentence:
    """A sentence of the answer that states something, with the passage of the documents that carries it best.

    All offsets are characters, `[start, end)`. `document` is the retrieved document's place, from 0, since ids may
    repeat. `score` is the mean cosine of the sentence's words to that passage, weighted by what they tell;
    `contradicts` when the passage says the same but for a negation, an opposite or another figure.
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
    """A number, date or name at `[start, end)` of the answer that neither documents nor question hold."""

    kind: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """What carries the answer and what does not.

    `features` has a value for each of `score.features.FEATURES`, None where a text is missing.
    """

    features: Mapping[str, float | None]
    alignment: tuple[AlignedSentence, ...] = ()
    missing: tuple[MissingFact, ...] = ()
