"""The leak guard: what stands only in the reference reaches neither the chatbot nor the answer that is graded.

A conversation tells how fast a person without the answer gets there. If a question, or the composed answer, holds what
only the reference says, the score is the monitor's own. So texts are checked, whatever the prompts ask for:

- *facts*: a number, date or name that the reference holds and no allowed text does;
- *words*: stems of content words likewise; a question may hold one by chance, a rewritten answer none;
- *alignment*: a sentence whose tokens lie close to those of the reference, and clearly closer than to those of any
  allowed text, which finds paraphrases; only with a token encoder.

Allowed are the golden question, and what the chatbot has said and shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Final

from monitor.assess.ports import TokenEncoder
from monitor.assess.score.alignment import align
from monitor.assess.score.facts import FactIndex, facts
from monitor.core.text.sentences import sentence_spans
from monitor.core.text.stop_words import STOP_WORDS
from monitor.core.text.words import STEM, stems

WORDS_OF_QUESTION: Final = 2  # stems from which on a question leaks: people hit upon one word of the answer by chance
WORDS_OF_ANSWER: Final = 1
NEAR: Final = 0.75  # similarity to the reference from which on a sentence may be a paraphrase of it
NEARER: Final = 0.15  # by how much it must exceed the similarity to what is allowed
MOST_TOLD: Final = 20  # of what leaked
_COMMON: Final = frozenset(word[:STEM] for word in STOP_WORDS)


class LeakGuard:
    """Checks texts against the reference. Any number of threads may call."""

    def __init__(self, encoder: TokenEncoder | None = None) -> None:
        self._encoder = encoder
        self._lock = Lock()  # an encoder serves one thread at a time

    def in_question(self, text: str, *, reference: str, allowed: Sequence[str]) -> tuple[str, ...]:
        """What of the reference alone a question holds; empty if it may be asked."""
        return self._leaks(text, reference, allowed, WORDS_OF_QUESTION)

    def in_answer(self, text: str, *, reference: str, allowed: Sequence[str]) -> tuple[str, ...]:
        """What of the reference alone a composed or rewritten answer holds; empty if it may be graded."""
        return self._leaks(text, reference, allowed, WORDS_OF_ANSWER)

    def _leaks(self, text: str, reference: str, allowed: Sequence[str], most_words: int) -> tuple[str, ...]:
        found = [*_facts(text, reference, allowed)]
        words = _words(text, reference, allowed)
        if len(words) >= most_words or found:
            found += words
        if not found:
            found = self._paraphrases(text, reference, allowed)
        return tuple(dict.fromkeys(found))[:MOST_TOLD]

    def _paraphrases(self, text: str, reference: str, allowed: Sequence[str]) -> list[str]:
        if self._encoder is None:
            return []
        others = [other for other in allowed if other.strip()]
        with self._lock:
            tokens, secret, *known = self._encoder.encode([text, reference, *others])
        spans = sentence_spans(text)
        to_secret = align(tokens, spans, [secret], [sentence_spans(reference)])
        to_known = align(tokens, spans, known, [sentence_spans(other) for other in others])
        return [
            text[start:end]
            for (start, end), near, usual in zip(spans, to_secret, to_known, strict=True)
            if near is not None and near.score >= NEAR and near.score - (0.0 if usual is None else usual.score) > NEARER
        ]


def _facts(text: str, reference: str, allowed: Sequence[str]) -> list[str]:
    secret, known = FactIndex.of([reference]), FactIndex.of(allowed)
    return [fact.text for fact in facts(text) if secret.holds(fact) and not known.holds(fact)]


def _words(text: str, reference: str, allowed: Sequence[str]) -> list[str]:
    """Stems of content words that the text shares with the reference, and with nothing that is allowed."""
    secret = {*stems(reference)} - _COMMON
    secret.difference_update(*map(stems, allowed))
    return [stem for stem in dict.fromkeys(stems(text)) if stem in secret]
