"""Reads quantities whose number is in words, with fractions, halves and articles."""

from __future__ import annotations

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities import fractions
from monitor.assess.score.facts.quantities.fractions import PARTS, PLURAL_PARTS, added
from monitor.assess.score.facts.quantities.numerals import SCALES, Numeral, Numerals, step_of
from monitor.assess.score.facts.quantities.quantity import Quantity, Readings, is_negative, quantities, share
from monitor.assess.score.facts.quantities.units import UNITS, Unit, unit_after
from monitor.assess.score.facts.tokens import Tokens

_ONES = listed("one an a ein eine einen einem einer un une una uno um uma een één")
# Words that are numbers, and more often something else: "sei" (you are), "neuf" (new), "achten" (respect), third
# parties, rooms, days of the week. Alone and without a unit they are none in an answer.
_OTHER_SENSES = listed(
    """sei neuf achte achten dritte dritter dritten terceros terceras terceiros terceiras terzi cuarto cuartos
    quarto quartos quarti quarta quinta sexta"""
)
_COUNTED_OFF = listed("lugar luogo lieu")  # "en tercer lugar" counts what the text itself lists
_LEAST_ORDINAL = 3  # "first" and "second" are seldom a place in an order
_CLASSES = listed("party parties class rate hand person")  # third-party, third-class
_PLACES = listed(
    "of floor storey place position birthday anniversary edition president amendment street avenue century"
)
_PLACE = Unit(dimension="place")  # of an ordinal that may be seconds: a bare 32 would hold 32 seconds

STARTS = _ONES | fractions.STARTS  # lower-case words that may begin a number, besides those of `numerals`


def worded(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Readings, int] | None:
    """The number that begins with the word at token `i`, in its readings, and the token after it."""
    word = tokens.word(i)
    read = numerals.at(i)
    if word in fractions.STARTS and (found := fractions.fraction_in_words(tokens, i, source=source)):
        return found
    if word in _ONES and not (read and read.ordinal) and (read is None or read.after == i + 1):
        found = _one(tokens, i, source=source)
        if found or read is None or (word != "one" and not added(tokens, i + 1)[0]):
            return found
    if read is None:
        return None
    return (_ordinal if read.ordinal else _cardinal)(tokens, i, read, source=source)


def _cardinal(tokens: Tokens, i: int, read: Numeral, *, source: bool) -> tuple[Readings, int] | None:
    word = tokens.word(i)
    value, after, step, _ = read
    part = after + 1 if tokens.hyphen(after) else after
    piece = tokens.word(part)
    if piece in PLURAL_PARTS or (value == 1 and piece in PARTS):
        return fractions.shares(tokens, value / PARTS[piece], part + 1, source=source)
    fraction, end = added(tokens, after)
    if fraction:
        value, step, after = value + step * fraction, step * fraction, end
        if (scale := SCALES.get(tokens.word(after))) and tokens.gap(after) == " ":
            value, step, after = value * scale, step * scale, after + 1
    units, following = unit_after(tokens, after)
    if not units and not source and (value == 1 or (after == i + 1 and word in _OTHER_SENSES)):
        return None
    return quantities(((value, step),), units or (None,), negative=is_negative(tokens, i)), following


def _ordinal(tokens: Tokens, i: int, read: Numeral, *, source: bool) -> tuple[Readings, int] | None:
    word, before = tokens.word(i), tokens.word(i - 1)
    if seconds := _seconds(tokens, i, read):
        return seconds, read.after
    if read.value < _LEAST_ORDINAL or (not source and (_classifies(tokens, i) or word in _OTHER_SENSES)):
        return None
    place = Quantity(number=read.value, step=1.0)
    if word in PARTS and (source or before in {"a", "an"}):
        part = tokens.word(read.after) == "of" and fractions.of_whole(
            tokens, 1 / PARTS[word], read.after, source=source
        )
        if part and not source:
            return part
        return (*(part[0] if part else ()), share(1 / PARTS[word]), place), read.after
    return (place,), read.after


def _seconds(tokens: Tokens, i: int, read: Numeral) -> Readings:
    """The readings of "thirty-second" where it may be 30 seconds: with an article only those, else also the place."""
    last, following = read.after - 1, tokens.word(read.after)
    if last == i or tokens.word(last) != "second" or tokens.word(last - 1) == "and" or following in _PLACES:
        return ()
    number = read.value - 2
    seconds = quantities(((number, step_of(number)),), UNITS["second"])
    if tokens.word(i - 1) in {"a", "an"}:
        return seconds
    return (*seconds, Quantity(number=read.value, step=1.0, unit=_PLACE))


def _classifies(tokens: Tokens, i: int) -> bool:
    """Whether an ordinal says of which kind something is, or counts what the text itself lists."""
    return (tokens.hyphen(i + 1) and tokens.word(i + 2) in _CLASSES) or _numbers_a_list(tokens, i)


def _numbers_a_list(tokens: Tokens, i: int) -> bool:
    """Whether an ordinal counts what the text itself lists: "Third, …", "a third theory"."""
    before = tokens.word(i - 1)
    if before == "another" or (before in _ONES and before != "one" and tokens.word(i + 1) != "of"):
        return True
    if tokens.word(i + 1) in _COUNTED_OFF:
        return True
    return tokens.raw(i)[0].isupper() and tokens.gap(i + 1).startswith(",")


def _one(tokens: Tokens, i: int, *, source: bool) -> tuple[Readings, int] | None:
    """The number "one" before a unit. In a source, an article before a unit is also 1."""
    word = tokens.word(i)
    units, after = unit_after(tokens, i + 1)
    if not units or (word != "one" and not source):
        return None
    return quantities(((1.0, 1.0),), units), after
