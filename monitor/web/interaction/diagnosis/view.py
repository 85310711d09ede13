"""Prepares the diagnosis of an interaction for its page: each document cut into its chunks, noise folded. Pure.

Offsets may lie beyond a text, or overlap: they were stored with the text, but a text can be erased or replaced. What
cutting would reveal of masked data is hidden, as in `monitor.web.interaction.view`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from monitor.assess.explain import advice
from monitor.assess.explain_chunks import (
    ReadChunk,
    Standing,
    better_order,
    counted_words,
    diagnosed,
    diagnosis_named,
    findings,
    read_chunks,
    summary_words,
)
from monitor.core.diagnosis import ChunkDiagnosis, Diagnosis
from monitor.core.reason_words import DIAGNOSIS_WORDS, diagnosis_name
from monitor.web.base.escape import escape_invisible
from monitor.web.interaction.view import TextPiece, cut_at_marks, masker_of_parts, passage_marks

Row = Mapping[str, Any]
COLOURS: Mapping[Diagnosis, str] = {
    Diagnosis.RETRIEVAL_MISSED: "bad",
    Diagnosis.RETRIEVAL_NOISY: "warn",
    Diagnosis.RETRIEVAL_REDUNDANT: "warn",
    Diagnosis.GENERATOR_IGNORED: "bad",
    Diagnosis.GENERATOR_INVENTED: "bad",
    Diagnosis.HEALTHY: "good",
}
_COLOURS = {Standing.KEPT: "good", Standing.NOT_RELEVANT: "", Standing.REPEATS: "warn"}
FOLDED = 3  # more chunks than these in a row that were not kept are folded
MOST_OPEN = 20  # chunks of a document that are not folded
FIRST = 3  # documents that are opened for the chunk nearest to the question alone
MOST_RANKED = 40  # chunks with their figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkView:
    """A chunk with its text; `read` is None for a stretch that was not read."""

    pieces: Sequence[TextPiece]
    read: ReadChunk | None = None

    @property
    def colour(self) -> str:
        return "" if self.read is None else _COLOURS[self.read.standing]

    @property
    def kept(self) -> bool:
        return self.read is not None and self.read.standing is Standing.KEPT

    @property
    def chosen(self) -> bool:
        return self.kept or (self.read is not None and self.read.chunk.used)

    @property
    def shown(self) -> bool:
        """Whether a reader looks for it: it was kept, is used, or comes nearest to the question."""
        return self.chosen or (self.read is not None and self.read.chunk.rank == 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkBlock:
    """Chunks in a row; folded under `summary` if it is not empty."""

    chunks: Sequence[ChunkView]
    summary: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosedDocument:
    """A retrieved document in blocks of chunks, and its place by relevance, None if it has no text."""

    blocks: Sequence[ChunkBlock]
    summary: str
    place: int | None
    worth_opening: bool
    kept: bool  # whether any of its chunks is


@dataclass(frozen=True, slots=True, kw_only=True)
class DiagnosisView:
    """The diagnosis in words; `documents` are in the retriever's order, and empty after an erasure."""

    name: str
    colour: str
    words: str
    advice: str
    summary: str = ""
    threshold: float = 0.0
    by: str = ""
    findings: Sequence[str] = ()
    documents: Sequence[DiagnosedDocument] = ()
    ranked: Sequence[ReadChunk] = ()
    more_ranked: int = 0


def diagnosis_view(row: Row, *, clear: bool) -> DiagnosisView | None:
    """The diagnosis of a row of `AssessmentQueries.with_assessments`; None for a row of an earlier release."""
    named, found = diagnosis_named(row), diagnosed(row)
    if named is None:
        return None
    its = DiagnosisView(
        name=diagnosis_name(named), colour=COLOURS[named], words=DIAGNOSIS_WORDS[named], advice=advice(row)
    )
    if found is None:
        return its
    chunks = read_chunks(row, found)
    ranked = sorted(chunks, key=lambda c: c.chunk.rank)
    return replace(
        its,
        summary=summary_words(chunks),
        threshold=found.threshold,
        by=escape_invisible(found.by),
        findings=list(findings(found)),
        documents=list(_documents(row, found, chunks, clear=clear)),
        ranked=ranked[:MOST_RANKED],
        more_ranked=max(len(ranked) - MOST_RANKED, 0),
    )


def _documents(
    row: Row, found: ChunkDiagnosis, chunks: Sequence[ReadChunk], *, clear: bool
) -> Iterator[DiagnosedDocument]:
    places = {number: place for place, number in enumerate(better_order(found), 1)}
    of_document: dict[int, list[ReadChunk]] = {}
    for c in chunks:
        of_document.setdefault(c.chunk.document, []).append(c)
    marks = passage_marks(row)
    for number, document in enumerate(row["retrieved_documents"]):
        its = of_document.get(number, [])
        views = _chunk_views(document["text"], its, marks.get(number, ()), clear=clear)
        yield DiagnosedDocument(
            blocks=list(_blocks(views)),
            summary=counted_words(its),
            place=places.get(number + 1),
            worth_opening=any(view.chosen or (number < FIRST and view.shown) for view in views),
            kept=any(view.kept for view in views),
        )


def _chunk_views(
    text: str, chunks: Sequence[ReadChunk], marks: Sequence[tuple[int, int, str]], *, clear: bool
) -> list[ChunkView]:
    """The text from its start to its end, cut at the chunks."""
    cuts: list[tuple[int, int, ReadChunk | None]] = []
    at = 0
    for c in sorted(chunks, key=lambda c: (c.chunk.start, c.number)):
        start, end = (min(max(place, at), len(text)) for place in (c.chunk.start, c.chunk.end))
        cuts += [(at, start, None)] if text[at:start].strip() else []
        cuts += [(start, end, c)] if start < end else []
        at = max(at, end)
    cuts += [(at, len(text), None)] if text[at:].strip() else []
    conceal = masker_of_parts(text, [(start, end) for start, end, _ in cuts], clear=clear)
    return [
        ChunkView(
            pieces=cut_at_marks(
                text[start:end],
                [(max(a, start) - start, min(b, end) - start, mark) for a, b, mark in marks if a < end and b > start],
                conceal,
            ),
            read=c,
        )
        for start, end, c in cuts
    ]


def _blocks(views: Sequence[ChunkView]) -> Iterator[ChunkBlock]:
    at = opened = 0
    for shown, run in groupby(views, key=lambda view: view.shown):
        chunks = list(run)
        if not shown and len(chunks) > FOLDED:
            yield ChunkBlock(chunks=chunks, summary=_folded_words(chunks))
        else:
            chunks = chunks[: MOST_OPEN - opened]
            opened += len(chunks)
            yield ChunkBlock(chunks=chunks)
        at += len(chunks)
        if opened == MOST_OPEN:
            break
    if rest := views[at:]:
        yield ChunkBlock(chunks=rest, summary=_folded_words(rest))


def _folded_words(views: Sequence[ChunkView]) -> str:
    read = [view.read for view in views if view.read is not None]
    if not read:
        return "Text that was not read"
    first, last = read[0].number, read[-1].number
    name = f"Chunk {first}" if first == last else f"Chunks {first} to {last}"
    return f"{name}: {counted_words(read)}"
