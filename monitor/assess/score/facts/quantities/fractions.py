"""Reads fractions, and what they are fractions of: half an hour, ¾ of a mile, 2 1/2 hours, two and a quarter."""

from __future__ import annotations

import unicodedata
from typing import Final

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.numerals import SCALES
from monitor.assess.score.facts.quantities.quantity import Quantity, Readings, quantities, share
from monitor.assess.score.facts.quantities.units import UNITS, Unit, unit_after
from monitor.assess.score.facts.tokens import HALF, Tokens

_PARTS_BY_SIZE = {
    2: "half halves",
    3: "third thirds drittel tercios terços terzi",
    4: "quarter quarters fourths viertel quarts cuartos quartos quarti",
    5: "fifth fifths fünftel",
    6: "sixth sixths",
    7: "seventh sevenths",
    8: "eighth eighths",
    9: "ninth ninths",
    10: "tenth tenths zehntel",
    100: "hundredth hundredths",
}
PARTS: Final = {word: size for size, words in _PARTS_BY_SIZE.items() for word in words.split()}
PLURAL_PARTS: Final = listed(
    """halves thirds quarters fourths fifths sixth sixths sevenths eighth eighths ninths tenths hundredths drittel
    viertel fünftel zehntel quarts tercios terços terzi cuartos quartos quarti"""
)
_HALVES = frozenset(("half", "halb", "halbe", "halben", "halber", "halbes", "demi", "demie", "media", "medio"))
_HALVES |= {"meia", "meio", "mezza", "mezzo", "halve"}
_QUARTERS = frozenset(("quarter", "quart", "cuarto", "quarto", "viertel"))
_MINUTES_OF = {"viertelstunde": 15.0, "dreiviertelstunde": 45.0, "mezz'ora": 30.0, "mezz’ora": 30.0, "mezzora": 30.0}
_SIDES = listed("first second other latter former upper lower left right")  # words before a "half" that is no number
# Not in the feminine, which says the time: "las dos y media".
_ADDED: dict[tuple[str, ...], float] = {
    **dict.fromkeys((("and", "a", "half"), ("and", "one", "half"), ("y", "medio"), ("et", "demi"), ("e", "meio")), 0.5),
    **dict.fromkeys((("e", "mezzo"), ("en", "een", "half")), 0.5),
    **dict.fromkeys((("and", "a", "quarter"), ("and", "one", "quarter")), 0.25),
    ("and", "three", "quarters"): 0.75,
}
_ADDED_TO_UNIT: dict[tuple[str, ...], float] = {
    **_ADDED,
    **dict.fromkeys((("y", "media"), ("et", "demie"), ("e", "meia"), ("e", "mezza"), ("半",)), 0.5),
    **dict.fromkeys((("et", "quart"), ("y", "cuarto"), ("e", "um", "quarto"), ("e", "un", "quarto")), 0.25),
}
_LONGEST = 3  # words of a fraction that is added
_OF = frozenset(("of", "de", "di"))
_ARTICLES = frozenset(("a", "an", "una", "un", "uma", "um", "einer", "eines", "une"))
_DOZEN = 12.0
_STEP = 0.01  # of a quarter or third of a unit
_MIXED = frozenset((2, 3, 4, 5, 6, 8, 10, 12, 16, 32, 64))  # what is below the line in 2 1/2 and 3 5/8
_LONGEST_WHOLE = 3  # figures before the fraction of such a number

STARTS = _HALVES | _QUARTERS | frozenset(_MINUTES_OF)  # lower-case words that may begin one of these quantities


def added(tokens: Tokens, i: int) -> tuple[float, int]:
    """The fraction that "and a half", "and three quarters" or the like add at token `i`, and the token after it."""
    return _said(tokens, i, _ADDED)


def added_to_unit(tokens: Tokens, i: int) -> tuple[float, int]:
    """The same after a unit: an hour and a quarter, 1時間半; not in "and a half-price ticket"."""
    value, after = _said(tokens, i, _ADDED_TO_UNIT)
    return (0.0, i) if tokens.hyphen(after) else (value, after)


def _said(tokens: Tokens, i: int, fractions: dict[tuple[str, ...], float]) -> tuple[float, int]:
    words: tuple[str, ...] = ()
    at = i
    while len(words) < _LONGEST:
        at += tokens.hyphen(at)
        words, at = (*words, tokens.word(at)), at + 1
        if value := fractions.get(words):
            return value, at
    return 0.0, i


def mixed(tokens: Tokens, i: int) -> tuple[float, int] | None:
    """The fraction after the whole number at token `i` (2 1/2, 2-1/2, 2½, 2 and a half), and the token after it."""
    if tokens.kind(i + 1) == "fraction" and tokens.gap(i + 1) in {"", " "} and tokens.raw(i + 1) != HALF:
        return unicodedata.numeric(tokens.raw(i + 1)), i + 2
    if not tokens.raw(i).isdigit() or len(tokens.raw(i)) > _LONGEST_WHOLE:
        return None
    value, after = added(tokens, i + 1)
    return (value, after) if value else _in_figures(tokens, i + 1)


def _in_figures(tokens: Tokens, i: int) -> tuple[float, int] | None:
    """The fraction in figures that follows a whole number at token `i`: 2 1/2, 2-1/2."""
    at = i + tokens.hyphen(i)
    above, below = tokens.raw(at), tokens.raw(at + 2)
    if tokens.raw(at + 1) != "/" or not (tokens.glued(at + 1) and tokens.glued(at + 2)):
        return None
    spaced = at > i or tokens.gap(at) in {" ", "\u00a0"}
    if not (spaced and above.isdigit() and below.isdigit()) or len(below) > _LONGEST_WHOLE:
        return None
    return (int(above) / int(below), at + 3) if int(below) in _MIXED and 0 < int(above) < int(below) else None


def fraction_in_words(tokens: Tokens, i: int, *, source: bool) -> tuple[Readings, int] | None:
    """The fraction that begins with a word: half an hour, halbe Stunde, quart d'heure, half a million, half of them."""
    word = tokens.word(i)
    if word in _MINUTES_OF:
        return quantities(((_MINUTES_OF[word], 1.0),), UNITS["min"]), i + 1
    value = 0.5 if word in _HALVES else 0.25 if word in _QUARTERS else 0.0
    if not value or tokens.word(i - 1) in _SIDES:
        return ((share(value),), i + 1) if value and word == "half" and source else None
    if found := _of_dozen(tokens, value, i + 1) or of_whole(tokens, value, i + 1, source=source):
        return found
    if word == "half":
        return ((share(0.5),), i + 1) if source or tokens.word(i + 1) in {"of", "the"} else None
    part = source and word == "quarter" and tokens.word(i + 1) == "of" and tokens.word(i - 1) in {"a", "one"}
    return ((share(0.25),), i + 1) if part else None


def shares(tokens: Tokens, value: float, i: int, *, source: bool) -> tuple[Readings, int]:
    """The fraction `value` whose words or figures end before token `i`: of the unit there, or of a whole."""
    return of_whole(tokens, value, i, source=source) or ((share(value),), i)


def of_whole(tokens: Tokens, value: float, i: int, *, source: bool) -> tuple[Readings, int] | None:
    """The fraction `value` of the unit, million or dozen at token `i`: hour, -hour, an hour, of an hour, of a million.

    Without an article after "of" it may also be a share: "half of hours" is of hours that others are not.
    """
    at, joined = i, tokens.word(i) in _OF
    if not joined and tokens.word(i)[:2] in {"d'", "d’"} and (elided := UNITS.get(tokens.word(i)[2:])):
        return _read(value, elided), i + 1
    at += joined
    article = tokens.word(at) in _ARTICLES and (joined or value in {0.25, 0.5})
    at += article
    if any(not tokens.gap(between).isspace() for between in range(i, at + (at > i))):
        return None
    word = tokens.word(at)
    if word in SCALES and article:
        return (Quantity(number=value * SCALES[word], step=value * SCALES[word]),), at + 1
    units, after = unit_after(tokens, at)
    if not units:
        return None
    also = (share(value),) if source or (joined and not article) else ()
    return (*_read(value, units), *also), after


def _of_dozen(tokens: Tokens, value: float, i: int) -> tuple[Readings, int] | None:
    """Half a dozen, a half dozen, half-dozen."""
    at = i + 1 if tokens.hyphen(i) or tokens.word(i) in _ARTICLES else i
    if tokens.word(at) != "dozen" or not (tokens.hyphen(i) or tokens.gap(at).isspace()):
        return None
    return (Quantity(number=value * _DOZEN, step=1.0),), at + 1


def _read(value: float, units: tuple[Unit, ...]) -> Readings:
    return quantities(((value, value if value == 0.5 else _STEP),), units)  # noqa: PLR2004
