"""Reads numbers written as words, in six European languages and in Chinese characters."""

from __future__ import annotations

from typing import NamedTuple

from monitor.assess.score.facts.language import ENGLISH, listed
from monitor.assess.score.facts.tokens import Tokens

TEN, HUNDRED, THOUSAND = 10, 100, 1000


class Numeral(NamedTuple):
    """A number read from words up to token `after`."""

    value: float
    after: int


_EN = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_EN_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_DE = "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
_DE_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig"
_FR = "zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize"
_FR_TENS = "vingt trente quarante cinquante soixante"
_ES = "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
_ES_TWENTIES = "veinte veintiuno veintidós veintitrés veinticuatro veinticinco veintiséis veintisiete veintiocho"
_ES_TENS = "treinta cuarenta cincuenta sesenta setenta ochenta noventa"
_PT = (
    "zero um dois três quatro cinco seis sete oito nove dez onze doze treze catorze quinze dezesseis dezessete dezoito"
)
_PT_TENS = "vinte trinta quarenta cinquenta sessenta setenta oitenta noventa"
_IT = "zero uno due tre quattro cinque sei sette otto nove dieci undici dodici tredici quattordici quindici sedici"
_IT_TENS = "venti trenta quaranta cinquanta sessanta settanta ottanta novanta"


def _counted(words: str) -> dict[str, int]:
    return {word: value for value, word in enumerate(words.split())}


def _tens(units: dict[str, int], tens: str, first: int, join: str) -> dict[str, int]:
    """The tens from `first` on, alone and with every unit, with `join` in between."""
    found: dict[str, int] = {}
    for at, ten in enumerate(tens.split()):
        found[ten] = first + 10 * at
        found |= {f"{ten}{join}{word}": first + 10 * at + n for word, n in units.items() if 0 < n < TEN}
    return found


def _english() -> dict[str, int]:
    units = _counted(f"{_EN} seventeen eighteen nineteen")
    return units | _tens(units, _EN_TENS, 20, " ") | {"dozen": 12, "a dozen": 12, "two dozen": 24, "twice": 2}


def _german() -> dict[str, int]:
    units = _counted(f"{_DE} achtzehn neunzehn")
    found = dict(units) | {"dutzend": 12, "zweimal": 2, "dreimal": 3}
    for ten, value in zip(_DE_TENS.split(), range(20, 100, 10), strict=True):
        found[ten] = value
        for word, n in units.items():
            if 0 < n < TEN:
                found[f"{'ein' if n == 1 else word}und{ten}"] = value + n
    return found


def _french() -> dict[str, int]:
    units = _counted(_FR) | {"dix sept": 17, "dix huit": 18, "dix neuf": 19}
    found = dict(units) | _tens(units, _FR_TENS, 20, " ")
    found |= {f"{ten} et un": 21 + 10 * at for at, ten in enumerate(_FR_TENS.split())}
    found |= {f"soixante {word}": 60 + n for word, n in units.items() if n >= TEN} | {"soixante et onze": 71}
    found |= {f"quatre vingt {word}": 80 + n for word, n in units.items() if n}
    return found | {"quatre vingts": 80, "quatre vingt": 80, "douzaine": 12}


def _spanish() -> dict[str, int]:
    units = _counted(f"{_ES} dieciocho diecinueve {_ES_TWENTIES} veintinueve")
    return units | _tens(units, _ES_TENS, 30, " y ") | {"cien": 100, "docena": 12}


def _portuguese() -> dict[str, int]:
    units = _counted(f"{_PT} dezenove") | {"duas": 2, "dezasseis": 16, "dezassete": 17, "dezanove": 19}
    return units | _tens(units, _PT_TENS, 20, " e ") | {"cem": 100, "dúzia": 12}


def _italian() -> dict[str, int]:
    units = _counted(f"{_IT} diciassette diciotto diciannove")
    found = units | _tens(units, _IT_TENS, 20, "")
    for ten, value in zip(_IT_TENS.split(), range(20, 100, 10), strict=True):
        found |= {f"{ten[:-1]}uno": value + 1, f"{ten[:-1]}otto": value + 8, f"{ten}tré": value + 3}
    return found | {"dozzina": 12}


_OWN = {
    ENGLISH: _english(),
    "de": _german(),
    "fr": _french(),
    "es": _spanish(),
    "pt": _portuguese(),
    "it": _italian(),
}
# Words with another meaning in another of the languages: they are numbers only in texts of their own.
_ELSEWHERE = listed(
    "once sei due dos elf doze seize venti null sept neuf tre dix six uno un um eins onze acht quince trece dez"
)
_SHARED = {
    phrase: value
    for numerals in _OWN.values()
    for phrase, value in numerals.items()
    if phrase.split()[0] not in _ELSEWHERE
}
_PHRASES = {language: _SHARED | own for language, own in _OWN.items()}
_HUNDRED = {ENGLISH: "hundred", "de": "hundert", "fr": "cent", "es": "cientos", "pt": "centos", "it": "cento"}
_JOINS = {ENGLISH: "and", "de": "und", "fr": "et", "es": "y", "pt": "e", "it": "e"}
_ARTICLES = frozenset(("a", "an"))
SCALES = {
    **dict.fromkeys(("thousand", "thousands", "tausend", "mille", "mil", "mila"), 1e3),
    **dict.fromkeys(
        listed("million millions mio millionen millón millones milhão milhões milione milioni mln"),
        1e6,
    ),
    **dict.fromkeys(
        listed("billion billions mrd milliarde milliarden milliard milliards bilhão bilhões miliardo miliardi bn"),
        1e9,
    ),
    **dict.fromkeys(listed("trillion trillions billionen trn"), 1e12),
    **dict.fromkeys(("lakh", "lakhs"), 1e5),
    **dict.fromkeys(("crore", "crores"), 1e7),
}
_CLOSE = frozenset((" ", "", "\u00a0"))  # allowed between the words of one number
_LONGEST = 4  # words of a phrase
FIRST_WORDS = frozenset(
    {phrase.split()[0] for phrases in _PHRASES.values() for phrase in phrases} | set(_HUNDRED.values()) | set(SCALES)
) - {"a"}


def numeral(tokens: Tokens, i: int, language: str) -> Numeral | None:
    """The number whose words begin at token `i`; "a hundred" begins at "hundred"."""
    phrases = _PHRASES[language]
    total = current = last = 0.0
    at, count = i, 0
    while at < len(tokens) and (not count or tokens.gap(at) in _CLOSE):
        word = tokens.word(at)
        found = _phrase(tokens, at, phrases)
        if found and (not count or last >= HUNDRED):
            last, step = float(found[0]), found[1]
            current += last
        elif word == _HUNDRED[language] and current < HUNDRED and (count or _counts(tokens, at)):
            current, last, step = max(1.0, current) * HUNDRED, HUNDRED, 1
        elif word in SCALES and (last or _counts(tokens, at)):
            total, current, last, step = total + max(1.0, current) * SCALES[word], 0.0, SCALES[word], 1
        else:
            break
        count += step
        at += step
        if last >= HUNDRED and tokens.word(at) == _JOINS[language] and _phrase(tokens, at + 1, phrases):
            at += 1
    return Numeral(total + current, at) if count else None


def _counts(tokens: Tokens, at: int) -> bool:
    """Whether a bare "hundred" or "million" is a number: only after an article ("a million", not "millions")."""
    return tokens.word(at - 1) in _ARTICLES


def _phrase(tokens: Tokens, i: int, phrases: dict[str, int]) -> tuple[int, int] | None:
    """The longest phrase at token `i`: its value and its number of tokens, including hyphens."""
    word = tokens.word(i)
    best = (phrases[word], 1) if word in phrases else None
    at = i + 1
    for _ in range(1, _LONGEST):
        if tokens.raw(at) == "-" and tokens.glued(at) and tokens.glued(at + 1):
            at += 1
        elif at < len(tokens) and tokens.gap(at) != " ":
            break
        if tokens.kind(at) != "word":
            break
        word = f"{word} {tokens.word(at)}"
        at += 1
        if word in phrases:
            best = (phrases[word], at - i)
    return best


_DIGITS = {**{c: n for n, c in enumerate("〇一二三四五六七八九")}, "零": 0, "两": 2, "兩": 2}
_PLACES = {"十": 10, "百": 100, "千": 1000}
_GROUPS = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
LONGEST_HAN = 20


def han(written: str) -> int | None:
    """The value of a number in Chinese characters (三百二十, 二〇二〇, 一亿二千万); None if it is not a number."""
    if len(written) > LONGEST_HAN:
        return None
    if len(written) > 1 and all(c in _DIGITS for c in written):
        return int("".join(str(_DIGITS[c]) for c in written))
    total = group = digit = 0
    for c in written:
        if c in _DIGITS:
            digit = _DIGITS[c]
        elif c in _PLACES:
            group += (digit or 1) * _PLACES[c]
            digit = 0
        else:
            section = group + digit
            total = total + (section or 1) * _GROUPS[c] if total > _GROUPS[c] else (total + section or 1) * _GROUPS[c]
            group = digit = 0
    return total + group + digit


def group(character: str) -> int | None:
    """The factor of 万 or 亿 after figures (3万 is 30,000)."""
    return _GROUPS.get(character) or _PLACES.get(character)
