"""Prepares an interaction for its page: sentences with their passages, documents with marks, metrics. Pure.

Personal data is masked before passages are marked. A mark that would cut through personal data is left out, since
masking would not recognize the two halves of a number.
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
from monitor.core.reason_words import REASON_WORDS
from monitor.privacy.masking import redact
from monitor.web.base.escape import escape_invisible

Row = Mapping[str, Any]
_NUMBERS = re.compile(r"\d|[^\s@]+@[^\s@]+")
_CARRIED_WORDS: Mapping[Carried, tuple[str, str, str]] = {  # sign, words, colour
    Carried.CARRIED: ("✓", "supported", "good"),
    Carried.PARTLY: ("~", "partly supported", "warn"),
    Carried.NOT: ("✗", "not supported", "bad"),
}
ORIGINS: Mapping[str, str] = {
    Origin.LOGGED: "Logged by the chatbot",
    Origin.SIDECAR: "Named by the sidecar",
    Origin.EXTRACTIVE: "Extractive: the sentences of the documents that are nearest to the answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPiece:
    """A stretch of text; `mark` is `fact` (in no document), `cue` (words that refuse), `passage`, or empty."""

    text: str
    mark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceView:
    """A sentence of the answer, with its nearest passage and the problems found in it."""

    pieces: Sequence[TextPiece]
    sign: str
    words: str
    colour: str
    score: float | None
    document_id: str | None
    document: int | None  # index of the retrieved document
    passage: str | None
    facts: Sequence[str]
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentView:
    """A retrieved document with its passages marked."""

    id: str
    source: str
    score: float | None
    pieces: Sequence[TextPiece]
    used: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricView:
    """A similarity and its threshold; `missing` says why there is no value."""

    name: str
    words: str
    value: float | None
    threshold: float | None
    missing: str

    @property
    def below(self) -> bool:
        return self.value is not None and self.threshold is not None and self.value < self.threshold


def masker(*, clear: bool) -> Callable[[str], str]:
    """The function that prepares foreign text: writes out invisible characters, and masks unless `clear`."""
    return escape_invisible if clear else lambda text: escape_invisible(redact(text))


def _hide_numbers(text: str) -> str:
    """Hides all digits and e-mail addresses of a part, which may contain half of what masking would hide."""
    return escape_invisible(_NUMBERS.sub("•", text))


def masker_of_parts(text: str, places: Sequence[tuple[int, int]], *, clear: bool) -> Callable[[str], str]:
    """The function that prepares parts of a text; hides all digits if cutting would reveal what masking hides."""
    cut = clear or "".join(map(redact, _parts(text, places))) == redact(text)
    return masker(clear=clear) if cut else _hide_numbers


def _passage(row: Row, document: int, start: int, end: int, *, clear: bool) -> str:
    """The text of a document from `start` to `end`."""
    text: str = row["retrieved_documents"][document]["text"]
    return masker_of_parts(text, [(start, end)], clear=clear)(text[start:end])


def sentence_views(row: Row, *, clear: bool) -> list[SentenceView]:
    """The answer's sentences; hides all digits if splitting would reveal what masking hides in the whole answer."""
    found = sentences(row)
    conceal = masker_of_parts(row["answer"], [(s.start, s.end) for s in found], clear=clear)
    alone = not any(s.role is Role.CONTENT for s in found)
    return [_sentence_view(row, s, conceal, clear=clear, alone=alone) for s in found]


def first_bad(found: Sequence[SentenceView]) -> int | None:
    """The index of the first sentence that is not supported, is contradicted or states a fact of no document."""
    return next((number for number, sentence in enumerate(found) if sentence.colour == "bad"), None)


def _sentence_view(
    row: Row, s: ReadSentence, conceal: Callable[[str], str], *, clear: bool, alone: bool
) -> SentenceView:
    pair, note = s.pair, ""
    sign, words, colour = ("·", "not compared", "")
    if s.cue is not None:
        sign, words, colour = "⊘", "refuses", "warn"
    elif pair is not None:
        sign, words, colour = (
            ("!", "contradicted", "bad") if pair.contradicts else _CARRIED_WORDS[Carried.by(pair.score)]
        )
        if s.role is not Role.CONTENT:
            note = f"{s.role}, {'but the answer says nothing else' if alone else 'not judged'}"
    elif s.role is not Role.CONTENT:
        sign, words = "·", f"{s.role}, not judged"
    elif compared(row):
        note = "it has no words to compare" if row["retrieved_documents"] else "no documents were retrieved"
    if s.missing:
        sign, colour = "!", "bad"
    known = pair is not None and s.cue is None
    text = row["answer"][s.start : s.end]
    of_fact = conceal if clear or redact(text) == text else _hide_numbers
    return SentenceView(
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


def _sentence_pieces(answer: str, s: ReadSentence, conceal: Callable[[str], str]) -> list[TextPiece]:
    marks = [(fact.start, fact.end, "fact") for fact in s.missing] + ([(*s.cue, "cue")] if s.cue is not None else [])
    within = [(max(start, s.start) - s.start, min(end, s.end) - s.start, mark) for start, end, mark in marks]
    return cut_at_marks(answer[s.start : s.end], within, conceal)


def cut_at_marks(text: str, marks: Iterable[tuple[int, int, str]], conceal: Callable[[str], str]) -> list[TextPiece]:
    """`text` cut at its marks, without those that overlap an earlier one; uncut if cutting would reveal masked text."""
    chosen: list[tuple[int, int, str]] = []
    for start, end, mark in sorted(marks):
        if end > start >= (chosen[-1][1] if chosen else 0):
            chosen.append((start, end, mark))
    whole = conceal(text)
    parts = [conceal(part) for part in _parts(text, [(start, end) for start, end, _ in chosen])] if chosen else [whole]
    if "".join(parts) != whole:
        return [TextPiece(text=whole)]
    names = ["", *(name for _, _, mark in chosen for name in (mark, ""))]
    return [TextPiece(text=part, mark=name) for part, name in zip(parts, names, strict=True) if part]


def _parts(text: str, spans: Sequence[tuple[int, int]]) -> Iterator[str]:
    """The text before, in, between and after the spans: an odd number of parts."""
    at = 0
    for start, end in spans:
        yield text[at:start]
        yield text[start:end]
        at = end
    yield text[at:]


def passage_marks(row: Row) -> dict[int, list[tuple[int, int, str]]]:
    """The passages nearest to the answer's sentences, as marks for `cut_at_marks`, by index of their document."""
    found: dict[int, list[tuple[int, int, str]]] = {}
    for s in sentences(row):
        if s.pair is not None:
            found.setdefault(s.pair.document, []).append((s.pair.start, s.pair.end, "passage"))
    return found


def document_views(row: Row, *, clear: bool) -> list[DocumentView]:
    """The retrieved documents in order, with the passages nearest to the answer's sentences marked."""
    conceal = masker(clear=clear)
    pairs = [s.pair for s in sentences(row) if s.pair is not None]
    marks = passage_marks(row)
    return [
        DocumentView(
            id=conceal(str(document["id"])),
            source=conceal(document.get("source") or ""),
            score=document.get("score"),
            pieces=cut_at_marks(document["text"], marks.get(number, ()), conceal),
            used=any(p.document == number and Carried.by(p.score) is not Carried.NOT for p in pairs),
        )
        for number, document in enumerate(row["retrieved_documents"])
    ]


def support_views(row: Row, *, clear: bool) -> list[tuple[str, str]]:
    """The supporting documents: each text, and the document that it is from."""
    conceal = masker(clear=clear)
    places = {document["id"]: number for number, document in enumerate(row["retrieved_documents"])}

    def text_of(piece: Row) -> str:
        document = places.get(piece["document_id"]) if piece["start"] is not None else None
        if document is None:
            return conceal(piece["text"])
        return _passage(row, document, piece["start"], piece["end"], clear=clear)

    return [(text_of(piece), _source(piece, conceal)) for piece in row["support"]["documents"]]


def _source(piece: Row, conceal: Callable[[str], str]) -> str:
    if piece["start"] is None:
        cut = "not found; the search was cut short, as the texts are too long"
        return cut if piece.get("cut_short") else "not in a retrieved document"
    nearly = ", nearly word for word" if piece.get("match") == Match.FUZZY else ""
    return f"{conceal(str(piece['document_id']))}{nearly}"


def metrics(row: Row, profile: Profile | None) -> list[MetricView]:
    """The five similarities in the order of METRIC_NAMES."""
    undefined = row["features"].get("undefined", {})
    return [
        MetricView(
            name=name.upper(),
            words=words,
            value=row[name],
            threshold=getattr(profile.metrics, name).threshold if profile else None,
            missing=str(undefined.get(name, "undefined")).replace("_", " "),
        )
        for name, words in METRIC_NAMES.items()
    ]


def reasons(row: Row) -> list[str]:
    """The reasons for the verdict, in sentences."""
    found = [REASON_WORDS[Reason(reason)] for reason in row["reasons"]]
    if words := refusal_words(row):
        found.append(words)
    return found or ["nothing speaks against the answer: the documents support every sentence that states something"]


def strongest_moves(row: Row, profile: Profile | None) -> list[tuple[Moved, str]]:
    """The features that moved the probability of *self-generated* most, each with its description."""
    return [(move, FEATURES[move.name]) for move in moved(row, profile)]
