"""Reads fractions, and what they are fractions of: half an hour, ¾ of a mile, 2 1/2 hours, two and a quarter."""

from __future__ import annotations

from typing import Final

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.numerals import SCALES
from monitor.assess.score.facts.quantities.quantity import Quantity, Readings, quantities, share
from monitor.assess.score.facts.quantities.units import UNITS, Unit, unit_after
from monitor.assess.score.facts.tokens import Tokens

PARTS: Final = {
    **{"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4, "fifth": 5},
    **{"fifths": 5, "sixth": 6, "sixths": 6, "seventh": 7, "sevenths": 7, "eighth": 8, "eighths": 8, "ninth": 9},
    **{"ninths": 9, "tenth": 10, "tenths": 10, "hundredth": 100, "hundredths": 100},
    **dict.fromkeys(("drittel", "tercios", "terços", "terzi"), 3),
    **{"viertel": 4, "quarts": 4, "cuartos": 4, "quartos": 4, "quarti": 4, "fünftel": 5, "zehntel": 10},
}
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
_ADDED = {
    **dict.fromkeys((("and", "a", "half"), ("and", "one", "half"), ("y", "medio"), ("et", "demi"), ("e", "meio")), 0.5),
    **dict.fromkeys((("e", "mezzo"), ("en", "een", "half")), 0.5),
    **dict.fromkeys((("and", "a", "quarter"), ("and", "one", "quarter")), 0.25),
    **{("and", "three", "quarters"): 0.75, ("and", "a", "third"): 1 / 3},
}
_ADDED_TO_UNIT = _ADDED | {
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
    raw = tokens.raw(i)
    if not raw.isdigit() or len(raw) > _LONGEST_WHOLE:
        return None
    value, after = added(tokens, i + 1)
    if value:
        return value, after
    at = i + 2 if tokens.hyphen(i + 1) else i + 1
    above, below = tokens.raw(at), tokens.raw(at + 2)
    if tokens.raw(at + 1) != "/" or not (tokens.glued(at + 1) and tokens.glued(at + 2)):
        return None
    if not (above.isdigit() and below.isdigit()) or (at == i + 1 and tokens.gap(at) not in {" ", "\u00a0"}):
        return None
    if len(below) > _LONGEST_WHOLE or int(below) not in _MIXED or not 0 < int(above) < int(below):
        return None
    return int(above) / int(below), at + 3


def fraction_in_words(tokens: Tokens, i: int, *, source: bool) -> tuple[Readings, int] | None:
    """The fraction that begins with a word: half an hour, halbe Stunde, quart d'heure, half a million, half of them."""
    word = tokens.word(i)
    if word in _MINUTES_OF:
        return quantities(((_MINUTES_OF[word], 1.0),), UNITS["min"]), i + 1
    value = 0.5 if word in _HALVES else 0.25 if word in _QUARTERS else 0.0
    if not value or tokens.word(i - 1) in _SIDES:
        return ((share(value),), i + 1) if value and word == "half" and source else None
    if found := of_whole(tokens, value, i + 1, source=source):
        return found
    if word == "half":
        return ((share(0.5),), i + 1) if source or tokens.word(i + 1) in {"of", "the"} else None
    part = source and word == "quarter" and tokens.word(i + 1) == "of" and tokens.word(i - 1) in {"a", "one"}
    return ((share(0.25),), i + 1) if part else None


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
    if word == "dozen" and not joined and (tokens.gap(at).isspace() or tokens.raw(at - 1) == "-"):
        return (Quantity(number=value * _DOZEN, step=1.0),), at + 1
    if word in SCALES and article:
        return (Quantity(number=value * SCALES[word], step=value * SCALES[word]),), at + 1
    units, after = unit_after(tokens, at)
    if not units:
        return None
    shares = (share(value),) if source or (joined and not article) else ()
    return (*_read(value, units), *shares), after


def _read(value: float, units: tuple[Unit, ...]) -> Readings:
    return quantities(((value, value if value == 0.5 else _STEP),), units)  # noqa: PLR2004
