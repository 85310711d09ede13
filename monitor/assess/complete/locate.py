"""Finds a supporting document in the retrieved documents: exactly, up to case and typography, or approximately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rapidfuzz import fuzz

from monitor.core.model import Document, Match, SupportingDocument
from monitor.core.text.cache import cached_by_text

LEAST_LIKENESS = 85.0  # percent of characters in common, as rapidfuzz's partial ratio counts them
SHORTEST_FUZZY = 20  # characters; any long text holds something similar to a shorter piece
CACHED_DOCUMENTS = 64  # a folded text takes some 80 bytes per character

_SHAPES = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    "\u2026": "...",
}
Folded = tuple[str, tuple[int, ...]]


def locate(piece: SupportingDocument, documents: Sequence[Document]) -> SupportingDocument:
    """The piece with the document and the character offsets where it was found, and how it was found.

    The document that the piece names comes first, and a position that the piece gives is kept if the document has the
    same text there. Otherwise an exact occurrence in any document wins over one that differs in case, white space or
    typography, and that one over the most similar passage, which needs a likeness of at least `LEAST_LIKENESS`.
    """
    if not piece.text.strip():
        return piece
    if piece.start is not None and piece.end == piece.start + len(piece.text):
        for document in documents:
            if document.id == piece.document_id and document.text[piece.start : piece.end] == piece.text:
                return replace(piece, match=Match.EXACT)
    named_first = sorted(documents, key=lambda document: document.id != piece.document_id)
    for document in named_first:
        start = document.text.find(piece.text)
        if start >= 0:
            return _found(piece, document, start, start + len(piece.text), Match.EXACT)
    return _nearly(piece, named_first) or replace(piece, start=None, end=None, match=None)


def _nearly(piece: SupportingDocument, documents: Sequence[Document]) -> SupportingDocument | None:
    sought = _fold(piece.text)[0].strip()
    folded = [(document, *_folded(document.text)) for document in documents]
    for document, text, places in folded:
        start = text.find(sought)
        if start >= 0:
            return _found(piece, document, places[start], places[start + len(sought)], Match.FOLDED)
    if len(sought) < SHORTEST_FUZZY:
        return None
    best, like = None, LEAST_LIKENESS
    for document, text, places in folded:
        if len(text) < len(sought) * LEAST_LIKENESS / 100:  # rapidfuzz would search for the document in the piece
            continue
        near = fuzz.partial_ratio_alignment(sought, text, score_cutoff=like)
        if near is not None and (best is None or near.score > like):
            start, end = _whole_words(text, near.dest_start, near.dest_end)
            best, like = _found(piece, document, places[start], places[end], Match.FUZZY), near.score
    return best


def _found(piece: SupportingDocument, document: Document, start: int, end: int, match: Match) -> SupportingDocument:
    return replace(piece, document_id=document.id, start=start, end=end, match=match)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The range widened so that it cuts no word."""
    while 0 < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < len(text) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _fold(text: str) -> Folded:
    """The text in one case, with single spaces and plain quotation marks, and the offset of each of its characters.

    There is one more offset than characters: the last one is the end of the text.
    """
    out: list[str] = []
    places: list[int] = []
    spaced = False
    for place, character in enumerate(text):
        if character.isspace():
            if not spaced:
                out.append(" ")
                places.append(place)
            spaced = True
            continue
        spaced = False
        for folded in _SHAPES.get(character) or character.casefold():
            out.append(folded)
            places.append(place)
    places.append(len(text))
    return "".join(out), tuple(places)


_folded = cached_by_text(_fold, texts=CACHED_DOCUMENTS)
