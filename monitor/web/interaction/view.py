"""An interaction as its page shows it: sentences with what carries them, documents with their passages. Pure.

Personal data is masked before anything is marked in a text, and where a mark would cut through it the mark is left out:
two halves of a number would both be shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from monitor.assess.classify.profile import Profile
from monitor.assess.classify.refusal import Role
from monitor.assess.explain import (
    METRIC_NAMES,
    REASON_WORDS,
    Carried,
    Moved,
    ReadSentence,
    compared,
    moved,
    refusal_words,
    sentences,
)
from monitor.assess.score.features import FEATURES
from monitor.core.model import Match, Origin, Reason
from monitor.privacy.masking import redact
from monitor.web.base.escape import escape_invisible

Row = Mapping[str, Any]
_NUMBERS = re.compile(r"\d|[^\s@]+@[^\s@]+")
_CARRIED: Mapping[Carried, tuple[str, str, str]] = {  # its sign, its words, its colour
    Carried.CARRIED: ("✓", "carried", "good"),
    Carried.PARTLY: ("~", "partly carried", "warn"),
    Carried.NOT: ("✗", "not carried", "bad"),
}
ORIGINS: Mapping[str, str] = {
    Origin.LOGGED: "as the chatbot logged it",
    Origin.SIDECAR: "as the sidecar named it",
    Origin.EXTRACTIVE: "extractive: the documents' sentences nearest to the answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A stretch of text; `mark` is `fact` (in no document), `cue` (what refuses), `passage`, or nothing."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A sentence of the answer, with its best passage and what is wrong with it."""

    pieces: Sequence[Piece]
    sign: str
    words: str
    colour: str
    score: float | None
    document_id: str | None
    document: int | None  # its place among the retrieved ones, from 0
    passage: str | None
    facts: Sequence[str]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A retrieved document, its passages marked."""

    id: str
    source: str
    score: float | None
    pieces: Sequence[Piece]
    used: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A similarity against its threshold; `below` where it failed."""

    name: str
    words: str
    value: float | None
    threshold: float | None
    missing: str

    @property
    def below(self) -> bool:
        """Whether it is under its threshold."""
        return self.value is not None and self.threshold is not None and self.value < self.threshold


def mask(*, clear: bool) -> Callable[[str], str]:
    """How foreign text is shown: nothing hidden in it, and masked unless `clear`."""
    return escape_invisible if clear else lambda text: escape_invisible(redact(text))


def _hide(text: str) -> str:
    """For a part of a text in which something is masked that the part may hold a half of."""
    return escape_invisible(_NUMBERS.sub("•", text))


def _passage(row: Row, document: int, start: int, end: int, *, clear: bool) -> str:
    """What stands there in the document."""
    text: str = row["retrieved_documents"][document]["text"]
    whole = clear or "".join(map(redact, _parts(text, [(start, end)]))) == redact(text)
    return mask(clear=clear)(text[start:end]) if whole else _hide(text[start:end])


def shown_sentences(row: Row, *, clear: bool) -> list[Shown]:
    """The answer's sentences. Where cutting it up would show what is masked in the whole, every digit is masked."""
    found = sentences(row)
    answer: str = row["answer"]
    cut = "".join(redact(part) for part in _parts(answer, [(s.start, s.end) for s in found]))
    conceal = mask(clear=clear) if clear or cut == redact(answer) else _hide
    alone = not any(s.role is Role.CONTENT for s in found)
    return [_shown(row, s, conceal, clear=clear, alone=alone) for s in found]


def first_wrong(found: Sequence[Shown]) -> int | None:
    """The place, from 0, of the first sentence that is not carried, is contradicted or holds a fact of no document."""
    return next((number for number, its in enumerate(found) if its.colour == "bad"), None)


def _shown(row: Row, s: ReadSentence, conceal: Callable[[str], str], *, clear: bool, alone: bool) -> Shown:
    pair, note = s.pair, ""
    sign, words, colour = ("·", "not compared", "")
    if s.cue is not None:
        sign, words, colour = "⊘", "refuses", "warn"
    elif pair is not None:
        sign, words, colour = ("!", "contradicted", "bad") if pair.contradicts else _CARRIED[Carried.by(pair.score)]
        if s.role is not Role.CONTENT:
            note = f"{s.role}, {'but nothing else is said' if alone else 'not judged'}"
    elif s.role is not Role.CONTENT:
        sign, words = "·", f"{s.role}, not judged"
    elif compared(row):
        note = "no word in it to compare" if row["retrieved_documents"] else "nothing was retrieved to compare it with"
    if s.missing:
        sign, colour = "!", "bad"
    known = pair is not None and s.cue is None
    text = row["answer"][s.start : s.end]
    of_fact = conceal if clear or redact(text) == text else _hide
    return Shown(
        pieces=_sentence_pieces(row["answer"], s, conceal),
        sign=sign,
        words=words,
        colour=colour,
        score=pair.score if pair is not None and known else None,
        document_id=conceal(pair.document_id) if pair is not None and known and pair.document_id else None,
        document=pair.document if pair is not None and known else None,
        passage=_passage(row, pair.document, pair.start, pair.end, clear=clear)
        if pair is not None and known and s.passage
        else None,
        facts=[f"{fact.kind} “{of_fact(fact.text)}”" for fact in s.missing],
        note=note,
    )


def _sentence_pieces(answer: str, s: ReadSentence, conceal: Callable[[str], str]) -> list[Piece]:
    marks = [(fact.start, fact.end, "fact") for fact in s.missing] + ([(*s.cue, "cue")] if s.cue is not None else [])
    within = [(max(start, s.start) - s.start, min(end, s.end) - s.start, mark) for start, end, mark in marks]
    return pieces(answer[s.start : s.end], within, conceal)


def pieces(text: str, marks: Iterable[tuple[int, int, str]], conceal: Callable[[str], str]) -> list[Piece]:
    """`text` cut at its marks, of those that overlap the first; not cut where that would show what is masked."""
    chosen: list[tuple[int, int, str]] = []
    for start, end, mark in sorted(marks):
        if end > start >= (chosen[-1][1] if chosen else 0):
            chosen.append((start, end, mark))
    parts = list(_parts(text, [(start, end) for start, end, _ in chosen]))
    if "".join(map(conceal, parts)) != conceal(text):
        return [Piece(text=conceal(text))]
    names = ["", *(name for _, _, mark in chosen for name in (mark, ""))]
    return [Piece(text=conceal(part), mark=name) for part, name in zip(parts, names, strict=True) if part]


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """What stands before, in and between the spans, and after the last one: an odd number of pieces."""
    at = 0
    for start, end in spans:
        yield text[at:start]
        yield text[start:end]
        at = end
    yield text[at:]


def shown_documents(row: Row, *, clear: bool) -> list[Read]:
    """The retrieved documents in order, with the passages that carry sentences of the answer marked."""
    conceal = mask(clear=clear)
    pairs = [s.pair for s in sentences(row) if s.pair is not None]
    return [
        Read(
            id=conceal(str(document["id"])),
            source=conceal(document.get("source") or ""),
            score=document.get("score"),
            pieces=pieces(
                document["text"], [(p.start, p.end, "passage") for p in pairs if p.document == number], conceal
            ),
            used=any(p.document == number and Carried.by(p.score) is not Carried.NOT for p in pairs),
        )
        for number, document in enumerate(row["retrieved_documents"])
    ]


def shown_support(row: Row, *, clear: bool) -> list[tuple[str, str]]:
    """The supporting documents: each text, and where it stands."""
    conceal = mask(clear=clear)
    places = {document["id"]: number for number, document in enumerate(row["retrieved_documents"])}

    def told(piece: Row) -> str:
        document = places.get(piece["document_id"]) if piece["start"] is not None else None
        if document is None:
            return conceal(piece["text"])
        return _passage(row, document, piece["start"], piece["end"], clear=clear)

    return [(told(piece), _stands(piece, conceal)) for piece in row["support"]["documents"]]


def _stands(piece: Row, conceal: Callable[[str], str]) -> str:
    if piece["start"] is None:
        return "not from the documents"
    nearly = ", nearly" if piece.get("match") == Match.FUZZY else ""
    return f"{conceal(str(piece['document_id']))}{nearly}"


def metrics(row: Row, profile: Profile | None) -> list[Metric]:
    """The five similarities in the order of METRIC_NAMES."""
    undefined = row["features"].get("undefined", {})
    return [
        Metric(
            name=name.upper(),
            words=words,
            value=row[name],
            threshold=getattr(profile.metrics, name).threshold if profile else None,
            missing=str(undefined.get(name, "undefined")).replace("_", " "),
        )
        for name, words in METRIC_NAMES.items()
    ]


def why(row: Row) -> list[str]:
    """Why this verdict, in sentences."""
    found = [REASON_WORDS[Reason(reason)] for reason in row["reasons"]]
    if words := refusal_words(row):
        found.append(words)
    return found or ["nothing was found against the answer: every sentence that says something is carried well enough"]


def moves(row: Row, profile: Profile | None) -> list[tuple[Moved, str]]:
    """What moved the probability of *self-generated* most, each with what it is."""
    return [(its, FEATURES[its.name]) for its in moved(row, profile)]
