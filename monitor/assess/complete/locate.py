"""Finds supporting documents in the retrieved documents: exactly, up to case and typography, or approximately.

However long the texts, the work grows no faster than n·log n: an index says where a piece may be, only so many of these
places are looked at, and pieces are compared a part at a time. A piece that is not found although there was more to
look at is marked as `cut_short`.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from rapidfuzz import fuzz

from monitor.core.model import Document, Match, SupportingDocument
from monitor.core.text.cache import cached_by_text
from monitor.core.text.gram_index import EveryPlace, GramIndex, Region

LEAST_LIKENESS = 85.0  # percent of characters in common, as rapidfuzz's partial ratio counts them
SHORTEST_FUZZY = 20  # characters; any long text holds something similar to a shorter piece
CACHED_DOCUMENTS = 64

GRAM = 5  # characters; where one in seven is replaced, at least one run of five is left
PLAIN = 32  # pieces that are looked for without the index, which is quicker for a few
SHORT_DOCUMENTS = 8_192  # characters of all documents that are compared without the index
SHORT_DOCUMENT = 4_096  # characters of a document that is compared as a whole
MOST_NAMESAKES = 8  # documents of the id that a piece names
MOST_PLACES = 64  # places where a piece is looked for character by character
MOST_REGIONS = 8  # regions that a piece is compared with
MOST_COMPARED = 500_000  # characters of pieces and regions, once for each comparison: about a second on one core
PART = 1_024  # characters that are compared at a time: rapidfuzz takes time cubic in them
SLACK = 96  # characters by which a part may be off its estimated place
LONGEST_WORD = 128

_SHAPES = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032`\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
    "\u2026": "...",
}
_SPACE, _SPACES = re.compile(r"\s"), re.compile(r"\s\s")
Folded = tuple[str, Sequence[int]]


def locate(pieces: Sequence[SupportingDocument], documents: Sequence[Document]) -> tuple[SupportingDocument, ...]:
    """The pieces of one event, each with the document and the character offsets where it was found, and how.

    The document that a piece names comes first, and a position that the piece gives is kept if the document has the
    same text there. Otherwise an exact occurrence in any document wins over one that differs in case, white space or
    typography, and that one over the most similar passage, which needs a likeness of at least `LEAST_LIKENESS`.
    """
    search = _Search(documents)
    return tuple(search.locate(piece, plainly=number < PLAIN) for number, piece in enumerate(pieces))


class _Search:
    """The documents of one event, which are searched for one piece after the other."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_id: dict[str | None, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            self._by_id[document.id].append(number)
        self._short = sum(len(document.text) for document in documents) <= SHORT_DOCUMENTS
        self._texts: list[Folded] = []
        self._indices: dict[int, GramIndex | EveryPlace] = {}
        self._left = MOST_COMPARED

    def locate(self, piece: SupportingDocument, *, plainly: bool) -> SupportingDocument:
        if not piece.text.strip():
            return piece
        named = self._by_id.get(piece.document_id, [])[:MOST_NAMESAKES]
        if piece.start is not None and piece.end == piece.start + len(piece.text):
            for number in named:
                if self._documents[number].text.startswith(piece.text, piece.start):
                    return replace(piece, match=Match.EXACT)
        if plainly:
            for number in (*named, *range(len(self._documents))):
                start = self._documents[number].text.find(piece.text)
                if start >= 0:
                    return self._found(piece, number, start, start + len(piece.text), Match.EXACT)
        return self._nearly(piece, named, plainly=plainly and self._short)

    def _nearly(self, piece: SupportingDocument, named: Sequence[int], *, plainly: bool) -> SupportingDocument:
        sought = _fold(piece.text)[0].strip()
        index = self._index(0 if plainly else min(GRAM, len(sought)))
        places, complete = index.occurrences(sought, named, MOST_PLACES)
        folded = None
        for number, start in places:
            text, offsets = self._texts[number]
            if not text.startswith(sought, start):
                continue
            begin = offsets[start] - len(piece.text) + len(piece.text.lstrip())
            if begin >= 0 and self._documents[number].text.startswith(piece.text, begin):
                return self._found(piece, number, begin, begin + len(piece.text), Match.EXACT)
            folded = folded or self._found(piece, number, offsets[start], offsets[start + len(sought)], Match.FOLDED)
        if folded is not None:
            return folded
        missing = replace(piece, start=None, end=None, match=None, cut_short=not complete)
        return missing if len(sought) < SHORTEST_FUZZY else self._alike(missing, sought, index, named)

    def _alike(
        self, piece: SupportingDocument, sought: str, index: GramIndex | EveryPlace, named: Sequence[int]
    ) -> SupportingDocument:
        regions, complete = index.regions(sought, PART, MOST_REGIONS)
        best, like = None, LEAST_LIKENESS
        for region in self._in_order(regions, named):
            text, offsets = self._texts[region.text]
            self._left -= 2 * len(sought) + region.high - region.low
            if self._left < 0:
                complete = False
                break
            near = _most_similar(sought, text, region, like)
            if near is not None and (best is None or near[0] > like):
                like, start, end = near[0], *_whole_words(text, *near[1:])
                best = self._found(piece, region.text, offsets[start], offsets[end], Match.FUZZY)
        return best or replace(piece, cut_short=piece.cut_short or not complete)

    def _in_order(self, regions: Sequence[Region], named: Sequence[int]) -> list[Region]:
        """The regions in the order of the documents, named ones first.

        A short document is one region, since the likeness of a passage depends a little on what is searched around it.
        """
        lengths = [len(self._texts[region.text][0]) for region in regions]
        widened = {
            Region(region.text, 0, length) if length <= SHORT_DOCUMENT else region
            for region, length in zip(regions, lengths, strict=True)
        }
        return sorted(widened, key=lambda region: (region.text not in named, region))

    def _index(self, length: int) -> GramIndex | EveryPlace:
        """The index of runs of so many characters; 0: none."""
        if not self._texts:
            self._texts = [_folded(document.text) for document in self._documents]
        if length not in self._indices:
            texts = [text for text, _ in self._texts]
            self._indices[length] = GramIndex(texts, length) if length else EveryPlace(texts)
        return self._indices[length]

    def _found(self, piece: SupportingDocument, number: int, start: int, end: int, match: Match) -> SupportingDocument:
        return replace(
            piece, document_id=self._documents[number].id, start=start, end=end, match=match, cut_short=False
        )


def _most_similar(sought: str, text: str, region: Region, least: float) -> tuple[float, int, int] | None:
    """The likeness of the most similar passage in the region, if it is at least `least`, and where the passage is.

    A piece of more than PART characters is compared in parts, each next to the one before.
    """
    size = ceil(len(sought) / ceil(len(sought) / PART))
    may_lose = (100 - least) * len(sought)
    low, high, start = region.low, region.high, 0
    for at in range(0, len(sought), size):
        part = sought[at : at + size]
        begin = max(0, min(low, len(text) - len(part)) - SLACK)
        window = text[begin : max(high, 0) + len(part) + SLACK]
        if len(window) < len(part) * LEAST_LIKENESS / 100:  # rapidfuzz would search for the window in the part
            return None
        near = fuzz.partial_ratio_alignment(part, window, score_cutoff=max(0.0, 100 - may_lose / len(part)))
        if near is None:
            return None
        may_lose -= (100 - near.score) * len(part)
        low = high = begin + near.dest_end
        start = start if at else begin + near.dest_start
    return (100 - ((100 - least) * len(sought) - may_lose) / len(sought), start, high)


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """The range widened so that it cuts no word of up to LONGEST_WORD characters."""
    first, last = max(0, start - LONGEST_WORD), end + LONGEST_WORD
    while first < start < len(text) and text[start - 1].isalnum() and text[start].isalnum():
        start -= 1
    while 0 < end < min(len(text), last) and text[end - 1].isalnum() and text[end].isalnum():
        end += 1
    return start, end


def _fold(text: str) -> Folded:
    """The text in one case, with single spaces and plain quotation marks, and the offset of each of its characters.

    There is one more offset than characters: the last one is the end of the text.
    """
    if text.isascii() and not _SPACES.search(text):
        return _SPACE.sub(" ", text.lower()).replace("`", "'"), range(len(text) + 1)
    out: list[str] = []
    places = array("i")
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
    return "".join(out), places


_folded = cached_by_text(_fold, texts=CACHED_DOCUMENTS)
