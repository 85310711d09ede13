"""Chooses the few bad answers that represent the others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from monitor.alert.explain.answer import AnswerRow
from monitor.alert.explain.finding import ExampleAnswer
from monitor.core.model import Verdict
from monitor.privacy.masking import redact_head

MOST = 3
LONGEST = 600  # characters of a question or an answer
_READABLE_ANSWER = range(20, 601)
_READABLE_QUESTION = range(8, 301)
_READ = 4 * LONGEST  # characters that are masked before the text is cut


def telling(
    window: Sequence[AnswerRow], groups: Sequence[Iterable[int]], incident: Collection[int]
) -> list[ExampleAnswer]:
    """At most `MOST` matching answers of what changed: the best of each group in turn, then the best of all.

    `incident` are the answers that show the cause; without any, those of the groups are shown, and without groups all.
    Both are indexes into `window`, the most important group first; groups may overlap. The best answer is readable at a
    glance and is rare for its app; where there is no rank, or the verdict is a refusal, the most certain verdict counts
    instead. No wording is shown twice.
    """
    matching = {place for place, row in enumerate(window) if row.matches}
    grouped = {place for group in groups for place in group}
    chosen = matching.intersection(incident) or matching & grouped or matching
    ranked = sorted(chosen, key=lambda at: _rank(window[at]))
    shown: list[ExampleAnswer] = []
    wordings: set[str] = set()
    for place in _in_turn(ranked, groups):
        row = window[place]
        wording = " ".join((row.answer or "").casefold().split())
        if wording not in wordings:
            wordings.add(wording)
            shown.append(_shown(row))
        if len(shown) == MOST:
            break
    return shown


def _in_turn(ranked: Sequence[int], groups: Sequence[Iterable[int]]) -> Iterator[int]:
    taken: set[int] = set()
    for group in groups[:MOST]:
        members = set(group)
        best = next((place for place in ranked if place in members and place not in taken), None)
        if best is not None:
            taken.add(best)
            yield best
    yield from (place for place in ranked if place not in taken)


def _rank(row: AnswerRow) -> tuple[bool, float, str]:
    readable = len(row.answer or "") in _READABLE_ANSWER and len(row.question or "") in _READABLE_QUESTION
    return not readable, -round(_suspicion(row), 2), row.id


def _suspicion(row: AnswerRow) -> float:
    """In [0, 1]: how rare a self-generated answer is for its app, or else how certain the verdict is."""
    if row.rank is not None and row.verdict == Verdict.SELF_GENERATED:
        return 1 - row.rank
    return _certainty(row)


def _certainty(row: AnswerRow) -> float:
    """The probability of the row's verdict; 0 for an unknown verdict."""
    return float(getattr(row.probabilities, row.verdict, 0.0))


def _shown(row: AnswerRow) -> ExampleAnswer:
    return ExampleAnswer(
        id=row.id,
        app=row.app,
        question=_text(row.question),
        answer=_text(row.answer),
        verdict=row.verdict,
        reasons=row.reasons,
        probability=_certainty(row),
        rank=row.rank,
    )


def _text(text: str | None) -> str:
    redacted = redact_head(text or "", _READ)
    return redacted if len(redacted) <= LONGEST else redacted[: LONGEST - 1].rstrip() + "…"
