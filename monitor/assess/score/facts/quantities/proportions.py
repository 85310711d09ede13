"""Reads how many out of how many: 3 out of 4, one in five, drei von vier, tres de cada cuatro, 四分之三."""

from __future__ import annotations

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.numbers import number
from monitor.assess.score.facts.quantities.numerals import Numerals
from monitor.assess.score.facts.quantities.quantity import Listed, Quantity, Readings, share
from monitor.assess.score.facts.tokens import FIGURES, Tokens

_SURELY = frozenset((("out", "of"), ("out", "of", "every"), ("of", "every"), ("de", "cada"), ("em", "cada")))
_SURELY |= {("in", "every"), ("op", "de"), ("op", "elke")}
_LINKS = _SURELY | {("in",), ("of",), ("von",), ("sur",), ("su",)}
_AFTER_NOUN = frozenset((("out", "of"), ("sur",), ("su",), ("de", "cada"), ("em", "cada"), ("op", "de")))
_LONGEST = 3  # words of such a link
_ONES = listed("one un uno una ein eine einer um uma een één")
_PAGES = listed("page pages step part slide chapter section volume phase level day week item figure seite page página")
_MOST = 1_000  # of how many a share is said with "in"; a larger one is more often a year


def proportion(
    tokens: Tokens, i: int, read: tuple[Readings, int] | None, numerals: Numerals, *, source: bool
) -> tuple[Quantity, Listed, int] | None:
    """The share that the number at token `i` is of the one after it, the two beside each other, and the token after.

    `read` is that first number, None for a "one" that is none alone.
    """
    if read is None and tokens.word(i) not in _ONES:
        return None
    readings, after = read or ((Quantity(number=1.0, step=1.0),), i + 1)
    part = readings[0]
    if part.unit is not None or part.number <= 0 or not _counts(tokens, i, after, numerals):
        return None
    link, at = _link(tokens, after)
    if not link or (link == ("of",) and tokens.word(i - 1) in _PAGES):
        return None
    whole = number(tokens, at, numerals, source=source) if tokens.kind(at) in FIGURES | {"word"} else None
    if whole is None or not _counts(tokens, at, whole[1], numerals):
        return None
    of = whole[0][0]
    surely = link in _SURELY or (of.unit is None and of.number <= _MOST and not part.number % 1 and not of.number % 1)
    if of.number <= part.number or not surely:
        return None
    beside = Listed((whole[0],)) if tokens.word(i) in _ONES else Listed((readings, whole[0]))
    return share(part.number / of.number), beside, whole[1]


def _counts(tokens: Tokens, i: int, after: int, numerals: Numerals) -> bool:
    """Whether the number at token `i` is no place in an order: 3rd, third."""
    if tokens.kind(i) == "digits":
        return after == i + 1 or not tokens.glued(i + 1)
    numeral = numerals.at(i) if tokens.kind(i) == "word" else None
    return numeral is None or not numeral.ordinal


def _link(tokens: Tokens, i: int) -> tuple[tuple[str, ...], int]:
    """The words that join the two numbers, from token `i` on or after a noun there, and the token after them."""
    for at in (i, i + 1):
        for length in range(_LONGEST, 0, -1):
            words = tuple(tokens.word(at + place) for place in range(length))
            if words not in (_LINKS if at == i else _AFTER_NOUN) or not tokens.raw(i).islower():
                continue
            if all(tokens.gap(place).isspace() for place in range(i, at + length + 1)):
                return words, at + length
    return (), i
