"""Recognises whether a question leans on earlier turns, by its words alone.

A question leans where something in it stands for what only an earlier turn can name:

- it points ("this plan", "does that", "in that case", „diese Frist“, 那个, それ);
- it has a pronoun, and nothing before the pronoun in the question can be what it stands for: no noun, as far as the
  words around it tell. A pronoun right after the verb of a question with a fronted object ("what colours does *it* come
  in") is its subject, so that the object cannot be what it stands for;
- it begins as a continuation ("what about …", "and …" with a fragment, „und wie ist es mit …“);
- it is a fragment that begins with a preposition ("in winter?");
- it names nothing at all ("why?", "how much?").

It rarely touches standing questions, because each of these needs more than the word: "it takes an hour to …", "these
days", "those who …", "he or she" and the formal „Sie“ are set aside first, a noun before the pronoun is enough for the
question to be left alone, and so are many words that name something. What is lost by that caution is a follow-up now
and then, which is then compared as it stands, as every question was before. `docs/quality/follow-ups.md` has the
figures.
"""

from __future__ import annotations

import re
from typing import TypeAlias

from monitor.assess.classify.lexicon import fold, unspaced
from monitor.assess.conversation.lexicon import COURTESY, SPACED, UNSPACED
from monitor.assess.conversation.lexicon.leaning_words import LeaningPieces, LeaningWords

Cue: TypeAlias = tuple[int, int]
LONGEST = 400  # characters; a longer question says itself what it is about
SUBJECTLESS: Cue = (0, 0)
_FRAGMENT = 6  # words
_OPENED = 9  # words of a question that begins with "what about"
_VAGUE = 2  # words that name something beside a vague pronoun
_SECOND = 2
_NAMED_ENOUGH = 7  # naming words by which a question can be compared with documents, whatever it leans on besides
_STATEMENT = 3  # naming words of a text that does not ask: a title, a line of a song
# After one of these no noun is part of what is asked for: "when the dog barks, does it …" begins with a clause.
_ADVERBIAL = frozenset(
    [
        "when",
        "where",
        "why",
        "wann",
        "wo",
        "wohin",
        "warum",
        "weshalb",
        "wieso",
        "wenn",
        "quand",
        "où",
        "pourquoi",
        "cuándo",
        "cuando",
        "dónde",
        "donde",
        "quando",
        "onde",
        "dove",
        "perché",
    ]
)
_CLAUSE = re.compile(r"[.,;:?!–—]")
_WORD = re.compile(r"[^\W_]+")
_LEAD = re.compile(r"[\W_]*")
_TAIL = "?!.…¿？！。 \t\n\"')"
_LANGUAGES = tuple((language, language.known) for language in SPACED)
_KANA, _HANGUL = re.compile(r"[\u3040-\u30ff]"), re.compile(r"[\uac00-\ud7a3]")


def cue_of(question: str) -> Cue | None:
    """The offsets `[start, end)` of the words by which the question leans on earlier turns; None if it stands alone.

    An empty cue stands for a question that names nothing, or is a fragment. The time grows with the question's length
    up to `LONGEST` characters, and not beyond.
    """
    if not question.strip() or len(question) > LONGEST:
        return None
    folded = fold(question)
    if unspaced(folded):
        return _cue_in_pieces(folded)
    words = [match.span() for match in _WORD.finditer(folded)]
    if not words:
        return None
    texts = [folded[start:end] for start, end in words]
    counts = [sum(text in known for text in texts) for _, known in _LANGUAGES]
    if not (most := max(counts)):
        return None
    for (language, _), count in zip(_LANGUAGES, counts, strict=True):
        if count == most and (cue := _Spaced(language, question, folded, words, texts).cue()) is not None:
            return cue
    return None


def names_something(question: str) -> bool:
    """Whether the question has a word that says what it is about: "thanks" and "why?" have none to lend."""
    folded = fold(question[:LONGEST])
    if unspaced(folded):
        language = _unspaced_language(folded)
        return language.whole.fullmatch(folded.strip(_TAIL)) is None
    texts = [match.group() for match in _WORD.finditer(folded) if match.group() not in COURTESY]
    return any(
        all(text not in known and text not in language.generic for language, known in _LANGUAGES) for text in texts
    )


def _unspaced_language(folded: str) -> LeaningPieces:
    chinese, japanese, korean = UNSPACED
    return japanese if _KANA.search(folded) else korean if _HANGUL.search(folded) else chinese


def _cue_in_pieces(folded: str) -> Cue | None:
    language = _unspaced_language(folded)
    if language.whole.fullmatch(folded.strip(_TAIL)):
        return SUBJECTLESS
    kept = language.setting_aside.sub(lambda match: "\0" * len(match.group()), folded)
    match = language.leaning.search(kept)
    return None if match is None else match.span()


class _Spaced:
    """One question in one language with spaces between its words."""

    def __init__(self, language: LeaningWords, question: str, folded: str, words: list[Cue], texts: list[str]) -> None:
        self._is = language
        self._question = question
        self._aside = [match.span() for match in language.setting_aside.finditer(folded)]
        self._folded = folded
        self._words = words
        self._texts = texts
        self._naming = [self._names(i) for i in range(len(texts))]

    def cue(self) -> Cue | None:
        naming = sum(self._naming)
        if naming >= _NAMED_ENOUGH or (naming >= _STATEMENT and not self._is_a_question()):
            return None
        named = self._pointing() or self._standing_for() or self._pronoun()
        return self._opened() or named or self._nothing_named() or self._fragment()

    def _is_a_question(self) -> bool:
        first = self._texts[0]
        asks = first in self._is.asking | self._is.auxiliary | self._is.generic or self._is.joining.match(self._folded)
        return bool(asks) or "?" in self._folded or any(text in self._is.speaker for text in self._texts)

    def _names(self, i: int) -> bool:
        """Whether word i is one that names something."""
        text = self._texts[i]
        known = text in self._is.known or text in self._is.generic or text in self._is.address
        return not known and (len(text) > 1 or text.isdigit())

    def _set_aside(self, span: Cue) -> bool:
        return any(start < span[1] and span[0] < end for start, end in self._aside)

    def _opened(self) -> Cue | None:
        """It begins as a continuation, or with a conjunction before a fragment."""
        start = _LEAD.match(self._folded).end()  # type: ignore[union-attr]  # it matches anything
        if (match := self._is.opener.match(self._folded, start)) and len(self._texts) <= _OPENED:
            rest = [i for i, (first, _) in enumerate(self._words) if first >= match.end()]
            if not any(self._texts[i] in self._is.asking for i in rest):
                return match.span()
        if match := self._is.joining.match(self._folded, start):
            rest = [i for i, (first, _) in enumerate(self._words) if first >= match.end()]
            if 0 < len(rest) <= _FRAGMENT and not self._asks(rest):
                return match.span()
        return None

    def _asks(self, words: list[int]) -> bool:
        return any(self._texts[i] in self._is.asking or self._texts[i] in self._is.auxiliary for i in words)

    def _nothing_named(self) -> Cue | None:
        bare = self._folded.strip(_TAIL)
        if self._is.whole.fullmatch(bare):
            return SUBJECTLESS
        if any(self._naming) or not any(text in self._is.asking | self._is.auxiliary for text in self._texts):
            return None
        if self._aside or any(text in self._is.address for text in self._texts):
            return None
        return SUBJECTLESS

    def _pointing(self) -> Cue | None:
        for match in self._is.pointing.finditer(self._folded):
            start, end = match.span()
            following = self._question[end:].lstrip()
            named = following[:1].isupper() or following[:4].isdecimal()  # "this Italian painter" tells who
            if not (named or self._set_aside((start, end)) or self._named_in_earlier_clause(start)):
                return start, end
        return None

    def _named_in_earlier_clause(self, place: int) -> bool:
        """Whether a word that names something stands before the clause in which `place` is."""
        before = [i for i, (start, _) in enumerate(self._words) if start < place]
        marks = [match.end() for match in _CLAUSE.finditer(self._folded, 0, place)]
        marks += [self._words[i][0] for i in before if i and self._texts[i] in self._is.linking]
        first = max(marks, default=0)
        return any(self._naming[i] and self._words[i][0] < first for i in before)

    def _standing_for(self) -> Cue | None:
        for match in self._is.standing_for.finditer(self._folded):
            named = any(n and start < match.start() for n, (start, _) in zip(self._naming, self._words, strict=True))
            if not (named or self._set_aside(match.span())):
                return match.span()
        return None

    def _pronoun(self) -> Cue | None:
        language = self._is
        fronted = self._fronted_subject()
        for i, text in enumerate(self._texts):
            possessive = text in language.possessives
            if not (possessive or text in language.pronouns) or self._set_aside(self._words[i]):
                continue
            if self._question[self._words[i][0]].isupper() and i:  # formal, or a name
                continue
            if (text in language.vague and sum(self._naming) > _VAGUE) or self._of_the_one_asked_for(i):
                continue
            if i == fronted or self._ends_with(i) or not (any(self._naming[:i]) if possessive else self._antecedent(i)):
                return None if self._named_later(i) else self._words[i]
        return None

    def _ends_with(self, i: int) -> bool:
        """Whether the question is one clause that ends with a preposition and the pronoun: "how do I pay for it"."""
        texts = self._texts
        if i + 1 < len(texts) or i < _SECOND or texts[i - 1] not in self._is.before or texts[0] in self._is.before:
            return False
        whole = not any(text in self._is.linking or text in self._is.relative for text in texts)
        return whole and self._asks([0]) and not _CLAUSE.search(self._folded.rstrip(_TAIL))

    def _of_the_one_asked_for(self, i: int) -> bool:
        """Whether the pronoun stands for the interrogative: "who said *he* would come"."""
        texts = self._texts
        if i != _SECOND or texts[0] not in self._is.asking or texts[1] in self._is.known or i + 1 == len(texts):
            return False
        return self._naming[i + 1] or texts[i + 1] in self._is.auxiliary

    def _antecedent(self, i: int) -> bool:
        """Whether a word before word i may be a noun: a naming word that is not where a verb stands."""
        return any(self._naming[j] and not self._verb(j) for j in range(i))

    def _verb(self, j: int) -> bool:
        """Whether word j stands where a verb does: after "I" or "to", or right after an interrogative."""
        if j == 0:
            return True
        before = self._texts[j - 1]
        return before in self._is.speaker or before in self._is.asking

    def _fronted_subject(self) -> int | None:
        """The word right after the first auxiliary of a question that begins with an interrogative."""
        texts = self._texts
        head = next((i for i, text in enumerate(texts[:2]) if text in self._is.asking), None)
        if head is None:
            return None
        for i in range(head + 1, len(texts) - 1):
            if texts[i] in self._is.auxiliary and texts[i + 1] not in self._is.auxiliary:
                return i + 1
            clause = texts[i] in self._is.linking | self._is.asking or (self._naming[i] and texts[head] in _ADVERBIAL)
            if clause or "," in self._folded[self._words[head][0] : self._words[i][1]]:
                return None
        return None

    def _named_later(self, i: int) -> bool:
        """Whether the pronoun stands in a clause before the one that names what it stands for: "after it closed, …"."""
        start = self._words[i][0]
        comma = self._folded.find(",", start)
        if comma < 0 or self._texts[0] in self._is.asking | self._is.auxiliary:
            return False
        return any(naming for naming, (first, _) in zip(self._naming, self._words, strict=True) if first > comma)

    def _fragment(self) -> Cue | None:
        few = len(self._texts) <= _FRAGMENT and self._folded.rstrip().endswith("?")
        if not few or self._texts[0] not in self._is.before or self._asks(list(range(len(self._texts)))):
            return None
        return SUBJECTLESS
