"""The standalone question: a follow-up completed from the turns before it, so that it can be read alone."""

from __future__ import annotations

from dataclasses import dataclass


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
