"""Reads figures with commas and points, in each reading that their form and what is known of their text allow."""

from __future__ import annotations

import re

Values = tuple[tuple[float, float], ...]  # the readings of a number, as (value, place value of its last digit)

GROUP = 3  # figures between two separators of thousands
_SPACES = {ord(c): None for c in " \u00a0\u2009\u202f'’"} | str.maketrans("⁻−⁰¹²³⁴⁵⁶⁷⁸⁹", "--0123456789")
_POWER = re.compile(r"(?:([\d.,]+)(?:[eE]|[×x·*]10\^?)|10\^)([+-]?\d+)")  # 1.5e6, 1.5 × 10^6, 1.5 × 10⁶, 10^6
_GROUPED = re.compile(r"[1-9]\d{0,2}([,.])\d{3}(?:\1\d{3})*(?:(?!\1)[,.]\d+)?")


def figures(raw: str, *, english: bool, source: bool) -> Values:
    """The readings of figures in a text. In a source, those of a list without spaces are also read one by one."""
    values = _by_form(raw)
    if source and "," in raw:
        values += tuple((float(piece), 1.0) for piece in raw.split(",") if piece.isdigit())
    return _thousands(values) if _groups(raw, english=english) else values


def amount(values: Values, raw: str, *, english: bool) -> Values:
    """Of the readings of figures, those that an amount of money can have: no price has three decimals.

    A point in an English text is left open: an exchange rate has as many decimals, and a German price may be quoted.
    """
    form = _GROUPED.fullmatch(raw)
    return _thousands(values) if form and (form[1] == "," or not english) else values


def _thousands(values: Values) -> Values:
    """Of the readings, the one in which marks stand for thousands; it is the greatest."""
    return (max(values),)


def _groups(raw: str, *, english: bool) -> bool:
    """Whether the first mark of the figures stands for thousands and nothing else.

    In English a comma before three figures does; in every language one before three zeros does.
    """
    form = _GROUPED.fullmatch(raw) if "," in raw else None
    return form is not None and form[1] == "," and (raw.endswith(",000") or (english and raw.count(",") == 1))


def _by_form(raw: str) -> Values:
    """The readings of figures by their form: 1,234 is 1234 or 1.234, and 1.5e6 is 1,500,000."""
    plain = raw.translate(_SPACES)
    if power := _POWER.fullmatch(plain):
        by = 10.0 ** int(power[2])
        return tuple((value * by, step * by) for value, step in _by_form(power[1] or "1"))
    comma, point = plain.rfind(","), plain.rfind(".")
    if comma < 0 and point < 0:
        return ((float(plain), 1.0),)
    last = max(comma, point)
    mark = plain[last]
    decimal = plain[:last].replace(",", "").replace(".", "") + "." + plain[last + 1 :]
    as_decimal = (float(decimal), 10.0 ** -(len(plain) - last - 1))
    if min(comma, point) >= 0:
        return (as_decimal,)
    whole = (float(plain.replace(mark, "")), 1.0)
    if plain.count(mark) > 1:
        return (whole,)
    if len(plain) - last - 1 == GROUP and 0 < last <= GROUP and plain[0] != "0":
        return (whole, as_decimal) if mark == "," else (as_decimal, whole)
    return (as_decimal,)
