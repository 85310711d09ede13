"""Recognises words of a refusal that a document says itself: "The report does not contain personal data".

A refusal tells what the documents do not hold, so no document says it; a sentence that one of them does say answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from monitor.assess.classify.clauses import UNSPACED_WORD
from monitor.assess.classify.lexicon import UNSPACED, fold
from monitor.assess.classify.lexicon.wording import Wording
from monitor.assess.score.facts.language import COMMON
from monitor.core.text.sentences import sentence_spans

MOST = 12  # refusals of an answer that are looked for; limits the time
LEAST_PIECES = 3  # of a refusal, without which it says too little to be recognised
LEAST_WORD = 4  # letters of a word that must be in the document's sentence
STEM = 5  # letters by which words are compared
SHARE_OF_PAIRS = 0.8  # of the pairs of characters that must be there, in scripts without spaces; of words: all

_FUNCTION = COMMON | {"does", "been", "were", "would", "could", "these", "there", "they", "their"}


def repeated(refusals: Sequence[tuple[str, Wording]], documents: Sequence[str]) -> list[bool]:
    """Of each refusal, whether a sentence of a document denies the same in the same words, and not as a condition.

    Args:
        refusals: the refusing clauses without their leads, folded, and their wordings.
        documents: the retrieved documents as they are.
    """
    folded = [fold(document) for document in documents]
    found = [_is_said(said, wording, documents, folded) for said, wording in refusals[:MOST]]
    return found + [False] * (len(refusals) - len(found))


def _is_said(said: str, wording: Wording, documents: Sequence[str], folded: Sequence[str]) -> bool:
    paired = wording in UNSPACED
    pieces = _pairs(said) if paired else _stems(said, wording)
    if len(pieces) < LEAST_PIECES:
        return False
    least = len(pieces) * (SHARE_OF_PAIRS if paired else 1.0)
    for document, text in zip(documents, folded, strict=True):
        if sum(piece.strip() in text for piece in pieces) < least:
            continue
        for sentence in _sentences(document, text):
            if paired:
                held = "".join(c for c in sentence if c.isalnum())
                denies = any(cue in sentence for cue in wording.cues - wording.limit_cues)
            else:
                words = UNSPACED_WORD.findall(sentence)
                held = f" {' '.join(words)}"
                denies = not wording.cues.isdisjoint(words)
            if denies and sum(piece in held for piece in pieces) >= least and not wording.fact.search(sentence):
                return True
    return False


def _sentences(document: str, folded: str) -> Iterator[str]:
    return (folded[start:end] for start, end in sentence_spans(document))


def _stems(text: str, wording: Wording) -> frozenset[str]:
    """The beginnings of the longer words, each with the space before it."""
    words = {word for word in UNSPACED_WORD.findall(text) if len(word) >= LEAST_WORD}
    return frozenset(f" {word[:STEM]}" for word in words - _FUNCTION - wording.cues - wording.limit_cues)


def _pairs(text: str) -> frozenset[str]:
    letters = [c for c in text if c.isalnum()]
    return frozenset(a + b for a, b in pairwise(letters))
