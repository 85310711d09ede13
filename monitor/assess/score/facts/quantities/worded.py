"""Reads quantities whose number is in words, with fractions, halves and articles."""

from __future__ import annotations

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities.numerals import SCALES, Numeral, Numerals, step_of
from monitor.assess.score.facts.quantities.quantity import Quantity, Readings, is_negative, quantities, share
from monitor.assess.score.facts.quantities.units import UNITS, Unit, unit_after
from monitor.assess.score.facts.tokens import Tokens

_ONES = listed("one an a ein eine einen einem einer un une una uno um uma een één half")
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
# Not in the feminine, which says the time: "las dos y media".
_HALVES = frozenset(
    (("and", "a", "half"), ("y", "medio"), ("et", "demi"), ("e", "meio"), ("e", "mezzo"), ("en", "een", "half"))
)
_HALVES_OF_UNIT = _HALVES | {("y", "media"), ("et", "demie"), ("e", "meia"), ("e", "mezza")}
_PARTS = {"half": 2, "halves": 2, "third": 3, "thirds": 3, "quarter": 4, "quarters": 4, "fourths": 4, "fifth": 5}
_PARTS |= {"fifths": 5, "sixth": 6, "eighth": 8, "tenth": 10, "tenths": 10}
_PARTS |= dict.fromkeys(("drittel", "tercios", "terços", "terzi"), 3)
_PARTS |= {"viertel": 4, "quarts": 4, "fünftel": 5, "zehntel": 10}
_SIDES = listed("first second other latter former upper lower left right")  # words before a "half" that is no number
_PLURAL_PARTS = listed(
    """halves thirds quarters fourths fifths sixth eighth tenth tenths drittel viertel fünftel zehntel quarts
    tercios terços terzi"""
)

STARTS = _ONES  # lower-case words that may begin a number, besides those of `numerals`


def worded(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Readings, int] | None:
    word = tokens.word(i)
    read = numerals.at(i)
    if read and read.ordinal:
        return _ordinal(tokens, i, read, source=source)
    if word in _ONES and (read is None or read.after == i + 1):
        found = _one(tokens, i, source=source)
        if found or read is None or (word != "one" and not _half_after(tokens, i + 1)):
            return found
    if read is None:
        return None
    value, after, step, _ = read
    part = after + 1 if tokens.hyphen(after) else after
    piece = tokens.word(part)
    if piece in _PLURAL_PARTS or (value == 1 and piece in _PARTS):
        return (share(value / _PARTS[piece]),), part + 1
    if half := _half_after(tokens, after):
        value, step, after = value + step / 2, step / 2, after + half
        if (scale := SCALES.get(tokens.word(after))) and tokens.gap(after) == " ":
            value, step, after = value * scale, step * scale, after + 1
    units, following = unit_after(tokens, after)
    if not units and not source and (value == 1 or (after == i + 1 and word in _OTHER_SENSES)):
        return None
    return quantities(((value, step),), units or (None,), negative=is_negative(tokens, i)), following


def _half_after(tokens: Tokens, i: int) -> int:
    """How many tokens say "and a half" from token `i` on."""
    words = (tokens.word(i), tokens.word(i + 1), tokens.word(i + 2))
    return next((length for length in (2, 3) if words[:length] in _HALVES), 0)


def half_of_unit(tokens: Tokens, i: int) -> int:
    """How many tokens say "and a half" from token `i` on, after a unit; not in "and a half-price ticket"."""
    words = (tokens.word(i), tokens.word(i + 1), tokens.word(i + 2))
    length = next((length for length in (2, 3) if words[:length] in _HALVES_OF_UNIT), 0)
    return 0 if tokens.hyphen(i + length) else length


def _ordinal(tokens: Tokens, i: int, read: Numeral, *, source: bool) -> tuple[Readings, int] | None:
    word, before = tokens.word(i), tokens.word(i - 1)
    if seconds := _seconds(tokens, i, read):
        return seconds, read.after
    if read.value < _LEAST_ORDINAL or (not source and (_classifies(tokens, i) or word in _OTHER_SENSES)):
        return None
    place = Quantity(number=read.value, step=1.0)
    if word in _PARTS and (source or before == "a"):
        return (share(1 / _PARTS[word]), place), read.after
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
    """The numbers "one" and "half", before a unit or of something. In a source, an article before a unit is also 1."""
    word = tokens.word(i)
    if word == "half":
        side = tokens.word(i - 1) in _SIDES
        of_unit = tokens.word(i + 1) in {"a", "an"} and tokens.gap(i + 1).isspace() and tokens.gap(i + 2).isspace()
        if of_unit and not side and (units := UNITS.get(tokens.word(i + 2), ())):
            return quantities(((0.5, 0.5),), units), i + 3
        part = tokens.word(i + 1) in {"of", "the"} and not side
        return ((share(0.5),), i + 1) if source or part else None
    units, after = unit_after(tokens, i + 1)
    if not units or (word != "one" and not source):
        return None
    return quantities(((1.0, 1.0),), units), after
