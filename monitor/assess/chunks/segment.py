"""Cuts documents into chunks of sentences that belong together (ChunkRAG, 2024; metrics.md §3).

Neighbouring sentences are joined while the cosine of their vectors is at least THETA and the chunk stays within LONGEST
characters. A heading is joined to what follows it, whatever the cosine: alone it would look like the best match of a
question about its subject, and it answers none.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.sentences import LONGEST, Vectors, sentences_of
from monitor.core.text.cache import cached_by_text
from monitor.core.text.sentences import Span
from monitor.core.text.words import stems

THETA: Final = 0.7
MOST_CHUNKS: Final = 200  # of an interaction; of more, those with the most words of the question are examined
LONGEST_HEADING: Final = 60  # characters

_SENTENCE_END = re.compile(r"""[.!?…:;,。！？｡؟][\s'"”’»)\]」』）]*$""")
_NUMBER = re.compile(r"\d+")
_WORD = re.compile(r"\w+")


class Said(NamedTuple):
    """A sentence as it is compared word for word, whatever its case and its marks, and how many stems it has."""

    text: str
    stems: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """A chunk, with what it is compared by: its sentences, their words as stems, its numbers, and a unit vector.

    Characters `[start, end)` of the document with the index `document`.
    """

    document: int
    start: int
    end: int
    sentences: tuple[Said, ...]
    words: Counter[str]
    numbers: frozenset[str]
    vector: NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sentence:
    start: int
    end: int
    said: Said
    words: tuple[str, ...]
    numbers: frozenset[str]
    heading: bool


def cut_documents(texts: Sequence[str], vectors: Sequence[Vectors]) -> list[Cut]:
    """The chunks of all documents in the order of retrieval. `vectors` are those of each text's sentences."""
    return list(chain.from_iterable(_cut(*each) for each in zip(range(len(texts)), texts, vectors, strict=True)))


def most_promising(chunks: Sequence[Cut], question: str) -> tuple[list[Cut], float]:
    """At most MOST_CHUNKS chunks, in their order, and their share of all characters."""
    if len(chunks) <= MOST_CHUNKS:
        return list(chunks), 1.0
    asked = frozenset(stems(question))
    held = [sum(word in asked for word in chunk.words) for chunk in chunks]
    kept = sorted(sorted(range(len(chunks)), key=lambda at: (-held[at], at))[:MOST_CHUNKS])
    size = sum(chunk.end - chunk.start for chunk in chunks)
    return [chunks[at] for at in kept], sum(chunks[at].end - chunks[at].start for at in kept) / size


def segment(sentences: Sequence[_Sentence], vectors: Vectors, *, theta: float = THETA) -> list[range]:
    """The numbers of the sentences of each chunk, in order; each sentence is in one."""
    if not sentences:
        return []
    rows = vectors.astype(np.float32)
    alike = (np.einsum("nd,nd->n", rows[:-1], rows[1:]) >= theta).tolist()
    first = [0]
    titled = sentences[0].heading  # whether the chunk has nothing but headings so far
    for at in range(1, len(sentences)):
        fits = sentences[at].end - sentences[first[-1]].start <= LONGEST
        starts = not (fits and (alike[at - 1] or titled))
        if starts:
            first.append(at)
        titled = sentences[at].heading and (starts or titled)
    return [range(begin, end) for begin, end in zip(first, [*first[1:], len(sentences)], strict=True)]


def _cut(document: int, text: str, vectors: Vectors) -> list[Cut]:
    sentences = _sentences(text)
    found = []
    for numbers in segment(sentences, vectors):
        own = sentences[numbers.start : numbers.stop]
        lengths = np.fromiter((s.end - s.start for s in own), np.float32, len(own))
        total: NDArray[np.float32] = lengths @ vectors[numbers.start : numbers.stop].astype(np.float32)
        norm = float(np.linalg.norm(total))
        found.append(
            Cut(
                document=document,
                start=own[0].start,
                end=own[-1].end,
                sentences=tuple(s.said for s in own),
                words=Counter(chain.from_iterable(s.words for s in own)),
                numbers=frozenset().union(*(s.numbers for s in own)),
                vector=total / norm if norm else total,
            )
        )
    return found


def _read_all(text: str) -> Sequence[_Sentence]:
    return tuple(_read(text, span) for span in sentences_of(text))


_sentences = cached_by_text(_read_all, texts=256)  # fewer than others: some 130 bytes a character of Chinese


def _read(text: str, span: Span) -> _Sentence:
    start, end = span
    piece = text[start:end]
    words = tuple(stems(piece))
    return _Sentence(
        start=start,
        end=end,
        said=Said(" ".join(_WORD.findall(piece.casefold())), len(words)),
        words=words,
        numbers=frozenset(_NUMBER.findall(piece)),
        heading=len(piece) <= LONGEST_HEADING and _SENTENCE_END.search(piece) is None,
    )
