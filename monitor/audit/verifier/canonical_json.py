"""JSON, and its canonical form (RFC 8785)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

LARGEST_INTEGER = 2**53
DIGITS_BEFORE, ZEROS_BEHIND = 21, 6  # around the point, up to which ECMAScript writes no exponent


def read_json(text: str) -> Any:
    """The value of a JSON text, with numbers as doubles; refuses repeated keys and anything that is not JSON."""

    def integer(digits: str) -> float:
        return float(digits) if abs(float(digits)) > LARGEST_INTEGER else int(digits)

    def unique(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            raise ValueError("a key is repeated")
        return made

    def refused(word: str) -> None:
        raise ValueError(f"{word} is not JSON")

    return json.loads(text, parse_int=integer, parse_constant=refused, object_pairs_hook=unique)


def canonical(value: Any) -> str:
    """`value` in the form of RFC 8785."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(name)}:{canonical(value[name])}" for name in names) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return number(float(value))
    return json.dumps(value, ensure_ascii=False)


def number(value: float) -> str:
    """A double as ECMAScript writes it: its shortest digits, with an exponent from 1e21 on and below 1e-6."""
    if value - value != 0:
        raise ValueError("a number is too large for a double")
    if value <= 0:
        return f"-{number(-value)}" if value else "0"
    mantissa, _, exponent = repr(value).partition("e")
    whole, _, fraction = mantissa.partition(".")
    padded = (whole + fraction).lstrip("0")
    digits = padded.rstrip("0")
    before = len(padded) - len(fraction) + int(exponent or 0)  # the number of digits before the point
    if len(digits) <= before <= DIGITS_BEFORE:
        return digits + "0" * (before - len(digits))
    if 0 < before <= DIGITS_BEFORE:
        return f"{digits[:before]}.{digits[before:]}"
    if -ZEROS_BEHIND < before <= 0:
        return f"0.{'0' * -before}{digits}"
    rest = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{digits[0]}{rest}e{before - 1:+d}"
