"""Finds the pieces of an event in its documents word for word, so that both are redacted alike.

The first pieces are looked for one by one, which is quickest; more of them by an index, so that the work grows with the
size of the event and not with pieces times documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from monitor.core.model import Document, SupportingDocument
from monitor.core.text.gram_index import EveryPlace, GramIndex

PLAIN = 32  # pieces that are looked for without an index
RUN = 5  # characters of a run in the index
MOST_PLACES = 64  # places that are looked at for a piece
MOST_NAMESAKES = 8  # documents of the id that a piece names


class Sources:
    """The documents of one event."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._by_id: dict[str | None, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            self._by_id[document.id].append(number)
        self._texts = [document.text for document in documents]
        self._every_place = EveryPlace(self._texts)
        self._searched = 0
        self._indices: dict[int, GramIndex] = {}

    def place(self, piece: SupportingDocument) -> tuple[int, int] | None:
        """The number of the document that has the piece, and where: at its own offset or at the first occurrence.

        The document that the piece names goes first. None if the piece is in no document.
        """
        named = list(islice(self._by_id.get(piece.document_id, ()), MOST_NAMESAKES))
        given = piece.start is not None and piece.end is not None
        for number in named:
            if given and piece.text and self._texts[number][piece.start : piece.end] == piece.text:
                return number, piece.start or 0
        if not piece.text:
            return None
        wrong = set(named) if given else set()
        return next((at for at in self._occurrences(piece.text, named) if at[0] not in wrong), None)

    def _occurrences(self, text: str, named: Sequence[int]) -> list[tuple[int, int]]:
        """Each place of `text` that is looked at, those in the documents `named` first."""
        self._searched += 1
        index = self._every_place if self._searched <= PLAIN else self._index(min(RUN, len(text)))
        places, _ = index.occurrences(text, named, MOST_PLACES)
        return [(number, start) for number, start in places if self._texts[number].startswith(text, start)]

    def _index(self, length: int) -> GramIndex:
        if length not in self._indices:
            self._indices[length] = GramIndex(self._texts, length)
        return self._indices[length]
