"""The JSON Canonicalization Scheme of RFC 8785, which gives each value exactly one form, as UTF-8 bytes.

pydantic-core's encoder writes nearly all values as the RFC demands, and several times as fast as the standard library.
Values with numbers that it writes differently go through the standard library's encoder, and one pass corrects them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.encoder import encode_basestring

from pydantic_core import PydanticSerializationError, to_json

from monitor.core.model import Json

LARGEST_INTEGER = 2**53  # numbers are doubles in RFC 8785, which do not hold every integer beyond
_POSITIONAL = 21  # digits before the point up to which ECMAScript writes no exponent
_SMALLEST_POSITIONAL = -6  # zeros after the point up to which ECMAScript writes no exponent

# Everything up to, and with, the next number that may need correction. Matched from the end of the last match, never
# searched for: a search could begin within a text.
_NEXT = re.compile(
    r"""(
        (?: [^"0-9-]++  # separators and literals
          | "[^"\\]*+(?:\\.[^"\\]*+)*+"
          | -?[0-9]{1,15}+(?![0-9])(?:\.(?!0(?![0-9]))[0-9]++)?(?![.e])  # a number that both encoders write the same
        )*+
    )
    (-?[0-9]++(?:\.[0-9]++)?+(?:e[-+][0-9]++)?+)""",
    re.DOTALL | re.VERBOSE,
)
_HIGH = re.compile(rb"[\xee-\xf4]")  # keys with these sort differently by code points than in RFC 8785
_AS_THEY_ARE = frozenset({str, bool, type(None)})
_SMALLEST_SAME = 1e-4  # below, the encoder writes exponents where ECMAScript writes zeros
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
# they precede astral characters by code point, and follow them in UTF-16
_BEHIND_SURROGATES = re.compile("[\ue000-\uffff]")

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode
_encode_as_it_is = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode


class _Otherwise(Exception):
    """The value holds a number that the fast encoder writes differently."""


def canonical(value: Json) -> bytes:
    """`value` in the form of RFC 8785: keys ordered by UTF-16 code units, ECMAScript numbers, no white space.

    Raises:
        ValueError: NaN, an infinity, an integer beyond 2**53, or a lone surrogate, none of which I-JSON allows.
    """
    if isinstance(value, str):  # this and the next are most of the committed values
        return encode_basestring(value).encode()
    if value is None:
        return b"null"
    try:
        written = to_json(_ready(value))
    except _Otherwise:
        return _slowly(value)
    except PydanticSerializationError as error:
        raise ValueError(str(error)) from None
    if not written.isascii() and _HIGH.search(written):
        return _slowly(value)
    return written


def _ready(value: Json) -> Json:
    """`value` with its keys in order, and with numbers that the fast encoder writes as ECMAScript does.

    Raises:
        _Otherwise: it has numbers for which that is impossible.
    """
    kind = type(value)
    if kind is dict:
        of: dict[str, Json] = value  # type: ignore[assignment]
        return {name: item if type(item := of[name]) in _AS_THEY_ARE else _ready(item) for name in sorted(of)}
    if kind is list:
        return [item if type(item) in _AS_THEY_ARE else _ready(item) for item in value]  # type: ignore[union-attr]
    if kind is float:
        if _SMALLEST_SAME <= abs(value) < LARGEST_INTEGER:  # type: ignore[arg-type]
            return int(value) if value.is_integer() else value  # type: ignore[union-attr,arg-type]
        if value == 0:
            return 0
    elif kind is int and -LARGEST_INTEGER <= value <= LARGEST_INTEGER:  # type: ignore[operator]
        return value
    if kind in _AS_THEY_ARE:
        return value
    raise _Otherwise


def _slowly(value: Json) -> bytes:
    """The canonical form of any value, by the standard library's encoder."""
    text = _encode(value)
    if not text.isascii() and _ASTRAL.search(text) and _BEHIND_SURROGATES.search(text):
        text = _encode_as_it_is(_in_order(value))
    return "".join(_put_right(text)).encode()


def _in_order(value: Json) -> Json:
    """`value` with the keys of every object in the order of their UTF-16 code units."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return {name: _in_order(value[name]) for name in names}
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    return value


def _put_right(text: str) -> Iterator[str]:
    """`text` in pieces, with numbers as ECMAScript writes them."""
    at = 0
    while found := _NEXT.match(text, at):
        yield found[1]
        yield _number(found[2])
        at = found.end()
    yield text[at:]


def _number(text: str) -> str:
    if "e" in text:
        return _without_exponent(text)
    if text.endswith(".0"):  # repr has at most 16 digits before the point
        return text[:-2] if text != "-0.0" else "0"
    if "." not in text and abs(int(text)) > LARGEST_INTEGER:
        raise ValueError(f"{text} is beyond 2**53: canonical JSON has no such integer")
    return text


def _without_exponent(text: str) -> str:
    """Number::toString of ECMA-262 for a number that Python writes with an exponent; the result may have one too."""
    sign = "-" if text[0] == "-" else ""
    mantissa, _, exponent = text.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + int(exponent)  # how many of the digits are before it
    if len(digits) <= point <= _POSITIONAL:
        return sign + digits + "0" * (point - len(digits))
    if _SMALLEST_POSITIONAL < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if fraction:
        fraction = f".{fraction}"
    return f"{sign}{whole}{fraction}e{point - 1:+d}"
