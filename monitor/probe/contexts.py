"""Finds the documents that the judge of correctness sees as contexts.

Documents are ranked by question and reference together: the judge then sees what a right answer rests on, and not only
what resembles the question. That agrees better with experts (.89 against .81; Iwama and Takeuchi, 2025; metrics.md §4).
The other two, by question alone and none, are there to be compared with it.

The rank is half meaning and half words, as the hybrid rank of ChunkRAG (metrics.md §3): ½ · cosine of the embeddings
+ ½ · BM25, as a share of the highest BM25 that a document of the collection has.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from monitor.assess.chunks.relevance import COMMON, K1, B, idf_of
from monitor.assess.judge.correctness.grade import Contexts
from monitor.assess.judge.correctness.grader import LONGEST_CONTEXT
from monitor.assess.ports import Embedder
from monitor.core.errors import Retriable
from monitor.core.text.words import stems
from monitor.probe.target import ChatbotFailed, Target

MOST_FOUND: Final = 5
_Floats = NDArray[np.float64]
_Posting = tuple[NDArray[np.intp], _Floats]  # the documents that hold a word, and its BM25 in each


class Collection:
    """Documents, each embedded once; any number of threads may ask for the best. A query costs O(documents · log)."""

    def __init__(self, documents: Sequence[str], embedder: Embedder) -> None:
        """Embeds the first LONGEST_CONTEXT characters of each different document.

        Raises:
            Retriable, Fatal: as the embedder does.
        """
        texts = dict.fromkeys(document[:LONGEST_CONTEXT].strip() for document in documents)
        self._texts = [text for text in texts if text]
        self._embedder = embedder
        self._one_at_a_time = Lock()  # an embedder may take one thread only
        self._vectors = embedder.embed(self._texts) if self._texts else np.empty((0, embedder.dimensions), np.float32)
        self._postings = _postings(self._texts)

    def __len__(self) -> int:
        return len(self._texts)

    def best(self, query: str, most: int = MOST_FOUND) -> list[str]:
        """The documents with the highest ranks, the best first, equal ones in their order in the collection.

        Raises:
            Retriable, Fatal: as the embedder does.
        """
        if not self._texts or not query.strip():
            return []
        with self._one_at_a_time:
            vector = self._embedder.embed([query])[0]
        ranks = 0.5 * np.clip(self._vectors @ vector, 0.0, 1.0) + 0.5 * self._words(query)
        return [self._texts[place] for place in np.argsort(-ranks, kind="stable")[:most] if ranks[place] > 0]

    def _words(self, query: str) -> _Floats:
        found = np.zeros(len(self._texts))
        for word in sorted(set(stems(query)) - COMMON):
            if (posting := self._postings.get(word)) is not None:
                places, values = posting
                found[places] += values
        highest = found.max()
        return found / highest if highest > 0 else found


def _postings(texts: Sequence[str]) -> dict[str, _Posting]:
    counted = [Counter(stems(text)) for text in texts]
    lengths = [counts.total() for counts in counted]
    usual = max(sum(lengths) / len(lengths), 1.0) if lengths else 1.0
    by_word: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for place, (counts, length) in enumerate(zip(counted, lengths, strict=True)):
        damped = K1 * (1 - B + B * length / usual)
        for word, count in counts.items():
            by_word[word].append((place, count * (K1 + 1) / (count + damped)))
    return {
        word: (
            np.array([place for place, _ in held], np.intp),
            idf_of(len(held), len(texts)) * np.array([value for _, value in held]),
        )
        for word, held in by_word.items()
    }


class ByQuestionAndReference(Contexts):
    """The documents of a collection that rank best by question and reference together."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @override
    def find(self, question: str, reference: str) -> Sequence[str]:
        return self._collection.best(_together(question, reference))


class ByQuestion(Contexts):
    """The documents of a collection that rank best by the question alone."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection

    @override
    def find(self, question: str, reference: str) -> Sequence[str]:
        return self._collection.best(question)


class NoContexts(Contexts):
    """Finds nothing: the judge has the reference only."""

    @override
    def find(self, question: str, reference: str) -> Sequence[str]:
        return ()


class FromRetriever(Contexts):
    """The documents that the app's own retriever returns, asked through a target as in a conversation of its own."""

    def __init__(self, retriever: Target, *, conversation: str) -> None:
        """`conversation` marks what is asked as a probe's."""
        self._retriever = retriever
        self._conversation = conversation
        self._answered = False

    @override
    def find(self, question: str, reference: str) -> Sequence[str]:
        """As the port.

        Raises:
            Retriable: the retriever is out of reach, and was all the time.
            ChatbotFailed: it gives no answer to this question.
            Fatal: it refuses permanently.
        """
        try:
            told = self._retriever.ask(_together(question, reference), history=(), conversation=self._conversation)
        except ChatbotFailed as error:
            if error.reason != "out_of_reach" or self._answered:
                raise
            raise Retriable(f"the retriever at {self._retriever.place}: {error}") from None
        self._answered = True
        return list(islice((text for text in told.documents if text.strip()), MOST_FOUND))


def _together(question: str, reference: str) -> str:
    return f"{question}\n{reference}"
