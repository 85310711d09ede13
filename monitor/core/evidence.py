"""The evidence for a verdict: supporting passages, facts that no document holds, and how a follow-up was read."""

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Borrowed:
    """Characters `[start, end)` of the question of an earlier turn, the interaction `id` of the same app."""

    id: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StandaloneQuestion:
    """How a follow-up was read: its own words after those that it borrows from earlier turns, in this order.

    It leans on them by the words at `[cue_start, cue_end)` of the question; an empty cue stands for a question without
    a subject. `text` is what was compared with the documents; only its SHA-256 is stored, so that an erased turn leaves
    no words behind in later ones. `sdq`, `qrd` and `qa` are the similarities of the question as it was asked.
    """

    text: str
    cue_start: int
    cue_end: int
    borrowed: tuple[Borrowed, ...]
    sdq: float | None = None
    qrd: float | None = None
    qa: float | None = None
