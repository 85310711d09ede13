"""Chooses the sentences of the retrieved documents that carry the answer best, without a model call.

The choice is greedy: each step takes the sentence that carries the most of the answer's words that no sentence carries
yet. The weight of a word is its inverse document frequency among the interaction's own sentences, ln(1 + N / n), so
that common words hardly count and no background corpus is needed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from heapq import heapify, heappop, heappush
from itertools import chain
from math import fsum, log1p

from typing_extensions import override

from monitor.assess.complete.locate import locate
from monitor.assess.ports import Completer
from monitor.core.model import Document, Interaction, Match, Origin, Support, SupportingDocument
from monitor.core.text.cache import cached_by_text
from monitor.core.text.sentences import Span, sentence_spans
from monitor.core.text.words import stems

MOST_SENTENCES = 5
QUESTION_WEIGHT = 0.1  # lets a short answer ("yes, you can") find the sentence that the question is about
LEAST_GAIN = 0.1  # what each further sentence must add, as a share of the answer's total weight
Segmented = tuple[tuple[Span, frozenset[str]], ...]


class ExtractiveCompleter(Completer):
    """Completes without any service. Support that the event carries is kept, and located."""

    @override
    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        return [_complete(interaction) for interaction in interactions]


def _complete(it: Interaction) -> Support:
    if it.supporting_documents is not None:
        return Support(origin=Origin.LOGGED, documents=locate(it.supporting_documents, it.retrieved_documents))
    return Support(origin=Origin.EXTRACTIVE, documents=extract(it.question, it.answer, it.retrieved_documents))


def extract(question: str, answer: str, documents: Sequence[Document]) -> tuple[SupportingDocument, ...]:
    """Up to MOST_SENTENCES sentences of `documents` in document order, with document id and character offsets.

    At least one if there is any sentence at all: an answer that no sentence carries shows by its low similarity to the
    best one.
    """
    candidates = [(d, span, words) for d in documents for span, words in _segmented(d.text)]
    if not candidates or not answer.strip():
        return ()
    of_answer, of_question = frozenset(stems(answer)), frozenset(stems(question))
    sought = of_answer | of_question
    held = [words & sought for _, _, words in candidates]
    seen_in = Counter(chain.from_iterable(held))
    worth = {
        word: log1p(len(candidates) / n) * (1.0 if word in of_answer else QUESTION_WEIGHT)
        for word, n in seen_in.items()
    }
    least = LEAST_GAIN * fsum(worth[word] for word in of_answer if word in worth)

    # The gain of a sentence only falls as others are taken, so it is computed again only at the top of the heap. The
    # sums are exact: the order of words in a set differs between processes and must not decide between two sentences.
    gains = [(-fsum(map(worth.__getitem__, words)), place) for place, words in enumerate(held) if words]
    heapify(gains)
    chosen: list[int] = []
    carried: set[str] = set()
    while gains and len(chosen) < MOST_SENTENCES:
        place = heappop(gains)[1]
        gain = fsum(map(worth.__getitem__, held[place] - carried))
        if gains and -gains[0][0] > gain:
            heappush(gains, (-gain, place))
            continue
        if chosen and gain <= least:
            break
        chosen.append(place)
        carried |= held[place]
    return tuple(_piece(candidates[place][0], candidates[place][1]) for place in sorted(chosen or [0]))


def _piece(document: Document, span: Span) -> SupportingDocument:
    start, end = span
    return SupportingDocument(
        text=document.text[start:end], document_id=document.id, start=start, end=end, match=Match.EXACT
    )


@cached_by_text
def _segmented(text: str) -> Segmented:
    return tuple((span, frozenset(stems(text[span[0] : span[1]]))) for span in sentence_spans(text))
