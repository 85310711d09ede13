"""Reads the words of numbers with text2num, in seven languages, and completes the forms that it leaves out.

What these functions are given is bounded or read in one pass: see `numerals`, which finds the words in a text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import text_to_num

from monitor.assess.score.facts.language import Language, listed

LONGEST = 70  # letters; the longest German number below a million has 65
CACHED = 8_192  # words

# Words with which the numbers of each language begin; those with the same first three letters are asked about as well.
_FIRST_WORDS = {
    Language.ENGLISH: """
        zero one two three four five six seven eight nine ten eleven twelve thirteen twenty thirty forty fifty hundred
        thousand million billion first second third""",
    Language.GERMAN: """
        null ein zwei zwo drei vier fünf fuenf sechs sieben acht neun zehn elf zwölf zwoelf zwanzig dreißig hundert
        tausend million milliarde billion erste dritte anderthalb""",
    Language.FRENCH: """
        zéro zero un une unième deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize
        vingt trente quarante cinquante soixante septante octante nonante cent mille milliard premier""",
    Language.SPANISH: """
        cero un uno una dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte veintiún
        treinta cincuenta sesenta setenta cien centésimo mil primero tercero quinto sexto séptimo octavo noveno décimo
        undécimo duodécimo vigésimo trigésimo""",
    Language.PORTUGUESE: """
        zero um uma dois duas três quatro cinco seis sete oito nove dez onze doze treze catorze quinze vinte trinta
        cinquenta sessenta cem centésimo duzentos mil milhão bilhão primeiro terceiro quinto sexto sétimo oitavo nono
        décimo vigésimo trigésimo""",
    Language.ITALIAN: """
        zero un uno una due tre quattro cinque sei sette otto nove dieci undici dodici sedici diciassette venti sessanta
        cento mille primo terzo quinto sesto nono decimo""",
    Language.DUTCH: """
        nul een één twee drie vier vijf zes zeven acht negen tien elf twaalf dertien veertien twintig tachtig honderd
        duizend miljoen biljoen eerste anderhalf""",
}
BEGINNINGS: dict[str, tuple[Language, ...]] = {}  # the first three letters, and the languages that have such words
for _language, _words in _FIRST_WORDS.items():
    for _start in sorted({word[:3] for word in _words.split()}):
        BEGINNINGS[_start] = (*BEGINNINGS.get(_start, ()), _language)
# Words that the library takes for numbers and that are not: plurals, articles, negations, fractions.
_NO_NUMBERS = listed(
    """ones twos threes fours fives sevens eights nines tens zeros non nons none nones prime doses treses unos unas uns
    umas quart quint sext"""
)
_FRACTIONS = {Language.SPANISH: re.compile(r"avos?$"), Language.ENGLISH: re.compile(r"(th|rd)s$")}
# Forms that the library does not know, and those that it reads instead, two of them its own spelling mistakes.
_RESPELT: Mapping[Language, tuple[tuple[re.Pattern[str], str], ...]] = {
    language: tuple((re.compile(form), known) for form, known in forms)
    for language, forms in {
        Language.ENGLISH: [(r"^sixtieth", "sixteeth")],
        Language.GERMAN: [("fuenf", "fünf"), ("zwoelf", "zwölf")],
        Language.FRENCH: [(r"^une$", "un"), (r"^zero$", "zéro"), (r"^huitantième", "huitantiène")],
        Language.SPANISH: [
            (r"^veinti[uú]n$", "veintiuno"),
            (r"^veintidos$", "veintidós"),
            (r"^veintitres$", "veintitrés"),
            (r"^(primer|tercer)$", r"\1o"),
        ],
        Language.PORTUGUESE: [],
        Language.ITALIAN: [("centott", "centoott"), ("trè", "tré")],  # centottanta is also said centoottanta
        Language.DUTCH: [("(twee|drie)en", r"\1ën")],  # without the trema
    }.items()
}
JOINS = {
    Language.ENGLISH: "and",
    Language.GERMAN: "und",
    Language.FRENCH: "et",
    Language.SPANISH: "y",
    Language.PORTUGUESE: "e",
    Language.ITALIAN: "e",
    Language.DUTCH: "en",
}
_HALVES = re.compile(r"(?:(ander)thalb|(ander)hal(?:f|ve)|(\w+)einhalb|(\w+)[ëe]nhal(?:f|ve))")


class SpokenNumber(NamedTuple):
    """A number said by the words `[start, end)` of a list; `digits` are its figures, with the leading zeros."""

    start: int
    end: int
    value: float
    digits: str
    ordinal: bool


_NOTHING: Mapping[Language, SpokenNumber] = MappingProxyType({})


def spoken(word: str) -> Mapping[Language, SpokenNumber]:
    """What a lower-case word alone says as a number, by language; empty for nearly all words."""
    if word[:3] not in BEGINNINGS or len(word) > LONGEST or word in _NO_NUMBERS:
        return _NOTHING
    return _spoken(word)


@lru_cache(maxsize=CACHED)
def _spoken(word: str) -> Mapping[Language, SpokenNumber]:
    found: dict[Language, SpokenNumber] = {}
    for language in BEGINNINGS[word[:3]]:
        read = read_words([word], language)
        if len(read) == 1 and not (language in _FRACTIONS and _FRACTIONS[language].search(word)):
            found[language] = read[0]
    return MappingProxyType(found) if found else _NOTHING


def with_a_half(word: str) -> float | None:
    """The value of "anderthalb", "zweieinhalb" or "tweeënhalf"; None for other words."""
    if word[:3] not in BEGINNINGS or len(word) > LONGEST or not (found := _HALVES.match(word)):
        return None
    if found[1] or found[2]:
        return 1.5
    language, whole = (Language.GERMAN, found[3]) if found[3] else (Language.DUTCH, found[4])
    read = read_words([whole], language)
    return read[0].value + 0.5 if len(read) == 1 and not read[0].ordinal else None


def read_words(words: Sequence[str], language: Language) -> list[SpokenNumber]:
    """The numbers that lower-case words say one after the other. One pass: linear in their length."""
    stream = [_Word(_respelt(word, language)) for word in words]
    return [
        SpokenNumber(
            start=found.start,
            end=found.end,
            value=found.value,
            digits="".join(figure for figure in found.text if figure.isdecimal()),
            ordinal=found.is_ordinal,
        )
        for found in text_to_num.find_numbers(stream, language, 0)
    ]


def read_apart(words: list[str], language: Language) -> list[SpokenNumber]:
    """The numbers of a run, with those apart that "and" separates: "one hundred and two hundred" are two numbers.

    The library goes on with the first number as long as it can, which leaves a rest ("hundred"). If the words after
    "and" and the rest are one number, that is what was meant.
    """
    found: list[SpokenNumber] = []
    for number in read_words(words, language):
        last = found[-1] if found else None
        joined = words[last.start : last.end] if last and last.end == number.start else []
        if last and JOINS[language] in joined:
            middle = last.end - joined[::-1].index(JOINS[language])
            second = read_words(words[middle : number.end], language)
            first = read_words(words[last.start : middle - 1], language)
            if len(first) == len(second) == 1 and second[0].end == number.end - middle:
                found[-1] = first[0]._replace(start=last.start, end=last.start + first[0].end)
                found.append(second[0]._replace(start=middle, end=number.end))
                continue
        found.append(number)
    return found


def _respelt(word: str, language: Language) -> str:
    for form, known in _RESPELT[language]:
        word = form.sub(known, word)
    return word


class _Word:
    """A word as the library asks for it."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def text(self) -> str:
        return self._text

    def nt_separated(self, _previous: _Word) -> bool:
        return False

    def not_a_number_part(self) -> bool:
        return False
