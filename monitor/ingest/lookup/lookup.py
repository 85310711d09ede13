"""The port of the document look-up, and the look-up that picks one by app."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Protocol

from typing_extensions import override

log = logging.getLogger(__name__)
MAX_TEXTS_BYTES = 64 * 2**20  # of one call; a source that gives more is cut off


class DocumentLookup(Protocol):
    """Finds the texts of documents. Safe to use from several threads."""

    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        """The texts by id; an id that the source does not know is left out.

        Raises:
            Retriable: the source is out of reach, or refuses.
        """

    def describe(self) -> str:
        """The source in words, without secrets."""

    def close(self) -> None:
        """Releases all resources; may be called twice."""


class FoundTexts:
    """Collects the texts of one call, by id, up to `MAX_TEXTS_BYTES`; `source` names who gives them in the log."""

    def __init__(self, source: str) -> None:
        self.by_id: dict[str, str] = {}
        self._source = source
        self._room = MAX_TEXTS_BYTES

    def add(self, key: str, text: str) -> bool:
        """Keeps a text, if there is room; returns whether there was."""
        self._room -= len(text)
        if self._room < 0:
            log.warning("document look-up: %s: texts are too long to be read", self._source)
            return False
        self.by_id[key] = text
        return True


class LookupByApp(DocumentLookup):
    """Asks the look-up of the app, or else `default`; without either there are no texts."""

    def __init__(self, default: DocumentLookup | None, by_app: Mapping[str, DocumentLookup]) -> None:
        self._default = default
        self._by_app = dict(by_app)

    @override
    def texts(self, app: str, ids: Sequence[str]) -> Mapping[str, str]:
        lookup = self._by_app.get(app, self._default)
        return {} if lookup is None else lookup.texts(app, ids)

    @override
    def describe(self) -> str:
        named = [f"{app}: {lookup.describe()}" for app, lookup in sorted(self._by_app.items())]
        return "; ".join([*([self._default.describe()] if self._default else []), *named])

    @override
    def close(self) -> None:
        for lookup in (*([self._default] if self._default else []), *self._by_app.values()):
            lookup.close()
