"""A batch of interactions as vectors: each distinct text is embedded once, and each interaction refers to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from monitor.assess.embed.sentences import Vectors
from monitor.assess.embed.tokens import Tokens
from monitor.assess.ports import Embedder, TokenEncoder
from monitor.core.model import Interaction, Support

Indices = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ragged:
    """Lists of row numbers, one per interaction, of different lengths: list i is `items[starts[i]:starts[i + 1]]`."""

    items: Indices
    starts: Indices


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedBatch:
    """Vectors of n interactions.

    `vectors` has shape (distinct texts + 1, dimensions) and unit rows; row 0 is zero and stands for an empty text.
    `lengths` are the lengths of the texts in characters, the weights of documents that are joined.
    `question`, `asked` and `answer` have shape (n,); `asked` is the question as it was asked, if it was read otherwise.
    """

    vectors: NDArray[np.float32]
    lengths: NDArray[np.float32]
    question: Indices
    asked: Indices
    answer: Indices
    retrieved: Ragged
    supporting: Ragged

    def as_asked(self) -> EmbeddedBatch:
        """The batch with the questions as they were asked."""
        return replace(self, question=self.asked)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedInteraction:
    """The tokens of one interaction's texts, and the vectors of the sentences of its question and documents.

    `documents` and `document_sentences` have an entry for each retrieved document.
    """

    question: Tokens
    answer: Tokens
    documents: tuple[Tokens, ...]
    question_sentences: Vectors
    document_sentences: tuple[Vectors, ...]


def encode_batch(interactions: Sequence[Interaction], encoder: TokenEncoder) -> list[EncodedInteraction]:
    """The tokens and sentences of all questions, answers and retrieved documents; encodes each distinct text once."""
    texts: dict[str, int] = {}
    for it in interactions:
        for text in (it.question, it.answer, *(d.text for d in it.retrieved_documents)):
            texts.setdefault(text, len(texts))
    tokens = encoder.encode(list(texts))
    sentences = encoder.sentences(list(texts))
    return [
        EncodedInteraction(
            question=tokens[texts[it.question]],
            answer=tokens[texts[it.answer]],
            documents=tuple(tokens[texts[d.text]] for d in it.retrieved_documents),
            question_sentences=sentences[texts[it.question]],
            document_sentences=tuple(sentences[texts[d.text]] for d in it.retrieved_documents),
        )
        for it in interactions
    ]


def embed_batch(
    interactions: Sequence[Interaction],
    supports: Sequence[Support],
    embedder: Embedder,
    *,
    asked: Sequence[str] | None = None,
) -> EmbeddedBatch:
    """Embeds every distinct text of the batch. A text of only white space counts as empty, an empty document as absent.

    `asked` are the questions as they were asked, one per interaction; None where all are read as they stand.

    Raises:
        Retriable, Fatal: as the embedder does.
    """
    places: dict[str, int] = {}

    def place(text: str) -> int:
        if not text or text.isspace():
            return 0
        return places.setdefault(text, len(places) + 1)

    question = [place(it.question) for it in interactions]
    as_asked = question if asked is None else [place(text) for text in asked]
    answer = [place(it.answer) for it in interactions]
    retrieved = _ragged([[place(d.text) for d in it.retrieved_documents] for it in interactions])
    supporting = _ragged([[place(d.text) for d in support.documents] for support in supports])
    texts = list(places)
    vectors = np.zeros((len(texts) + 1, embedder.dimensions), np.float32)
    if texts:
        vectors[1:] = embedder.embed(texts)
    return EmbeddedBatch(
        vectors=vectors,
        lengths=np.fromiter(map(len, ["", *texts]), np.float32, len(texts) + 1),
        question=np.array(question, np.int64),
        asked=np.array(as_asked, np.int64),
        answer=np.array(answer, np.int64),
        retrieved=retrieved,
        supporting=supporting,
    )


def _ragged(lists: Sequence[Sequence[int]]) -> Ragged:
    filled = [[row for row in rows if row] for rows in lists]
    starts = np.zeros(len(filled) + 1, np.int64)
    np.cumsum([len(rows) for rows in filled], out=starts[1:])
    return Ragged(items=np.array([row for rows in filled for row in rows], np.int64), starts=starts)
