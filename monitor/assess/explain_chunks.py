"""Explains the diagnosis of a stored row: which chunks were kept, which not and why, and what a better order is. Pure.

A row of an earlier release has no diagnosis; an erased one has no chunks any more. Chunks and documents are numbered
from 1, in the order in which the retriever gave them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from monitor.core.assessment_json import diagnosis_of
from monitor.core.diagnosis import Chunk, ChunkDiagnosis, Diagnosis
from monitor.core.reason_words import DIAGNOSIS_ADVICE, DIAGNOSIS_WORDS
from monitor.core.text.plain import plural

MOST_PLACES = 12  # documents named in an order


class Standing(StrEnum):
    """What ChunkRAG's filter would have done with a chunk; `NOT_RELEVANT` comes before `REPEATS`."""

    KEPT = "kept"
    NOT_RELEVANT = "not_relevant"
    REPEATS = "repeats"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadChunk:
    """A chunk with its number and standing. `text` is None if the row no longer has it, `document_id` likewise."""

    number: int
    chunk: Chunk
    standing: Standing
    document_id: str | None
    text: str | None

    @property
    def repeated(self) -> int | None:
        """The number of the chunk that it repeats."""
        return None if self.chunk.repeats is None else self.chunk.repeats.chunk + 1

    @property
    def words(self) -> str:
        """What became of it, such as `kept, used` or `repeats chunk 2`."""
        if self.standing is Standing.REPEATS:
            said = f"repeats chunk {self.repeated}"
        else:
            said = "kept" if self.standing is Standing.KEPT else "not relevant"
        return f"{said}, used" if self.chunk.used else said


def diagnosis_named(row: Mapping[str, Any]) -> Diagnosis | None:
    """The diagnosis of a row; None for one of an earlier release, and one that only another release knows."""
    name = row.get("diagnosis")
    return Diagnosis(name) if name in set(Diagnosis) else None


def diagnosed(row: Mapping[str, Any]) -> ChunkDiagnosis | None:
    """The diagnosis with its chunks; None for a row of another release's form, and after an erasure."""
    return diagnosis_of(row.get("diagnosis"), (row["evidence"] or {}).get("retrieval"))


def read_chunks(row: Mapping[str, Any], found: ChunkDiagnosis) -> list[ReadChunk]:
    """The chunks in the order in which they were retrieved."""
    documents = row["retrieved_documents"]
    return [
        ReadChunk(
            number=number,
            chunk=chunk,
            standing=_standing(found, chunk),
            document_id=documents[chunk.document]["id"] if chunk.document < len(documents) else None,
            text=documents[chunk.document]["text"][chunk.start : chunk.end] or None
            if chunk.document < len(documents)
            else None,
        )
        for number, chunk in enumerate(found.chunks, 1)
    ]


def _standing(found: ChunkDiagnosis, chunk: Chunk) -> Standing:
    if not found.relevant(chunk):
        return Standing.NOT_RELEVANT
    return Standing.KEPT if chunk.repeats is None else Standing.REPEATS


def worth_reading_first(chunks: Sequence[ReadChunk]) -> list[ReadChunk]:
    """Those that were kept, then those that the answer uses, each by rank; then the others."""
    return sorted(chunks, key=lambda c: (c.standing is not Standing.KEPT, not c.chunk.used, c.chunk.rank))


def counted_words(chunks: Sequence[ReadChunk]) -> str:
    """How many there are of each standing: `2 kept, 9 not relevant, 3 repeat others`."""
    number = Counter(c.standing for c in chunks)
    repeat = "repeats another" if number[Standing.REPEATS] == 1 else "repeat others"
    words = {Standing.KEPT: "kept", Standing.NOT_RELEVANT: "not relevant", Standing.REPEATS: repeat}
    return ", ".join(f"{number[standing]:,} {words[standing]}" for standing in Standing if number[standing])


def summary_words(chunks: Sequence[ReadChunk]) -> str:
    """All chunks in one clause: `7 chunks: 2 kept, 5 not relevant; the answer uses 1 of them`."""
    used = sum(c.chunk.used for c in chunks)
    uses = f"uses {used:,} of them" if used else "uses none of them"
    counted = f": {counted_words(chunks)}"
    if all(c.standing is Standing.NOT_RELEVANT for c in chunks):
        counted = ", none relevant"
    return f"{plural(len(chunks), 'chunk')}{counted}; the answer {uses}"


def better_order(found: ChunkDiagnosis) -> list[int]:
    """The numbers of the documents by the best rank of their chunks; documents without text are left out."""
    best: dict[int, int] = {}
    for chunk in found.chunks:
        best[chunk.document] = min(chunk.rank, best.get(chunk.document, chunk.rank))
    return [document + 1 for document in sorted(best, key=lambda document: (best[document], document))]


def order_words(found: ChunkDiagnosis) -> str | None:
    """Both orders of the documents with Kendall's τ; None with fewer than two."""
    order = better_order(found)
    if found.tau is None or len(order) < 2:  # noqa: PLR2004  as `tau` says
        return None
    if order == sorted(order):
        return f"the retriever's order of the {len(order)} documents is the one by relevance"
    given, better = _numbers(sorted(order)), _numbers(order)
    return f"the retriever's order of the documents: {given}; by relevance: {better}; τ = {found.tau:.2f}".replace(
        "-", "−"
    )


def _numbers(order: Sequence[int]) -> str:
    return " ".join(map(str, order[:MOST_PLACES])) + (" …" if len(order) > MOST_PLACES else "")


def findings(found: ChunkDiagnosis) -> Iterator[str]:
    """What else is to be known, each in one clause; nothing where all is well."""
    if words := order_words(found):
        yield words
    if found.used_rank is not None and found.used_rank > 1:
        yield f"the first document that the answer uses came at place {found.used_rank}"
    if found.lost_in_the_middle:
        yield "lost in the middle: the best chunk stands in the middle of the text, where models overlook things"
    if found.examined < 1:
        yield f"only {found.examined:.0%} of the retrieved text was read, as it is too long"


def diagnosis_advice(row: Mapping[str, Any]) -> str | None:
    """Where the diagnosis says to look; None without one, or where nothing is at fault."""
    named = diagnosis_named(row)
    if named is None or named is Diagnosis.HEALTHY:
        return None
    found = diagnosed(row)
    advice = DIAGNOSIS_ADVICE[named]
    if named is Diagnosis.GENERATOR_IGNORED and found is not None and found.lost_in_the_middle:
        return f"{advice}; put the best documents first, since it overlooked one in the middle"
    return advice


def retrieval_findings_json(row: Mapping[str, Any]) -> dict[str, Any] | None:
    """The diagnosis in words and each chunk with its text, as JSON; None for a row of an earlier release."""
    named, found = diagnosis_named(row), diagnosed(row)
    if named is None:
        return None
    said: dict[str, Any] = {"diagnosis": named, "says": DIAGNOSIS_WORDS[named], "advice": DIAGNOSIS_ADVICE[named]}
    if found is None:
        return {**said, "order": [], "findings": [], "chunks": []}
    return {
        **said,
        "order": better_order(found),
        "findings": list(findings(found)),
        "chunks": [
            {
                "number": c.number,
                "document_id": c.document_id,
                "start": c.chunk.start,
                "end": c.chunk.end,
                "text": c.text,
                "standing": c.standing,
                "repeats": c.repeated,
                "used": c.chunk.used,
                "relevance": c.chunk.relevance,
                "rank": c.chunk.rank,
            }
            for c in read_chunks(row, found)
        ],
    }
