"""Removes personal data from what arrives, before anything is stored, embedded or sent on."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from monitor.core.message import DeadLetter
from monitor.core.model import Document, Feedback, Interaction, Json, Mark, SupportingDocument
from monitor.core.text.cache import cached_by_text
from monitor.core.text.personal_data import PersonalData
from monitor.privacy.redaction import forms
from monitor.privacy.redaction.escapes import find_decoded, find_everywhere
from monitor.privacy.redaction.narrow import reading_narrow
from monitor.privacy.redaction.pattern import pattern
from monitor.privacy.redaction.sources import Sources
from monitor.privacy.redaction.spans import Finder, Finding, find_all, growth, merged, moved, replaced
from monitor.privacy.tag_digest import DigestOfTag

_BY_FORM: Mapping[PersonalData, Finder] = {
    PersonalData.KEY: forms.keys,
    PersonalData.E_MAIL: forms.e_mails,
    PersonalData.IBAN: forms.ibans,
    PersonalData.CARD: forms.cards,
    PersonalData.PHONE: forms.phones,
}
DISPLAYED = tuple((kind.placeholder, reading_narrow(find)) for kind, find in _BY_FORM.items())
_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)", re.DOTALL)
_NO_TEXT = re.compile(r"[\ud800-\udfff]")  # bytes that are not UTF-8
_REDACTED = frozenset({Mark.REDACTED})


class Redactor:
    """Replaces what `finders` find by placeholders. Caches findings by text; threads may share it.

    With `digest_of_tag`, an interaction keeps a digest of each tag in which something was replaced.
    """

    def __init__(self, finders: Sequence[tuple[str, Finder]], digest_of_tag: DigestOfTag | None = None) -> None:
        self._finders = tuple(finders)
        self._digest_of_tag = digest_of_tag
        self._find: Callable[[str], list[Finding]] = cached_by_text(partial(find_everywhere, finders=self._finders))

    def text(self, text: str) -> str:
        """`text` with placeholders; the same object if nothing is found."""
        spans = self._find(text)
        return replaced(text, spans) if spans else text

    def interaction(self, it: Interaction) -> Interaction:
        """The interaction without personal data, marked as redacted; the same object if nothing is found.

        Covers the question, the answer, the reference answer, the documents with their sources and metadata, the
        supporting documents, the values of tags, and comments; leaves ids, model and environment alone. Offsets of
        supporting documents move along with the text that they point to.
        """
        documents = tuple(map(self._document, it.retrieved_documents))
        support = it.supporting_documents
        tags = {name: self.text(value) for name, value in it.tags.items()}
        after = replace(
            it,
            question=self.text(it.question),
            answer=self.text(it.answer),
            reference_answer=None if it.reference_answer is None else self.text(it.reference_answer),
            retrieved_documents=documents,
            supporting_documents=None if support is None else self._pieces(support, it.retrieved_documents, documents),
            tags=tags,
            tag_digests=self._digests(it.tags, tags),
            feedback=self.feedback(it.feedback),
        )
        return it if after == it else replace(after, marks=it.marks | _REDACTED)

    def feedback(self, given: Sequence[Feedback]) -> tuple[Feedback, ...]:
        """Feedback without personal data in its comments."""
        return tuple([one if one.comment is None else replace(one, comment=self.text(one.comment)) for one in given])

    def dead_letter(self, letter: DeadLetter) -> DeadLetter:
        """The letter without personal data, as far as its bytes are text; the same object if nothing is found.

        `digest` is that of the original bytes, so that the message is recognised when it comes again. Data in JSON
        escapes is found, data in another encoding is not.
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

    def _digests(self, before: Mapping[str, str], after: Mapping[str, str]) -> frozenset[str]:
        """Digests of the tags whose values have changed."""
        digest = self._digest_of_tag
        if digest is None:
            return frozenset()
        return frozenset(digest(name, value) for name, value in before.items() if after[name] != value)

    def _document(self, document: Document) -> Document:
        return replace(
            document,
            text=self.text(document.text),
            source=None if document.source is None else self.text(document.source),
            metadata={name: self._json(value) for name, value in document.metadata.items()},
        )

    def _pieces(
        self, pieces: Sequence[SupportingDocument], before: Sequence[Document], after: Sequence[Document]
    ) -> tuple[SupportingDocument, ...]:
        """A piece of a document becomes what that part of the document became; any other piece is a text by itself.

        Offsets that would no longer point to the piece's text are dropped, and the piece is located again later.
        """
        findings = [self._find(document.text) for document in before]
        grown = [growth(spans) for spans in findings]
        sources = Sources(before)
        redacted = []
        for piece in pieces:
            at = sources.place(piece)
            if at is None:
                text = self.text(piece.text)
                touched = text != piece.text or any(findings)
                redacted.append(replace(piece, text=text, start=None, end=None) if touched else piece)
                continue
            number, start = at
            begin, end = moved(start, start + len(piece.text), findings[number], grown[number])
            part = after[number].text[begin:end]
            text = self.text(part)
            given = piece.start is not None and piece.document_id == before[number].id and text == part
            redacted.append(replace(piece, text=text, start=begin if given else None, end=end if given else None))
        return tuple(redacted)

    def _json(self, value: Json) -> Json:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self._json(item) for item in value]
        if isinstance(value, dict):
            return {name: self._json(item) for name, item in value.items()}
        return value

    def _bytes(self, value: bytes) -> bytes:
        """What escapes say is found where they are decoded: the letters of one must not join the word behind it."""
        text = value.decode(errors="surrogateescape")
        readable = _NO_TEXT.sub(" ", text)
        plain = _ESCAPES.sub(lambda match: " " * len(match.group()), readable)
        spans = merged([*find_all(plain, self._finders), *find_decoded(readable, self._finders)])
        return replaced(text, spans).encode(errors="surrogateescape") if spans else value


def redactor(
    kinds: Iterable[PersonalData],
    regions: Sequence[str] = (),
    patterns: Mapping[str, str] | None = None,
    *,
    digest_of_tag: DigestOfTag | None = None,
) -> Redactor:
    """A redactor for these kinds of data in these countries; `patterns`, by name, come first.

    Raises:
        ValueError: a pattern is not valid, see `pattern`.
    """
    wanted = set(kinds)
    finders = [(f"[{name}]", pattern(expression)) for name, expression in (patterns or {}).items()]
    finders += [(kind.placeholder, reading_narrow(_finder(kind, regions))) for kind in PersonalData if kind in wanted]
    return Redactor(finders, digest_of_tag)


def _finder(kind: PersonalData, regions: Sequence[str]) -> Finder:
    if kind not in {PersonalData.NATIONAL_ID, PersonalData.PHONE}:
        return _BY_FORM[kind]
    from monitor.privacy.redaction.countries import national_ids, phones_in  # noqa: PLC0415  loads large tables

    if kind is PersonalData.NATIONAL_ID:
        return national_ids(regions)
    anywhere, within = _BY_FORM[kind], phones_in(regions)
    return lambda text: chain(anywhere(text), within(text))
