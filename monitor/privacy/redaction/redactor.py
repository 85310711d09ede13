"""Takes what is personal out of what arrives, before anything is stored, embedded or sent on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from monitor.core.message import DeadLetter
from monitor.core.model import Document, Interaction, Json, Kind, Mark, SupportingDocument
from monitor.core.text.cache import cached_by_text
from monitor.privacy.redaction import forms
from monitor.privacy.redaction.pattern import pattern
from monitor.privacy.redaction.spans import Finder, Found, Span, found, moved, replaced

_BY_FORM: Mapping[Kind, Finder] = {
    Kind.KEY: forms.keys,
    Kind.E_MAIL: forms.e_mails,
    Kind.IBAN: forms.ibans,
    Kind.CARD: forms.cards,
    Kind.PHONE: forms.phones,
}
DISPLAYED = tuple((kind.word, find) for kind, find in _BY_FORM.items())
_NO_TEXT = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)|[\ud800-\udfff]", re.DOTALL)  # escapes of JSON; bytes that are no UTF-8
_HELD = frozenset({Mark.REDACTED})


class Redactor:
    """Finds in every text what `finders` find. Holds no state but what it remembers; threads may share it."""

    def __init__(self, finders: Sequence[tuple[str, Finder]]) -> None:
        self._find: Callable[[str], list[Found]] = cached_by_text(partial(_found, tuple(finders)))

    def text(self, text: str) -> str:
        """`text` with words in place of what is personal; the same object where there is nothing."""
        spans = self._find(text)
        return replaced(text, spans) if spans else text

    def interaction(self, it: Interaction) -> Interaction:
        """The interaction without it, marked; the same object where there is nothing.

        Looked at are question, answer, reference answer, the documents with their sources and metadata, the supporting
        documents, and the values of tags; ids, model and environment are left alone. Offsets of supporting documents
        are moved along with the text that they point at.
        """
        documents = tuple(map(self._document, it.retrieved_documents))
        support = it.supporting_documents
        after = replace(
            it,
            question=self.text(it.question),
            answer=self.text(it.answer),
            reference_answer=None if it.reference_answer is None else self.text(it.reference_answer),
            retrieved_documents=documents,
            supporting_documents=None if support is None else tuple(self._piece(p, it, documents) for p in support),
            tags={name: self.text(value) for name, value in it.tags.items()},
        )
        return it if after == it else replace(after, marks=it.marks | _HELD)

    def dead_letter(self, letter: DeadLetter) -> DeadLetter:
        """The letter without it, as far as its bytes are text; the same object where there is nothing.

        `digest` is then that of the bytes as they came, so that the message is known again. What JSON has escaped or
        what is encoded otherwise is not found.
        """
        message = letter.message
        value = self._bytes(message.value)
        after = replace(
            letter,
            path=self.text(letter.path),
            problem=self.text(letter.problem),
            message=replace(
                message,
                value=value,
                size=message.size + len(value) - len(message.value),
                key=None if message.key is None else self._bytes(message.key),
                headers=tuple((name, self._bytes(content)) for name, content in message.headers),
            ),
        )
        return letter if after == letter else replace(after, digest=hashlib.sha256(message.value).digest())

    def _document(self, document: Document) -> Document:
        return replace(
            document,
            text=self.text(document.text),
            source=None if document.source is None else self.text(document.source),
            metadata={name: self._json(value) for name, value in document.metadata.items()},
        )

    def _piece(self, piece: SupportingDocument, it: Interaction, documents: Sequence[Document]) -> SupportingDocument:
        """A piece of a document becomes what that piece of the document has become; another is a text of its own.

        Offsets that would not point at the piece's text any more are left out: it is located anew then.
        """
        pairs = zip(it.retrieved_documents, documents, strict=True)
        for before, after in sorted(pairs, key=lambda pair: pair[0].id != piece.document_id):
            at = _stands(piece, before)
            if at is None:
                continue
            start, end = moved(*at, self._find(before.text))
            text = self.text(after.text[start:end])
            given = piece.start is not None and piece.document_id == before.id and text == after.text[start:end]
            return replace(piece, text=text, start=start if given else None, end=end if given else None)
        text = self.text(piece.text)
        touched = text != piece.text or any(self._find(d.text) for d in it.retrieved_documents)
        return replace(piece, text=text, start=None, end=None) if touched else piece

    def _json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._json(item) for item in value]
        if isinstance(value, dict):
            return {name: self._json(item) for name, item in value.items()}
        return value

    def _bytes(self, value: bytes) -> bytes:
        text = value.decode(errors="surrogateescape")
        spans = self._find(_NO_TEXT.sub(lambda match: " " * len(match.group()), text))
        return replaced(text, spans).encode(errors="surrogateescape") if spans else value


def redactor(kinds: Iterable[Kind], regions: Sequence[str] = (), patterns: Mapping[str, str] | None = None) -> Redactor:
    """One for these kinds, in these countries, with patterns by their names, which are looked for first.

    Raises:
        ValueError: a pattern is none, see `pattern`.
    """
    wanted = set(kinds)
    finders = [(f"[{name}]", pattern(expression)) for name, expression in (patterns or {}).items()]
    finders += [(kind.word, _finder(kind, regions)) for kind in Kind if kind in wanted]
    return Redactor(finders)


def _finder(kind: Kind, regions: Sequence[str]) -> Finder:
    if kind not in {Kind.NATIONAL_ID, Kind.PHONE}:
        return _BY_FORM[kind]
    from monitor.privacy.redaction.countries import national_ids, phones_in  # noqa: PLC0415  large tables, for who wants them

    if kind is Kind.NATIONAL_ID:
        return national_ids(regions)
    anywhere, within = _BY_FORM[kind], phones_in(regions)
    return lambda text: chain(anywhere(text), within(text))


def _found(finders: Sequence[tuple[str, Finder]], text: str) -> list[Found]:
    return found(text, finders)


def _stands(piece: SupportingDocument, document: Document) -> Span | None:
    """Where the piece stands in the document: where it says so, or the first time that it does."""
    if piece.start is not None and piece.end is not None and piece.document_id == document.id:
        return (piece.start, piece.end) if document.text[piece.start : piece.end] == piece.text else None
    start = document.text.find(piece.text)
    return None if start < 0 or not piece.text else (start, start + len(piece.text))
