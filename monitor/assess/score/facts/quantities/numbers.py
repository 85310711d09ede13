"""Reads quantities: numbers in figures or words with their unit, in every reading that their form allows."""

from __future__ import annotations

import unicodedata
from dataclasses import replace

from monitor.assess.score.facts.language import listed
from monitor.assess.score.facts.quantities import fractions
from monitor.assess.score.facts.quantities.han import han, mixed
from monitor.assess.score.facts.quantities.numerals import SCALES, Numerals
from monitor.assess.score.facts.quantities.quantity import Quantity, Readings, is_negative, quantities, share, with_sign
from monitor.assess.score.facts.quantities.separators import GROUP, Values, amount, figures
from monitor.assess.score.facts.quantities.units import UNITS, VERSION, Unit, is_money, unit_after, unit_before
from monitor.assess.score.facts.quantities.worded import worded
from monitor.assess.score.facts.tokens import FIGURES, HALF, Tokens

LONGEST = 30  # figures; a longer run is at best an identifier
_MULTIPLIERS = {"k": 1e3, "K": 1e3, "M": 1e6, "m": 1e6, "mn": 1e6, "bn": 1e9, "B": 1e9, "tn": 1e12, "T": 1e12}
_SUFFIXES = frozenset(("st", "nd", "rd", "th", "er", "ère", "ème", "e", "º", "ª", "o", "a"))
_ABOUT = listed(
    """about around approximately approx roughly nearly almost some circa ca over under exceeding etwa ungefähr rund
    fast knapp gut über environ presque quasiment alrededor aproximadamente casi unos unas cerca quase
    quasi ongeveer bijna ruim ~ ≈"""
)
_COMPARED = frozenset(
    ("more", "less", "fewer", "greater", "higher", "mehr", "weniger", "plus", "moins", "más", "menos")
)
_THAN = frozenset(("than", "als", "de", "que", "di", "of"))
_COUNTRIES = frozenset(("US", "R", "A", "C", "CA", "AU", "NZ", "HK", "SG"))
_VERSIONS = listed(  # these words, and products whose numbers are versions
    """version versions release releases versión versiones versão versões versione versioni versie python java ios
    android macos windows ubuntu debian php ruby node kubernetes postgresql mysql django tls"""
)
_BETWEEN = frozenset(("$", "€", "£", "¥", "usd", "eur", "a"))  # tokens allowed between such a word and the number
_ABOUT_UNSPACED = ("约", "約", "大约", "およそ", "左右")
_SCALES = frozenset(SCALES.values())
_RANGE = frozenset(("-", "–", "—", "to", "bis", "tot", "à", "a", "and", "und", "et", "y", "e", "or", "oder", "ou", "o"))
_DASHES = frozenset("-–—")
_DOTS = ("...", "…", "..")
_SIGNS = ("-", "−", "–", "+")
# Characters that must follow a Chinese numeral for it to be a count and not part of a word (一般, 统一).
_COUNTED = frozenset("天日月年个個小分秒周週元円人次台名歳岁倍割%米公千克升度点件本枚回种種項项位条款页名星美ヶか")
_NO_COUNT = frozenset(("千万", "万一", "一一", "一", "万", "千", "百", "十", "零"))


def number(tokens: Tokens, i: int, numerals: Numerals, *, source: bool) -> tuple[Readings, int] | None:
    """The number at token `i` with everything that belongs to it, and the token after it.

    A source is read generously: "one", "a month" and the pieces of a list count there.
    """
    kind = tokens.kind(i)
    found: tuple[Readings, int] | None = None
    if kind in FIGURES:
        found = _figures(tokens, i, english=numerals.english, source=source)
    elif kind == "word":
        found = worded(tokens, i, numerals, source=source)
    elif kind == "fraction":
        value = 0.5 if tokens.raw(i) == HALF else unicodedata.numeric(tokens.raw(i))
        found = fractions.shares(tokens, value, i + 1, source=source)
    elif kind == "han":
        found = _chinese(tokens, i, source=source)
    if found is None:
        return None
    readings, after = found
    more, end = fractions.added_to_unit(tokens, after)
    if more and all(q.unit and q.step >= 1 for q in readings):  # an hour and a half
        readings, after = tuple(replace(q, number=q.number + more, step=0.5) for q in readings), end
    if after == i + 1 and "." in tokens.raw(i) and tokens.word(i - 1) in _VERSIONS:
        readings = tuple(replace(q, unit=q.unit or VERSION) for q in readings)
    if _about(tokens, i):
        readings = tuple(replace(q, about=True) for q in readings)
    return readings, after


def range_end(tokens: Tokens, i: int) -> int | None:
    """The token of the second number of a range whose first number ends before token `i` ("10-20", "10 to 20 days")."""
    word = tokens.word(i)
    if tokens.gap(i).strip() in _DOTS:
        return _unsigned(tokens, i)
    if word not in _RANGE:
        return None
    end = _unsigned(tokens, i + 1)
    return None if word in _DASHES and tokens.glued(i) and not tokens.glued(i + 1) else end


def _unsigned(tokens: Tokens, i: int) -> int | None:
    """The number at token `i`, or right after the sign there."""
    if tokens.raw(i) in _SIGNS and tokens.glued(i + 1):
        i += 1
    return i if tokens.kind(i) in FIGURES or tokens.kind(i) == "word" else None


def inherit(readings: Readings, second: Readings, *, negative: bool, source: bool) -> Readings:
    """The first number of a range with the unit and the scale ("million") of the second, if it has none of its own.

    A source has it also as it stands, but not 5 for "between -5 and 10 °C".
    """
    scale = max((q.step for q in second if q.step in _SCALES), default=1.0)
    if scale > 1 and all(q.step == 1 for q in readings):  # "5 to 10 million"
        scaled = tuple(replace(q, number=q.number * scale, step=scale) for q in readings)
        readings = readings + scaled if source else scaled
    units = {q.unit: None for q in second if q.unit}
    if not units or any(q.unit for q in readings):
        return readings
    inherited = with_sign(tuple(replace(q, unit=unit) for q in readings for unit in units), negative=negative)
    below_zero = any(q.number < 0 for q in inherited)
    return readings + inherited if source and not below_zero else inherited


def after_currency(tokens: Tokens, i: int) -> int | None:
    """The token of the number after the currency at token `i` ("$5", "US$5", "EUR 5")."""
    country = tokens.raw(i + 1) == "$" and tokens.raw(i) in _COUNTRIES
    at = i + 1 if country and (tokens.glued(i + 1) or tokens.raw(i) == "US") else i
    if tokens.raw(at) in _DASHES or tokens.kind(at + 1) not in FIGURES:
        return None
    return at + 1 if unit_before(tokens, at + 1) else None


def _figures(tokens: Tokens, i: int, *, english: bool, source: bool) -> tuple[Readings, int] | None:
    raw = tokens.raw(i)
    if len(raw) > LONGEST:
        return None
    if tokens.raw(i + 1) == "/" and (part := _part(tokens, i, raw, source=source)):
        return part
    values = figures(raw, english=english, source=source)
    after = i + 1
    if mixed := fractions.mixed(tokens, i):
        values = tuple((value + mixed[0], 0.01) for value, _ in values)
        after = mixed[1]
    elif tokens.glued(after) and tokens.word(after) in _SUFFIXES and tokens.raw(after).islower():
        return quantities(values, (None,)), after + 1
    multiplied, after = _multiplied(tokens, values, after)
    units: tuple[Unit, ...] = unit_before(tokens, i)
    if not units:
        units, after_unit = unit_after(tokens, after)
        if after_unit > after:
            plain = multiplied is not values and tokens.raw(after - 1) == "m"
            after = after_unit
            multiplied = values if plain else multiplied
    if multiplied is values and is_money(units):
        multiplied = values = amount(values, raw, english=english)
    if multiplied is not values and tokens.raw(after - 1) == "m" and not units:  # 5m: million, metres, minutes
        return quantities(multiplied, (None,)) + quantities(values, UNITS["m"]), after
    return quantities(multiplied, units or (None,), negative=is_negative(tokens, i)), after


def _multiplied(tokens: Tokens, values: Values, i: int) -> tuple[Values, int]:
    """The values times the "million", "k" or 万 after them."""
    factor = 0.0
    raw = tokens.raw(i)
    if tokens.kind(i) == "word" and tokens.gap(i) in {"", " ", "\u00a0"}:
        factor = SCALES.get(raw.lower(), 0.0)
        if not factor and raw in _MULTIPLIERS and (tokens.glued(i) or raw == "M"):
            factor = _MULTIPLIERS[raw]
        elif raw.lower() == "hundred":
            factor = 100.0
    elif tokens.raw(i) == "-" and tokens.glued(i) and tokens.glued(i + 1) and tokens.word(i + 1) in SCALES:
        factor = SCALES[tokens.word(i + 1)]
        i += 1
    elif tokens.kind(i) == "han" and tokens.glued(i) and (read := mixed(tokens.text, tokens.start(i - 1))):
        value, step, end = read
        return ((value, step),), tokens.from_character(i, end)
    if not factor:
        return values, i
    i += 1
    if factor == SCALES["mil"] and tokens.gap(i) == " " and SCALES.get(tokens.word(i), 0.0) > factor:  # 2 mil millones
        factor *= SCALES[tokens.word(i)]
        i += 1
    return tuple((value * factor, step * factor) for value, step in values), i


def _part(tokens: Tokens, i: int, raw: str, *, source: bool) -> tuple[Readings, int] | None:
    """Fractions such as 1/2, but not 24/7. In a source its figures also count one by one."""
    over = tokens.raw(i + 2)
    if not (tokens.glued(i + 1) and tokens.glued(i + 2)) or tokens.kind(i + 2) != "digits":
        return None
    if len(over) > GROUP or not raw.isdigit() or not 0 < int(raw) < int(over):
        return None
    apart = tuple(Quantity(number=float(figure), step=1.0) for figure in (raw, over)) if source else ()
    readings, after = fractions.shares(tokens, int(raw) / int(over), i + 3, source=source)
    return (*readings, *apart), after


def _chinese(tokens: Tokens, i: int, *, source: bool) -> tuple[Readings, int] | None:
    written = tokens.raw(i)
    at = tokens.end(i)
    if tokens.text.startswith("分之", at) and (part := _part_of(tokens, i)):
        return part
    counted = tokens.text[at : at + 1] in _COUNTED and tokens.text[at : at + 1]
    if not counted and (written in _NO_COUNT or (len(written) == 1 and not source)):
        return None
    very = written == "十" and counted == "分" and tokens.text[at + 1 : at + 2] not in {"钟", "鐘", "間"}
    half = 0.5 if tokens.raw(i + 1) == HALF and tokens.gap(i + 1) in {"", "个", "個"} else 0.0  # 一个半小时
    if very or (written == "一" and not source and not half and tokens.text[at : at + 1] in "个個点些次"):
        return None
    value = han(written)
    if value is None:
        return None
    units, after = unit_after(tokens, i + 2 if half else i + 1)
    return quantities(((value + half, 1.0 - half),), units or (None,)), after


def _part_of(tokens: Tokens, i: int) -> tuple[Readings, int] | None:
    """Percentages and fractions in Chinese and Japanese words, such as 百分之二十 and 四分之三."""
    whole, raw = han(tokens.raw(i)), tokens.raw(i + 1)
    part = float(raw) if tokens.kind(i + 1) == "digits" and len(raw) <= GROUP else han(raw) if raw else None
    if not whole or part is None or tokens.start(i + 1) != tokens.end(i) + len("分之"):
        return None
    return (share(part / whole),), i + 2


def _about(tokens: Tokens, i: int) -> bool:
    """Whether the text calls the number at token `i` approximate or a bound."""
    before = tokens.word(i - 1)
    if before in _BETWEEN:
        i -= 1
        before = tokens.word(i - 1)
    if before in _ABOUT or (before in _THAN and tokens.word(i - 2) in _COMPARED):
        return True
    return not tokens.text.isascii() and tokens.gap(i).endswith(_ABOUT_UNSPACED)
