"""An index of every number, date and name in the documents, to look up whether they hold a fact."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product

from monitor.assess.score.facts import roman
from monitor.assess.score.facts.calendar.dates import FIRST_YEAR
from monitor.assess.score.facts.calendar.moment import Moment, implied
from monitor.assess.score.facts.extract import facts, read
from monitor.assess.score.facts.fact import Fact, FactKind
from monitor.assess.score.facts.names import acronyms, alone, fold, identifier, kin, words_of
from monitor.assess.score.facts.phones import Phone, endings, phones
from monitor.assess.score.facts.quantities.quantity import Listed, Quantity
from monitor.assess.score.facts.quantities.quantity_index import Quantities
from monitor.core.text.cache import cached_by_text
from monitor.core.text.sentences import sentence_spans

MOST_APART = 8  # dates and years of a sentence that are combined
_SHORT = 2  # letters of a country's acronym, such as "us", which is more often a pronoun
_PREFIX = 5  # the least letters that related words share, as America and American do
_ENDING = 3  # the most letters that an inflection changes

_LETTERS_OR_FIGURES = re.compile(r"[^\W\d_]+|\d+")
_AFTER_FIGURES = re.compile(r"(?<=\d)[^\W\d_]{2,4}(?!\w)")  # the unit of 16MP, a name where it stands apart
_PORT = re.compile(r"(?<=://)[^\s/:@]{1,253}:(\d{2,5})(?!\d)")  # of an address, which states nothing else
_IDENTIFIER = re.compile(r"(?<![\w.-])[^\W\d]{0,20}+\d[\w.]{0,40}")


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextFacts:
    quantities: Quantities
    moments: frozenset[Moment]
    words: frozenset[str]  # folded words and their prefixes
    alone: frozenset[str]  # names of a single word, such as surnames
    acronyms: frozenset[str]
    identifiers: frozenset[str]
    phones: frozenset[Phone]
    phone_endings: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class FactIndex:
    """The facts of several texts. The part of each text is cached, since documents recur."""

    parts: tuple[_TextFacts, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> FactIndex:
        """The index of `texts`: the documents, and the question if its facts should count as held."""
        return cls(parts=tuple(map(_facts_of, texts)))

    def holds(self, fact: Fact) -> bool:
        """Whether one of the texts states the fact, in any form, at the fact's own precision or a finer one.

        The texts hold a name if they have each of its words, possibly with another ending; if they write its last word
        as a name of its own, such as a surname; if they have its acronym, or the words that it is the acronym of.
        """
        if fact.kind is FactKind.NAME:
            return self._holds_name(fact)
        return any(map(self._holds_reading, fact.key))

    def has_word(self, folded: str) -> bool:
        """Whether one of the texts has the word, given in lower case without accents."""
        return any(folded in part.words for part in self.parts)

    def _holds_reading(self, reading: Hashable) -> bool:
        if isinstance(reading, Quantity):
            return any(part.quantities.hold(reading) for part in self.parts)
        if isinstance(reading, Listed):
            return all(any(map(self._holds_reading, readings)) for readings in reading.parts)
        if isinstance(reading, Phone):
            return any(_holds_phone(part, reading) for part in self.parts)
        return isinstance(reading, Moment) and any(_holds_moment(part, reading) for part in self.parts)

    def _holds_name(self, fact: Fact) -> bool:
        words = [word for word in fact.key if isinstance(word, str)]
        if all(any(_holds_word(part, word) for part in self.parts) for word in words):
            return True
        if len(words) == 1:
            return False
        if any(words[-1] in part.alone for part in self.parts):
            return True
        short = acronyms(fact.text)
        return any(acronym in part.acronyms for part in self.parts for acronym in short)


def missing(answer: str, index: FactIndex) -> tuple[Fact, ...]:
    """The facts of the answer that no text of the index holds, in order."""
    return not_held(facts(answer), index)


def not_held(stated: Iterable[Fact], index: FactIndex) -> tuple[Fact, ...]:
    """Those of the facts that no text of the index holds, in order."""
    return tuple([fact for fact in stated if not index.holds(fact)])


def _holds_word(part: _TextFacts, word: str) -> bool:
    if word in part.words or word in part.acronyms or word in part.identifiers:
        return True
    if len(word) >= _PREFIX and any(_prefix(word, n) in part.words for n in _stems(word)):
        return True
    if any(k in (part.acronyms if len(k) == _SHORT else part.words) for k in kin(word)):
        return True
    parts = _LETTERS_OR_FIGURES.findall(word)
    return len(parts) > 1 and len(parts[0]) > 1 and all(each in part.words for each in parts)


def _stems(word: str) -> range:
    """The lengths at which `word` may differ from another word of the same stem."""
    return range(max(_PREFIX, len(word) - _ENDING - 1), len(word) + 1)


def _prefix(word: str, length: int) -> str:
    """The first letters, with a hyphen that distinguishes them from a whole word."""
    return word[:length] + "-"


def _holds_moment(part: _TextFacts, moment: Moment) -> bool:
    if moment in part.moments:
        return True
    return moment.part == "year" and moment.a > 0 and part.quantities.hold(Quantity(number=float(moment.a), step=1.0))


def _holds_phone(part: _TextFacts, number: Phone) -> bool:
    """Whether the text has the number, or one of the two has a code in front that the other leaves out."""
    return number.figures in part.phone_endings or any(Phone(end) in part.phones for end in endings([number]))


@cached_by_text
def _facts_of(text: str) -> _TextFacts:
    quantities: list[Quantity] = []
    dated: list[tuple[int, Moment]] = []
    identifiers = {word for written in _IDENTIFIER.findall(text) for word in identifier(written)}
    for fact in read(text, source=True):
        if fact.kind is FactKind.NAME:
            identifiers.update(word for word in fact.key if isinstance(word, str))
        quantities += [reading for reading in fact.key if isinstance(reading, Quantity)]
        dated += [(fact.start, reading) for reading in fact.key if isinstance(reading, Moment)]
    quantities += [Quantity(number=float(port), step=1.0) for port in _PORT.findall(text)]
    years = [abs(m.a) for _, m in dated if m.part in {"day", "month", "year"} and (m.a > 0 or -FIRST_YEAR < m.a < 0)]
    quantities += [Quantity(number=float(number), step=1.0) for number in (*years, *roman.values(text))]
    moments = [*[moment for _, moment in dated], *_combined(text, dated)]
    numbers = [*phones(text)]
    words = frozenset([*words_of(text), *map(fold, _AFTER_FIGURES.findall(text)), *roman.spelled(text)])
    return _TextFacts(
        quantities=Quantities(quantities),
        moments=frozenset([coarser for moment in moments for coarser in implied(moment)]),
        words=words | {_prefix(w, max(_PREFIX, len(w) - _ENDING)) for w in words if len(w) >= _PREFIX},
        alone=frozenset(alone(text)),
        acronyms=frozenset(acronyms(text)),
        identifiers=frozenset(identifiers),
        phones=frozenset(numbers),
        phone_endings=frozenset(endings(numbers)),
    )


def _combined(text: str, dated: list[tuple[int, Moment]]) -> Iterator[Moment]:
    """Days and months combined with years elsewhere in the same sentence ("in 2020, on 3 May")."""
    if not any(m.part in {"day", "month"} and not m.a for _, m in dated):
        return
    at = 0
    for start, end in sentence_spans(text):
        days: list[Moment] = []
        years: set[int] = set()
        while at < len(dated) and dated[at][0] < end:
            place, m = dated[at]
            at += 1
            if place >= start and m.part in {"day", "month"} and not m.a:
                days.append(m)
            elif place >= start and m.part in {"day", "month", "year"}:
                years.add(m.a)
        for day, year in product(days[:MOST_APART], sorted(years)[:MOST_APART]):
            yield day._replace(a=year)
