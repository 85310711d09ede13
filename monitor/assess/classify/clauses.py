"""A sentence in clauses, where one refuses and its neighbour does not: "The manual does not say why, but …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from monitor.assess.classify.lexicon.wording import Wording
from monitor.core.text.sentences import Span

LEAST_CLAUSE = 3  # words of a clause that is told from its neighbour

_COMMA = re.compile(r"[,，、] ?")
_MARKS = " \t\n,;:–—-，；、"
WORD = re.compile(r"\w+")
UNSPACED_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|\w+")


class Clause(NamedTuple):
    """Characters `[start, end)` of a sentence; `answers` when it says something beside a refusal."""

    start: int
    end: int
    cue: Span | None  # it refuses
    answers: bool


def word_count(text: str) -> int:
    """How many words, two characters of Chinese or Japanese counting as one."""
    return len((WORD if text.isascii() else UNSPACED_WORD).findall(text))


def refusing_clauses(piece: str, wording: Wording) -> list[Clause]:
    """Clauses of a sentence, neighbours alike joined; none if nothing in it refuses."""
    clauses = [_clause(piece, start, end, wording) for start, end in _clauses(piece, wording)]
    if not any(c.cue for c in clauses):
        cue = _cue(piece, 0, len(piece), wording)
        return [Clause(0, len(piece), cue, answers=False)] if cue else []
    joined: list[Clause] = []
    for clause in clauses:
        last = joined[-1] if joined else None
        if last is None or (last.cue and clause.answers) or (last.answers and clause.cue):
            joined.append(clause)
        else:  # what neither refuses nor answers goes with its neighbour
            joined[-1] = Clause(last.start, clause.end, last.cue or clause.cue, last.answers or clause.answers)
    return joined


def _clauses(piece: str, wording: Wording) -> Iterator[Span]:
    """Where the clauses of a sentence begin and end; a conjunction goes with the clause that it opens."""
    borders = [_border(match) for match in wording.border.finditer(piece)]
    if wording.concessive.match(piece) and (comma := _COMMA.search(piece)):
        borders = sorted({*borders, comma.end()})
    start = 0
    for border in [*borders, len(piece)]:
        if end := len(piece[start:border].rstrip()):
            yield start, start + end
            start = border


def _border(match: re.Match[str]) -> int:
    """Behind the marks that a border begins with; one that begins with letters ends its clause."""
    marks = len(match[0]) - len(match[0].lstrip(_MARKS))
    return match.start() + marks if marks else match.end()


def _clause(piece: str, start: int, end: int, wording: Wording) -> Clause:
    if cue := _cue(piece, start, end, wording):
        return Clause(start, end, cue, answers=False)
    said = piece[after_lead(piece, start, end, wording) : end]
    answers = (
        word_count(said) >= LEAST_CLAUSE
        and not wording.aside.match(said)
        and not any(whole.fullmatch(said) for whole in (wording.courtesy, wording.hedge, wording.apology))
    )
    return Clause(start, end, None, answers=answers)


def _cue(piece: str, start: int, end: int, wording: Wording) -> Span | None:
    """The words of the clause that refuse. Its head without what leads up to it is looked at as a head of its own."""
    start = after_lead(piece, start, end, wording)
    clause = piece[start:end]
    match = wording.refusing.search(clause)
    if match is None or wording.fact.search(clause):
        return None
    return start + match.start(), start + match.end()


def after_lead(piece: str, start: int, end: int, wording: Wording) -> int:
    """Where the clause begins behind what leads up to it: "Unfortunately, …", "I am sorry, but …"."""
    while (match := wording.lead.match(piece, start, end)) and match.end() > start:
        start = match.end()
    return start
