"""Finds numbers written as words in the tokens of a text, and what belongs to them: decimals, millions, dozens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from monitor.assess.score.facts.language import Language, listed
from monitor.assess.score.facts.quantities.number_words import (
    BEGINNINGS,
    CACHED,
    JOINS,
    LONGEST,
    SpokenNumber,
    read_apart,
    read_words,
    spoken,
    with_a_half,
)
from monitor.assess.score.facts.quantities.units import unit_after
from monitor.assess.score.facts.tokens import Tokens

_TEN, _TWENTY, _HUNDRED, _THOUSAND, _MILLION = 10, 20, 100, 1_000, 1_000_000

SCALES = {
    **dict.fromkeys(("thousand", "thousands", "tausend", "mille", "mil", "mila", "duizend"), 1e3),
    **dict.fromkeys(
        listed("million millions mio millionen millón millones milhão milhões milione milioni mln miljoen"),
        1e6,
    ),
    **dict.fromkeys(
        listed(
            """billion billions mrd milliarde milliarden milliard milliards bilhão bilhões miliardo miliardi bn miljard
            mld"""
        ),
        1e9,
    ),
    **dict.fromkeys(listed("trillion trillions billionen billón billones biljoen trn"), 1e12),
    **dict.fromkeys(("lakh", "lakhs"), 1e5),
    **dict.fromkeys(("crore", "crores"), 1e7),
}
# In texts of their language only: in Dutch, "dozen" are boxes.
_DOZENS = {
    Language.ENGLISH: "dozen",
    Language.GERMAN: "dutzend",
    Language.FRENCH: "douzaine",
    Language.SPANISH: "docena",
    Language.PORTUGUESE: "dúzia",
    Language.ITALIAN: "dozzina",
    Language.DUTCH: "dozijn",
}
_DOZEN = 12.0
_TIMES = {"twice": 2.0, "zweimal": 2.0, "dreimal": 3.0}
_OWN_WORDS = frozenset((*SCALES, *_DOZENS.values(), *_TIMES))
_FIRST_LETTERS = frozenset((*BEGINNINGS, *(word[:3] for word in _OWN_WORDS)))  # the first three

# Words with another meaning in another of the languages: they are numbers only in texts of their own.
_ELSEWHERE = listed(
    """once sei due dos elf doze seize venti null nul sept neuf tre dix six uno un une um eins onze acht quince trece
    dez cent cents ten tien een otto"""
)
_AFTER_TENS = frozenset((Language.FRENCH, Language.SPANISH, Language.PORTUGUESE))  # languages that say "thirty and two"
_AFTER_HUNDREDS = frozenset(JOINS) - {Language.SPANISH}  # languages that say "two hundred and five"
_DECIMALS: Mapping[Language, frozenset[str]] = {
    Language.ENGLISH: listed("point"),
    Language.GERMAN: listed("komma"),
    Language.FRENCH: listed("virgule"),
    Language.SPANISH: listed("coma punto"),
    Language.PORTUGUESE: listed("vírgula virgula ponto"),
    Language.ITALIAN: listed("virgola punto"),
    Language.DUTCH: listed("komma"),
}
_MOST_DECIMALS = 8  # words
_LONGEST_RUN = 64  # words that the library reads at once; with "zero zero zero …", its work grows with the square
_ARTICLES = listed("a an ein eine einer einem einen un une una um uma een")
_PLURALS = listed("hundreds thousands cientos miles cents mila")  # alone they say only that something is many
_WITH_ARTICLE = frozenset(("hundred", "thousand"))  # "a hundred" is a number, "hundred" alone is not
_VAGUE = listed(
    """few several many some couple paar einige mehrere viele quelques plusieurs varios algunos unos vários alguns uns
    qualche alcuni enkele meerdere"""
)
_THANKS = listed("gracias grazie merci mercis desculpas obrigados scuse excuses disculpas")  # mille grazie
_CLOSE = frozenset((" ", "", "\u00a0"))  # allowed between the words of one number


class Numeral(NamedTuple):
    """A number read from words up to token `after`. `step` is the place value of its last word."""

    value: float
    after: int
    step: float
    ordinal: bool = False


def may_begin(word: str) -> bool:
    """Whether a number in words may begin with the lower-case word."""
    return word[:3] in _FIRST_LETTERS and len(word) <= LONGEST and _may_begin(word)


@lru_cache(maxsize=CACHED)
def _may_begin(word: str) -> bool:
    return bool(spoken(word)) or word in _OWN_WORDS or with_a_half(word) is not None


class _Run(NamedTuple):
    """Words of numbers of one language that follow each other, and their tokens."""

    language: Language
    words: list[str]
    places: list[int]


class Numerals:
    """The numbers in words of one text, asked for from its start to its end: each word is read a few times at most."""

    def __init__(self, tokens: Tokens, language: Language, *, source: bool) -> None:
        self._tokens = tokens
        self.english = language is Language.ENGLISH
        self._known = language != Language.UNKNOWN
        self._language = language if self._known else Language.ENGLISH
        self._source = source
        self._found: dict[int, Numeral] = {}
        self._until = 0  # the token up to which the text is read

    def at(self, i: int) -> Numeral | None:
        """The number whose words begin at token `i`; "a hundred" begins at "hundred"."""
        if i >= self._until:
            self._until = i + 1
            if may_begin(self._tokens.word(i)):
                self._read(i)
        return self._found.get(i)

    def _read(self, i: int) -> None:
        word = self._tokens.word(i)
        alone = self._dozen(word) or _TIMES.get(word) or with_a_half(word)
        if alone is None and word in SCALES and not spoken(word) and self._after_article(i):
            alone = SCALES[word]
        if alone is not None:
            self._found[i] = self._scaled(Numeral(alone, i + 1, step_of(alone)))
        elif run := self._run(i):
            self._until = run.places[-1] + 1
            for start, numeral in self._numerals(run):
                self._found[start] = numeral

    def _run(self, i: int) -> _Run | None:
        """The longest run of number words from token `i` on, in the text's language if the first word belongs to it."""
        word = self._tokens.word(i)
        languages = spoken(word)
        if self._known and self._language in languages:
            return self._run_in(self._language, i)
        own_first = sorted(languages, key=lambda language: language != self._language)
        runs = [self._run_in(language, i) for language in own_first]
        runs = [run for run in runs if self._is_foreign_number(run, word)]
        return max(runs, key=lambda run: run.places[-1], default=None)

    def _is_foreign_number(self, run: _Run, word: str) -> bool:
        """Whether words of another language are numbers here: not those that mean something else in the text's own."""
        if run.language == self._language:
            return True
        if spoken(word)[run.language].ordinal:
            return self._source and not self._known
        if word not in _ELSEWHERE:
            return True
        return (self._source or not self._known) and bool(unit_after(self._tokens, run.places[-1] + 1)[0])

    def _run_in(self, language: Language, i: int) -> _Run:
        tokens = self._tokens
        run = _Run(language, [tokens.word(i)], [i])
        while len(run.words) < _LONGEST_RUN and (at := self._next(run.places[-1])) is not None:
            words, places = [tokens.word(at)], [at]
            if language not in spoken(words[0]):
                value = spoken(run.words[-1])[language].value
                following = self._next(at) if words[0] == JOINS[language] and _joins(language, value) else None
                if following is None or language not in spoken(tokens.word(following)):
                    break
                words.append(tokens.word(following))
                places.append(following)
            if self._belongs_to_the_next(language, places[-1]):
                break
            run.words.extend(words)
            run.places.extend(places)
        return run

    def _belongs_to_the_next(self, language: Language, i: int) -> bool:
        """Whether the word is part of what is counted, or of the next number: third-party libraries, une centaine."""
        tokens = self._tokens
        word = tokens.word(i)
        if language == Language.FRENCH:
            return word == "une" and tokens.word(i + 1).endswith("aine")
        compound = language == Language.ENGLISH and not tokens.glued(i) and tokens.hyphen(i + 1)
        return compound and spoken(word)[language].ordinal

    def _next(self, i: int) -> int | None:
        """The token of the word right after token `i`, also after a hyphen."""
        tokens = self._tokens
        at = i + 1
        if tokens.hyphen(at):
            at += 1
        return at if tokens.kind(at) == "word" and tokens.gap(at) in _CLOSE else None

    def _numerals(self, run: _Run) -> Iterator[tuple[int, Numeral]]:
        """The numbers that the run says, with the tokens at which they begin."""
        alone = len(run.words) == 1
        read = [spoken(run.words[0])[run.language]] if alone else read_apart(run.words, run.language)
        at = 0
        while at < len(read):
            number = read[at]
            start, after = run.places[number.start], run.places[number.end - 1] + 1
            value, step = number.value, step_of(number.value)
            at += 1
            if at < len(read) and _is_scale(read[at], number):  # "um mil"
                value, step = value * read[at].value, read[at].value
                after = run.places[read[at].end - 1] + 1
                at += 1
            numeral = Numeral(value, after, step, number.ordinal)
            if not number.ordinal:
                if not self._counts(start, numeral):
                    continue
                if at == len(read):
                    numeral = self._scaled(self._with_decimals(numeral, number.digits, run.language))
            yield start, numeral

    def _counts(self, start: int, numeral: Numeral) -> bool:
        """Whether the words are a number: not "hundreds", "some hundred" or "mille grazie", but "a hundred"."""
        tokens = self._tokens
        word = tokens.word(start)
        worth = max(first.value for first in spoken(word).values())
        if word in _PLURALS:
            return False
        if word in _WITH_ARTICLE or worth >= _MILLION:
            return self._after_article(start)
        if worth >= _HUNDRED and tokens.word(start - 1) in _VAGUE:
            return False
        return not (numeral.value == _THOUSAND and tokens.word(numeral.after) in _THANKS)

    def _after_article(self, i: int) -> bool:
        return self._tokens.word(i - 1) in _ARTICLES and self._tokens.gap(i) in _CLOSE

    def _with_decimals(self, numeral: Numeral, digits: str, language: Language) -> Numeral:
        """The number with its decimals in words ("two point five"), up to a "thousand" or "million" after them."""
        tokens = self._tokens
        if tokens.word(numeral.after) not in _DECIMALS[language] or tokens.gap(numeral.after) != " ":
            return numeral
        words: list[str] = []
        at = numeral.after
        while len(words) < _MOST_DECIMALS and (following := self._next(at)) is not None:
            said = spoken(tokens.word(following)).get(language)
            if said is None or said.ordinal or said.value >= _THOUSAND:
                break
            words.append(tokens.word(following))
            at = following
        decimals = "".join(number.digits for number in read_words(words, language))
        if not decimals:
            return numeral
        self._until = max(self._until, at + 1)
        return Numeral(float(f"{digits}.{decimals}"), at + 1, 10.0 ** -len(decimals))

    def _scaled(self, numeral: Numeral) -> Numeral:
        """The number times the "trillion", "million" or "dozen" after it."""
        value, after, step, ordinal = numeral
        while self._tokens.gap(after) in _CLOSE and (by := self._factor(after)):
            value, step, after = value * by, step * by, after + 1
        self._until = max(self._until, after)
        return Numeral(value, after, step, ordinal)

    def _factor(self, i: int) -> float | None:
        word = self._tokens.word(i)
        return SCALES.get(word) or self._dozen(word)

    def _dozen(self, word: str) -> float | None:
        return _DOZEN if word == _DOZENS[self._language] else None


def _joins(language: Language, before: float) -> bool:
    """Whether the language's "and" joins a number to one whose last word is worth `before`."""
    if before >= _HUNDRED:
        return language in _AFTER_HUNDREDS and before % _HUNDRED == 0
    return language in _AFTER_TENS and before >= _TWENTY and before % _TEN == 0


def _is_scale(number: SpokenNumber, before: SpokenNumber) -> bool:
    """Whether a "thousand" or "million" that the library reads apart belongs to the number before it."""
    scale = number.value in {_THOUSAND, _MILLION} and not number.ordinal and number.end - number.start == 1
    return scale and number.start == before.end and not before.ordinal and before.value < _THOUSAND


def step_of(value: float) -> float:
    """The place value of the last word of a number in words: a million for "two million"."""
    return next((scale for scale in (1e12, 1e9, 1e6, 1e3, 1.0) if value and value % scale == 0), 0.5 if value else 1.0)
