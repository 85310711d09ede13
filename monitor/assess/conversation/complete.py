"""Completes a question that leans on earlier turns with their words, without a language model.

What is borrowed are whole questions, not single words of them: the encoder reads them in order, and the documents are
compared with what the user wants to know, not with its grammar. The question of the turn before is borrowed; if that
leans itself, so is what it borrowed, back to the last question that stands alone. Turns that name nothing ("thanks",
"why?") lend nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from monitor.assess.conversation.leaning import Cue, cue_of, names_something
from monitor.assess.conversation.turn import Turn
from monitor.core.evidence import Borrowed, StandaloneQuestion
from monitor.core.text.sentences import sentence_spans

LONGEST_BORROWED = 400  # characters borrowed for one question
_SEPARATOR = " "


def completed(question: str, cue: Cue, earlier: Sequence[Turn]) -> StandaloneQuestion | None:
    """The question that leans at `cue`, completed from the turns before it (the first one first).

    None where no earlier turn has words to lend.
    """
    pieces: list[tuple[Borrowed, str]] = []
    left = LONGEST_BORROWED
    for turn in reversed(earlier):
        if not names_something(turn.question):
            continue
        start, end = _last_sentences(turn.question, left)
        if start < end:
            pieces.append((Borrowed(id=turn.id, start=start, end=end), turn.question[start:end]))
            left -= end - start
        if start == end or cue_of(turn.question) is None:
            break
    if not pieces:
        return None
    pieces.reverse()
    return StandaloneQuestion(
        text=_SEPARATOR.join([*(words for _, words in pieces), question]),
        cue_start=cue[0],
        cue_end=cue[1],
        borrowed=tuple(piece for piece, _ in pieces),
    )


def _last_sentences(question: str, most: int) -> tuple[int, int]:
    """The span of as many last sentences as fit into `most` characters; the question stands mostly at the end."""
    spans = sentence_spans(question)
    if not spans:
        return 0, 0
    end = spans[-1][1]
    start = next((first for first, _ in spans if end - first <= most), end)
    return start, end


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadAs:
    """How a stored follow-up was read, put together again from the stored turns.

    `text` is None if that is not possible any more, and `problem` then says why. `pieces` are the ids of the turns that
    it borrows from, each with the words borrowed, None where they are gone. `as_asked` are the similarities (sdq, qrd,
    qa) of the question as it was asked.
    """

    text: str | None
    pieces: tuple[tuple[str, str | None], ...]
    as_asked: Mapping[str, float | None]
    problem: str | None = None


def borrowed_ids(stored: Mapping[str, Any]) -> list[str]:
    """The ids of the turns whose questions `read_again` needs; `stored` is what `standalone_json` rendered."""
    return [piece["id"] for piece in stored["borrowed"]]


def read_again(question: str, stored: Mapping[str, Any], questions: Mapping[str, str]) -> ReadAs:
    """The reading of a stored question from what `standalone_json` rendered and the questions of the turns, by id."""
    pieces = tuple(_piece(piece, questions) for piece in stored["borrowed"])
    as_asked = {name: stored["as_asked"][name] for name in ("sdq", "qrd", "qa")}
    text: str | None = None
    gone = [id_ for id_, words in pieces if words is None]
    if gone:
        problem: str | None = f"{_named(gone)} is no longer stored, or was erased"
    else:
        text = _SEPARATOR.join([*(words for _, words in pieces if words is not None), question])
        problem = None
        if sha256(text.encode()).hexdigest() != stored["sha256"]:
            text, problem = None, "a turn that it leans on has changed since, or this one has"
    return ReadAs(text=text, pieces=pieces, as_asked=as_asked, problem=problem)


def _piece(piece: Mapping[str, Any], questions: Mapping[str, str]) -> tuple[str, str | None]:
    question = questions.get(piece["id"], "")
    return piece["id"], question[piece["start"] : piece["end"]] or None


def _named(ids: Iterable[str]) -> str:
    return "the turn " + " or ".join(ids)
