"""Finds the pieces of an event in its documents word for word, so that both are redacted alike.

The first pieces are looked for one by one, which is quickest; more of them by an index, so that the work grows with the
size of the event and not with pieces times documents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import islice

from monitor.core.model import Document, SupportingDocument
from monitor.core.text.gram_index import GramIndex

PLAIN = 32  # pieces that are looked for without an index
RUN = 5  # characters of a run in the index
MOST_PLACES = 64  # places that are looked at for a piece
MOST_NAMESAKES = 8  # documents of the id that a piece names


class Sources:
    """The documents of one event."""

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._by_id: dict[str | None, list[int]] = defaultdict(list)
        for number, document in enumerate(documents):
            self._by_id[document.id].append(number)
        self._searched = 0
        self._indices: dict[int, GramIndex] = {}

    def place(self, piece: SupportingDocument) -> tuple[int, int] | None:
        """The number of the document that has the piece, and where: at its own offset or at the first occurrence.

        The document that the piece names goes first. None if the piece is in no document.
        """
        named = list(islice(self._by_id.get(piece.document_id, ()), MOST_NAMESAKES))
        given = piece.start is not None and piece.end is not None
        for number in named:
            if given and piece.text and self._documents[number].text[piece.start : piece.end] == piece.text:
                return number, piece.start or 0
        if not piece.text:
            return None
        wrong = set(named) if given else set()
        return next((at for at in self._occurrences(piece.text, named) if at[0] not in wrong), None)

    def _occurrences(self, text: str, named: Sequence[int]) -> list[tuple[int, int]]:
        self._searched += 1
        if self._searched <= PLAIN:
            order = [*named, *(n for n in range(len(self._documents)) if n not in named)]
            places = [(number, self._documents[number].text.find(text)) for number in order]
            return [at for at in places if at[1] >= 0]
        length = min(RUN, len(text))
        if length not in self._indices:
            self._indices[length] = GramIndex([document.text for document in self._documents], length)
        places, _ = self._indices[length].occurrences(text, named, MOST_PLACES)
        return [(number, start) for number, start in places if self._documents[number].text.startswith(text, start)]
