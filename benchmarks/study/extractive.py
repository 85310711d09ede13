"""A generator without a language model: it answers with the best sentence of the documents, or declines.

A sentence is scored by the mean of its cosine to the question and of the share of the question's words that it
contains, with words weighted by ln(1 + (N + 1) / (n + 1)) for n of the interaction's N sentences that contain them.
Below a *floor* the generator declines, in one of eight wordings. The floor is fitted on other questions than those
reported on.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, pairwise
from typing import NamedTuple

import numpy as np

from benchmarks.study.questions import Question
from monitor.assess.ports import Embedder
from monitor.core.text.sentences import sentences
from monitor.review.evaluate.statistics import Bools, Counts, Floats, best_threshold, ratio, recall_of

NEVER = -math.inf  # a floor that nothing is below
REFUSALS = (
    "I could not find that in the documents I was given.",
    "Sorry, the material at hand does not say.",
    "There is no information on this in my sources.",
    "I am unable to answer this from the documents.",
    "Unfortunately, nothing in the documents covers your question.",
    "I don't know; the text makes no mention of it.",
    "The passages that I have do not answer this.",
    "I can't help with that: my documents are silent on it.",
)

_WORD = re.compile(r"\w+")
_STEM = 6  # first letters, the same for all inflections of a word


class Nearest(NamedTuple):
    """The best sentence, and its score."""

    sentence: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneratedAnswer:
    """A generator's answer, the support that it names, and whether it declines."""

    answer: str
    support: tuple[str, ...]
    declined: bool


def nearest_sentences(questions: Sequence[Question], embedder: Embedder) -> list[Nearest]:
    """The best sentence for each question, in order.

    Raises:
        ValueError: a question has no sentence to choose from.
    """
    candidates = [[s for text in q.documents for s in sentences(text)] for q in questions]
    if not all(candidates):
        raise ValueError("a question has no document with a sentence in it")
    asked = embedder.embed([q.text for q in questions])
    rows = embedder.embed([*chain.from_iterable(candidates)])
    starts = np.cumsum([0, *map(len, candidates)])
    found = []
    for question, vector, own, (start, end) in zip(questions, asked, candidates, pairwise(starts), strict=True):
        confidence = (rows[start:end] @ vector + shared_words(question.text, own)) / 2
        best = int(np.argmax(confidence))
        found.append(Nearest(own[best], float(confidence[best])))
    return found


def shared_words(question: str, candidates: Sequence[str]) -> Floats:
    """The weighted share of the question's words that each candidate has, shape (n,); 0 without words."""
    sought = _words(question)
    held = [_words(text) & sought for text in candidates]
    seen_in = Counter(chain.from_iterable(held))
    worth = {word: math.log1p((len(candidates) + 1) / (seen_in[word] + 1)) for word in sought}
    whole = math.fsum(worth.values())
    return np.array([math.fsum(worth[word] for word in words) / whole if whole else 0.0 for words in held])


def fit_floor(confidence: Floats, answerable: Bools) -> float:
    """The floor that best separates the two kinds of questions by balanced accuracy, whatever their shares."""

    def balanced(c: Counts) -> Floats:
        return (recall_of(c) + ratio(c.tn, c.tn + c.fp)) / 2

    best = best_threshold(-confidence, ~answerable, balanced)
    return NEVER if best is None else -best.threshold


def answer(questions: Sequence[Question], nearest: Sequence[Nearest], floor: float) -> list[GeneratedAnswer]:
    """The nearest sentence as the answer, or a refusal if its score is not above the floor.

    Either way that sentence is the support: the generator considered it when it answered or declined.
    """
    return [
        GeneratedAnswer(
            answer=refusal(question.text) if (declined := near.confidence <= floor) else near.sentence,
            support=(near.sentence,),
            declined=declined,
        )
        for question, near in zip(questions, nearest, strict=True)
    ]


def refusal(question: str) -> str:
    """One of the wordings, always the same for a question."""
    return REFUSALS[int.from_bytes(sha256(question.encode()).digest()[:4]) % len(REFUSALS)]


def _words(text: str) -> frozenset[str]:
    return frozenset(word[:_STEM] for word in _WORD.findall(text.casefold()))
