"""Extracts the facts of a text in order: the readers of dates, numbers and names take turns over its tokens."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from monitor.assess.score.facts import names
from monitor.assess.score.facts.calendar import dates, ranges
from monitor.assess.score.facts.calendar.durations import as_length, as_time
from monitor.assess.score.facts.fact import Fact, FactKind
from monitor.assess.score.facts.language import Language, language_of, listed
from monitor.assess.score.facts.latex import Plain
from monitor.assess.score.facts.phones import LEAST, phone
from monitor.assess.score.facts.quantities import numbers, worded
from monitor.assess.score.facts.quantities.compound import compound
from monitor.assess.score.facts.quantities.number_words import CACHED
from monitor.assess.score.facts.quantities.numerals import Numerals, may_begin
from monitor.assess.score.facts.quantities.proportions import proportion
from monitor.assess.score.facts.quantities.quantity import Listed, Quantity, Readings, is_negative
from monitor.assess.score.facts.quantities.units import SYMBOL_OF_DEGREES, Unit, unit_after, unit_before
from monitor.assess.score.facts.tokens import FIGURES, Tokens
from monitor.core.text.markup import blank_markup

_BEGINNINGS = dates.STARTS | worded.STARTS
# In an answer, numbers only where more of the measure follows: "an hour and 15 minutes", but not "a month".
_ARTICLES = listed("a an ein eine einer un une una um uma een")
_YEAR_SIGNS = frozenset("年년")
_COUNTED = frozenset(("million", "billion", "thousand", "people", "users"))
_LONGEST_WORD = 32  # letters of a word about which an answer is cached
_LONGEST_IDENTIFIER = 100
_FRACTION = 3  # tokens of one in figures
_LONGEST_SUFFIX = 3  # capital letters after figures that make a name; longer ones are an unknown unit
# Letters of an unknown unit: one may stand for a known unit (20t), longer ones are a word (30tägig).
_LEAST_UNIT, _LONGEST_UNIT = 2, 4


def facts(text: str) -> tuple[Fact, ...]:
    """Every number with its unit, range end, date, time and name that `text` states, in order, not overlapping.

    Citation marks, list numbers, addresses and code state nothing. One pass: linear in the text's length.
    """
    return tuple(read(text, source=False))


def read(text: str, *, source: bool) -> Iterator[Fact]:
    """The facts of `text`. Those of a source are read generously, also from its code, but without plain names."""
    plain = Plain(blank_markup(text, code=source))
    tokens = Tokens(plain.text)
    reader = _Reader(tokens, language_of(text), source=source)
    begins_no_fact = _begins_none_of_source if source else _begins_none
    after = done = 0
    for i, raw in enumerate(tokens):
        if i < after or (len(raw) <= _LONGEST_WORD and begins_no_fact(raw)):  # nine words in ten
            continue
        found = reader.at(i)
        if found is None:
            continue
        after = found.after
        begin, end = plain.span(tokens.start(i), tokens.end(after - 1))
        start, done = max(begin, done), max(end, done)  # two figures may be written as one form of LaTeX
        if start < end:
            yield Fact(kind=found.kind, start=start, end=end, text=text[start:end], key=found.key)


@lru_cache(maxsize=CACHED)
def _begins_none_of_source(word: str) -> bool:
    """Whether no fact of a source begins with the word, since it has no capital and is no word of a number or date."""
    return word.islower() and word.isalpha() and word not in _BEGINNINGS and not may_begin(word)


@lru_cache(maxsize=CACHED)
def _begins_none(word: str) -> bool:
    """Whether no fact of an answer begins with the word."""
    return _begins_none_of_source(word)


def _figures_apart(tokens: Tokens, i: int, after: int) -> tuple[Listed, ...]:
    """The two figures of "3/4", which may also be 3 and 4."""
    if after != i + _FRACTION or tokens.raw(i + 1) != "/":
        return ()
    figures = (tokens.raw(i), tokens.raw(i + 2))
    return (Listed(tuple((Quantity(number=float(figure), step=1.0),) for figure in figures)),)


class _Found(NamedTuple):
    kind: FactKind
    key: tuple[Hashable, ...]
    after: int


class _Reader:
    def __init__(self, tokens: Tokens, language: Language, *, source: bool) -> None:
        self._tokens = tokens
        self._language = language
        self._source = source
        self._numerals = Numerals(tokens, language, source=source)
        self._headings: tuple[int, bool] = (-1, False)
        self._defined: set[str] = set()  # acronyms that the text explains itself

    def at(self, i: int) -> _Found | None:
        """The fact that begins at token `i`."""
        kind = self._tokens.kind(i)
        if kind == "word":
            return self._word(i)
        if not self._source and (number := self._phone(i)):
            return number
        if kind == "sign":
            at = numbers.after_currency(self._tokens, i)
            return self._number(at) if at else None
        if kind == "identifier":
            return self._date(i) or self._named(i, i + 1)
        if kind == "version":
            return self._named(i, i + 1)
        return self._date(i) or self._number(i)

    def _phone(self, i: int) -> _Found | None:
        tokens = self._tokens
        read = phone(tokens.text, tokens.start(i))
        if read is None:
            return None
        figures = tokens.raw(i)
        bare = (Quantity(number=float(figures), step=1.0),) if figures.isdigit() and len(figures) >= LEAST else ()
        return _Found(FactKind.NUMBER, (read[0], *bare), tokens.from_character(i + 1, read[1]))

    def _word(self, i: int) -> _Found | None:
        tokens = self._tokens
        raw, word = tokens.raw(i), tokens.word(i)
        if found := self._counted(i, word):
            return found
        if century := dates.roman_century(tokens, i):
            return _Found(FactKind.DATE, *century)
        if raw[0] == word[0]:  # iPhone is a name whose first letter is lower case
            return None if raw == word else self._named(i, i + 1)
        if (at := numbers.after_currency(tokens, i)) and (found := self._number(at)):
            return found
        if (after := names.tied(tokens, i)) is not None:
            return self._named(i, after)
        return None if self._source else self._name(i)

    def _counted(self, i: int, word: str) -> _Found | None:
        """The date or number that begins with a word. A word that is both ("Sept") is the number."""
        numeral = self._numerals.at(i)
        if numeral and (read := dates.worded(self._tokens, numeral)):
            return _Found(FactKind.DATE, *read)
        if word in dates.STARTS and (found := self._date(i)) and not (numeral and found.after == i + 1):
            return found
        return self._number(i) if numeral or word in worded.STARTS else None

    def _date(self, i: int) -> _Found | None:
        tokens = self._tokens
        if not self._source and (dated := ranges.dated_weekday(tokens, i, self._numerals)):
            return _Found(FactKind.DATE, *dated)
        read = dates.moment(tokens, i, self._numerals, source=self._source)
        if read is None:
            read = ranges.beside(tokens, i, self._numerals, source=self._source)
            if read and self._source:  # it may be named without its month
                bare = Quantity(number=float(tokens.raw(i)), step=1.0)
                return _Found(FactKind.DATE, (*read[0], bare), read[1])
        if read is None:
            return None
        readings, after = read
        if readings[0].part == "year" and self._counts(i, after):
            return None
        return _Found(FactKind.DATE, (*readings, *as_length(tokens, i)), after)

    def _counts(self, i: int, after: int) -> bool:
        """Whether a number that looks like a year counts something: 2000 meters, $2000, 2000 people."""
        tokens = self._tokens
        if tokens.text[tokens.end(after - 1) : tokens.end(after - 1) + 2].lstrip()[:1] in _YEAR_SIGNS:
            return False
        return bool(unit_before(tokens, i) or unit_after(tokens, after)[0] or tokens.word(after) in _COUNTED)

    def _number(self, i: int) -> _Found | None:
        tokens = self._tokens
        numeral = self._numerals.at(i)
        article = not self._source and tokens.word(i) in _ARTICLES and (numeral is None or numeral.after == i + 1)
        read = numbers.number(tokens, i, self._numerals, source=self._source or article)
        if of := proportion(tokens, i, None if article else read, self._numerals, source=self._source):
            shared, beside, end = of
            if self._source:
                return _Found(FactKind.NUMBER, (*(read[0] if read else ()), shared), read[1] if read else i + 1)
            return _Found(FactKind.NUMBER, (shared, beside), end)
        return self._measure(i, read, article=article) if read else None

    def _measure(self, i: int, read: tuple[Readings, int], *, article: bool) -> _Found | None:
        """The number at token `i` with what belongs to it: the letters of a unit, more parts, the end of a range."""
        tokens = self._tokens
        readings, after = read
        if tokens.kind(i) in FIGURES and tokens.glued(after) and tokens.kind(after) in {"word", "identifier"}:
            return self._suffixed(i, after, readings)
        if whole := compound(tokens, i, readings, after, self._numerals, source=self._source):
            sums, apart, end = whole
            if self._source:  # its parts count as well: each is read in its turn
                return _Found(FactKind.NUMBER, (*readings, *sums), after)
            return _Found(FactKind.NUMBER, (*sums, *apart), end)
        if article and all(q.step >= 1 for q in readings):
            return None
        second = numbers.range_end(tokens, after)
        if second is not None:
            to = numbers.number(tokens, second, self._numerals, source=self._source)
            if to is not None:
                readings = numbers.inherit(readings, to[0], negative=is_negative(tokens, i), source=self._source)
        others = (*_figures_apart(tokens, i, after), *as_time(tokens, i, after))
        return _Found(FactKind.NUMBER, (*readings, *others), after)

    def _suffixed(self, i: int, after: int, readings: Readings) -> _Found:
        """Figures followed by letters that are not a known unit: 5G and 2FA are names, 900rpm is a number.

        In a source, 900RPM is both: an answer may write 900 rpm. Its name is found without this.
        """
        letters = self._tokens.raw(after)
        a_unit = letters.isascii() and letters.isalpha() and _LEAST_UNIT <= len(letters) <= _LONGEST_UNIT
        degrees = SYMBOL_OF_DEGREES.get(letters) if self._source else None
        if degrees:  # 20C, which an answer may write 20 °C
            return _Found(FactKind.NUMBER, tuple(replace(q, unit=degrees) for q in readings), after + 1)
        if letters[0].isupper() and len(letters) <= _LONGEST_SUFFIX and not (a_unit and self._source):
            return self._named(i, after + 1)
        if a_unit:
            unit = Unit(dimension=f"unknown {letters.lower()}")  # no other unit is the same
            readings = tuple(replace(q, unit=q.unit or unit) for q in readings)
        return _Found(FactKind.NUMBER, readings, after + 1)

    def _named(self, i: int, after: int) -> _Found:
        written = self._tokens.text[self._tokens.start(i) : self._tokens.end(after - 1)]
        return _Found(FactKind.NAME, names.identifier(written[:_LONGEST_IDENTIFIER]), after)

    def _name(self, i: int) -> _Found | None:
        """A name of capitalised words. Not for sources, whose names are looked up by words."""
        tokens = self._tokens
        if names.abbreviates(tokens, i):
            self._defined.add(tokens.word(i))
        if tokens.word(i) in self._defined:
            return None
        read = names.name(tokens, i, self._language)
        if read is None or self._in_heading(tokens.start(i)):
            return None
        key, after = read
        if len(key) == 1 and key[0] in self._defined:
            return None
        return _Found(FactKind.NAME, key, after)

    def _in_heading(self, start: int) -> bool:
        """Whether the line is a heading. The result is kept for the line, so that each line is checked once."""
        until, heading = self._headings
        if start >= until:
            heading, until = names.heading(self._tokens.text, start)
            self._headings = until, heading
        return heading
