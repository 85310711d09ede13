"""The leak guard: keeps what only the reference says out of the questions and of the composed answers.

A text leaks if, beside what it may say (the allowed texts: the question, what the chatbot said and showed), it

- states a number, date or name that the reference holds and no allowed text does, in any form;
- has content words that stand in the reference and in no allowed text: an answer one, a question WORDS of them or
  SHARE of all such words, since people hit upon a word by chance;
- has a sentence with a content word of its own whose support (`score/alignment.py`) by the reference is at least NEAR
  and exceeds that by all allowed texts by MARGIN, which is how a paraphrase is found. Only with a token encoder.

The constants were chosen by the cases in `tests/unit/probe/conversation/leak_cases.py`.

The time is n·log n in the length of the texts: words and facts are looked up, and of long texts only the passages that
share most words with the candidate are aligned (`score/alignment_limit.py`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from itertools import pairwise
from re import compile as pattern
from threading import Lock
from typing import Final

from monitor.assess.ports import TokenEncoder
from monitor.assess.score.alignment import align
from monitor.assess.score.alignment_limit import within_reach
from monitor.assess.score.facts import Fact, FactIndex, facts, not_held
from monitor.assess.score.facts.antonyms import stem as without_ending
from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.negation import polarity
from monitor.assess.score.facts.quantities.quantity import Quantity
from monitor.core.text.sentences import sentence_spans
from monitor.core.text.stop_words import STOP_WORDS
from monitor.core.text.words import stems

WORDS: Final = 2
SHARE: Final = 0.25
NEAR: Final = -0.3
MARGIN: Final = 0.15
MOST_LEAKS: Final = 20  # that are named
LONGEST_LEAK: Final = 100  # characters of a name or sentence

# Words that ask for a kind of answer without being one, by which a person asks on.
_ASKING: Final = listed(
    """answer question information info detail details example examples explain describe mean means exact exactly
    precise precisely specific specifically clarify confirm elaborate possible case cases kind sort type different
    thing part point reason way step steps number amount date time day days hour hours minute minutes week weeks month
    months year years price cost costs percent percentage name person place long far often
    antwort frage genau beispiel erklären bedeutet tag tage stunde stunden minute minuten woche wochen monat monate jahr
    jahre preis kosten prozent name person ort lange"""
)
_EVERYDAY: Final = frozenset(without_ending(stem) for word in STOP_WORDS | _ASKING for stem in stems(word))
# Chinese characters that carry grammar; a pair with one of them tells nothing.
_GRAMMAR: Final = frozenset("的是在了不和有就都也这那我你他她它们吗呢吧什么怎多少几请问可以能会要为何哪")
# Cyrillic and Greek letters that look like Latin ones, and words in which they stand beside Latin ones.
_LATIN: Final = str.maketrans(
    "аеорсухіјѕһԁԛԝАВЕКМНОРСТХІЈЅοαινρΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "aeopcyxijshdqwABEKMHOPCTXIJSoaivpABEZHIKMNOPTYX"
)
_MIXED: Final = pattern(r"\b(?=\w*[A-Za-z])(?=\w*[\u0370-\u03ff\u0400-\u052f])\w+")
_HIRAGANA: Final = pattern("[\u3040-\u309f]")


class LeakGuard:
    """Looks for leaks. Any number of threads may call; the encoder serves one at a time."""

    def __init__(self, encoder: TokenEncoder | None = None) -> None:
        self._encoder = encoder
        self._lock = Lock()

    def in_question(self, text: str, *, reference: str, allowed: Sequence[str]) -> tuple[str, ...]:
        """What a question says that only the reference does: facts, stems of words, or whole sentences.

        At most MOST_LEAKS, without repetition; empty if it may be asked.
        """
        return self._leaks(text, reference, allowed, least=WORDS)

    def in_answer(self, text: str, *, reference: str, allowed: Sequence[str]) -> tuple[str, ...]:
        """As `in_question`, for a composed or rewritten answer; empty if it may be graded."""
        return self._leaks(text, reference, allowed, least=1)

    def choices(self, rewritten: str, *, composed: str, reference: str) -> tuple[str, ...]:
        """What shows that `rewritten` chooses among the claims of `composed` by the reference.

        A figure, date or name that speaks against the reference and is gone, while one of its kind that the reference
        holds is kept; or "not", if only one of the two texts denies something.
        """
        rewritten, composed, reference = map(_undisguised, (rewritten, composed, reference))
        ours, right = FactIndex.of([rewritten]), FactIndex.of([reference])
        kept = {sort for fact in facts(rewritten) if right.holds(fact) for sort in _sorts(fact)}
        gone = [
            fact.text
            for fact in not_held(facts(composed), ours)
            if not right.holds(fact) and not kept.isdisjoint(_sorts(fact))
        ]
        turned = _denies(rewritten) != _denies(composed)
        return tuple(text[:LONGEST_LEAK] for text in dict.fromkeys([*gone, *["not"] * turned]))[:MOST_LEAKS]

    def _leaks(self, text: str, reference: str, allowed: Sequence[str], *, least: int) -> tuple[str, ...]:
        text, reference = _undisguised(text), _undisguised(reference)
        allowed = list(map(_undisguised, allowed))
        found = [*_facts(text, reference, allowed), *_words(text, reference, allowed, least=least)]
        if not found and self._encoder is not None and text not in allowed:
            found = self._paraphrases(self._encoder, text, reference, allowed)
        return tuple(leak[:LONGEST_LEAK] for leak in dict.fromkeys(found))[:MOST_LEAKS]

    def _paraphrases(self, encoder: TokenEncoder, text: str, reference: str, allowed: Sequence[str]) -> list[str]:
        with self._lock:
            own, theirs, *known = encoder.encode([text, reference, *allowed])
        spans = sentence_spans(text)
        passages = [sentence_spans(other) for other in (reference, *allowed)]
        secret, _ = within_reach(text, len(own), [reference], [theirs], passages[:1])
        free, _ = within_reach(text, len(own), allowed, known, passages[1:])
        to_secret = align(own, spans, secret, passages[:1])
        to_free = align(own, spans, free, passages[1:])
        usual = _allowed_pieces(allowed)
        return [
            text[start:end]
            for (start, end), near, far in zip(spans, to_secret, to_free, strict=True)
            if near is not None
            and near.support >= max(NEAR, MARGIN + (-1.0 if far is None else far.support))
            and not _pieces(text[start:end]) <= usual
        ]


def _undisguised(text: str) -> str:
    """The text as it is read: compatible forms in one (NFKC), nothing invisible, and Latin words in Latin letters."""
    visible = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != "Cf")
    return _MIXED.sub(lambda word: word[0].translate(_LATIN), visible)


def _facts(text: str, reference: str, allowed: Sequence[str]) -> list[str]:
    secret = FactIndex.of([reference])
    return [fact.text for fact in not_held(facts(text), FactIndex.of(allowed)) if secret.holds(fact)]


def _words(text: str, reference: str, allowed: Sequence[str], *, least: int) -> list[str]:
    """The stems of content words that only the reference has, if they are `least`, or SHARE of what there is."""
    secret = _pieces(reference) - _allowed_pieces(allowed)
    told = secret & _pieces(text)
    return sorted(told) if told and len(told) >= min(least, SHARE * len(secret)) else []


def _allowed_pieces(allowed: Sequence[str]) -> frozenset[str]:
    return frozenset[str]().union(*map(_pieces, allowed))


def _pieces(text: str) -> frozenset[str]:
    """The stems of content words; of scripts without spaces, and of Korean, pairs of characters that carry meaning."""
    found: set[str] = set()
    for stem in map(without_ending, stems(text)):
        if stem in _EVERYDAY or stem.isdigit():
            continue
        if _korean(stem):
            found.update(left + right for left, right in pairwise(stem))
        elif len(stem) > 1 and _GRAMMAR.isdisjoint(stem) and not _HIRAGANA.search(stem):
            found.add(stem)
    return frozenset(found)


def _korean(stem: str) -> bool:
    return "\uac00" <= stem[0] <= "\ud7a3"


def _sorts(fact: Fact) -> set[tuple[str, str]]:
    """What facts must share to answer the same question: their kind, and what a number is a number of, by its unit."""
    units = {q.unit.dimension if q.unit is not None else "" for q in fact.key if isinstance(q, Quantity)}
    return {(fact.kind, unit) for unit in units or {""}}


def _denies(text: str) -> bool:
    return any(polarity(text[start:end]) % 2 for start, end in sentence_spans(text))
