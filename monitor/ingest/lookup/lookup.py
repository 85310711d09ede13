"""The port of the document look-up, and the look-up that picks one by app."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from typing_extensions import override

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
