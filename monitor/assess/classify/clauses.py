"""Splits a sentence into clauses if one refuses and its neighbour does not: "The manual does not say why, but …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from monitor.assess.classify.lexicon.wording import Wording
from monitor.core.text.sentences import Span

LEAST_CLAUSE = 3  # the least words of a clause that can answer

_COMMA = re.compile(r"[,，、] ?")
_MARKS = " \t\n,;:–—-，；、"
WORD = re.compile(r"\w+")
UNSPACED_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]{1,2}|\w+")


class Clause(NamedTuple):
    """Characters `[start, end)` of a sentence."""

    start: int
    end: int
    cue: Span | None  # the words that refuse, if the clause refuses
    answers: bool  # whether the clause says something other than a refusal


def word_count(text: str) -> int:
    """The number of words; two characters of Chinese or Japanese count as one word."""
    return len((WORD if text.isascii() else UNSPACED_WORD).findall(text))


def refusing_clauses(piece: str, wording: Wording) -> list[Clause]:
    """The clauses of a sentence, with similar neighbours joined; no clauses if nothing in it refuses."""
    spans = list(_clauses(piece, wording))
    cues = [_cue(piece, start, end, wording) for start, end in spans]
    if not any(cues):
        if spans == [(0, len(piece))]:
            return []  # the sentence is a single clause, which was searched already
        cue = _cue(piece, 0, len(piece), wording)
        return [Clause(0, len(piece), cue, answers=False)] if cue else []
    joined: list[Clause] = []
    for (start, end), cue in zip(spans, cues, strict=True):
        clause = Clause(start, end, cue, answers=cue is None and _answers(piece, start, end, wording))
        last = joined[-1] if joined else None
        if last is None or (last.cue and clause.answers) or (last.answers and clause.cue):
            joined.append(clause)
        else:  # a clause that neither refuses nor answers joins its neighbour
            joined[-1] = Clause(last.start, clause.end, last.cue or clause.cue, last.answers or clause.answers)
    return joined


def _clauses(piece: str, wording: Wording) -> Iterator[Span]:
    """The ranges of the clauses of a sentence. A conjunction belongs to the clause that it opens."""
    borders = [_border(match) for match in wording.border.finditer(piece)]
    if wording.concessive.match(piece) and (comma := _COMMA.search(piece)):
        borders = sorted({*borders, comma.end()})
    start = 0
    for border in [*borders, len(piece)]:
        if end := len(piece[start:border].rstrip()):
            yield start, start + end
            start = border


def _border(match: re.Match[str]) -> int:
    """The end of the marks at the start of a border; a border that starts with letters belongs to the clause before."""
    marks = len(match[0]) - len(match[0].lstrip(_MARKS))
    return match.start() + marks if marks else match.end()


def _answers(piece: str, start: int, end: int, wording: Wording) -> bool:
    """Whether a clause that does not refuse says something."""
    body = piece[after_lead(piece, start, end, wording) : end]
    return (
        word_count(body) >= LEAST_CLAUSE
        and not wording.aside.match(body)
        and not any(whole.fullmatch(body) for whole in (wording.courtesy, wording.hedge, wording.apology))
    )


def _cue(piece: str, start: int, end: int, wording: Wording) -> Span | None:
    """The words of the clause that refuse. The search starts after the clause's lead ("Unfortunately, …")."""
    start = after_lead(piece, start, end, wording)
    clause = piece[start:end]
    match = wording.refusing.search(clause) or wording.limit.search(clause)
    if match is None or wording.fact.search(clause):
        return None
    return start + match.start(), start + match.end()


def after_lead(piece: str, start: int, end: int, wording: Wording) -> int:
    """The start of the clause after its lead: "Unfortunately, …", "I am sorry, but …"."""
    while (match := wording.lead.match(piece, start, end)) and match.end() > start:
        start = match.end()
    return start
