"""One text for one value: the JSON Canonicalization Scheme of RFC 8785, as UTF-8 bytes.

pydantic-core's encoder writes nearly all there is as the RFC wants it, and several times as fast as the standard
library's. What has numbers that it writes otherwise goes through that one, whose numbers are put right in one pass.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from json.encoder import encode_basestring

from pydantic_core import PydanticSerializationError, to_json

from monitor.core.model import Json

LARGEST_INTEGER = 2**53  # beyond it a double, which RFC 8785 has numbers be, does not hold every integer
_POSITIONAL = 21  # digits before the point up to which ECMAScript writes no exponent
_SMALLEST_POSITIONAL = -6  # and the same for zeros behind the point

# Whatever is written as it should be, and the next number that may not be. It is matched from the end of the last match
# on, never searched for: it could begin within a text.
_NEXT = re.compile(
    r"""(
        (?: [^"0-9-]++  # what stands between, and the literals
          | "[^"\\]*+(?:\\.[^"\\]*+)*+"
          | -?[0-9]{1,15}+(?![0-9])(?:\.(?!0(?![0-9]))[0-9]++)?(?![.e])  # a number that both write the same
        )*+
    )
    (-?[0-9]++(?:\.[0-9]++)?+(?:e[-+][0-9]++)?+)""",
    re.DOTALL | re.VERBOSE,
)
_HIGH = re.compile(rb"[\xee-\xf4]")  # of keys with these, sorting by code points is not that of RFC 8785
_AS_THEY_ARE = frozenset({str, bool, type(None)})
_SMALLEST_SAME = 1e-4  # below it the encoder writes exponents where ECMAScript writes zeros
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
_BEHIND_SURROGATES = re.compile("[\ue000-\uffff]")  # before every astral character, but after it in UTF-16

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode
_encode_as_it_is = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode


class _Otherwise(Exception):
    """A number that the quick encoder does not write as it should be."""


def canonical(value: Json) -> bytes:
    """`value` as RFC 8785 writes it: keys by UTF-16 code units, numbers as ECMAScript's, no white space.

    Raises:
        ValueError: NaN, an infinity, an integer beyond 2**53, or a lone surrogate: I-JSON has none of them.
    """
    if isinstance(value, str):  # this and the next are most of what is committed to
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
    """`value` with its keys in order, and without numbers that the encoder writes otherwise than ECMAScript.

    Raises:
        _Otherwise: it has numbers that cannot be so.
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
    """The same of any value, by the standard library's encoder."""
    text = _encode(value)
    if not text.isascii() and _ASTRAL.search(text) and _BEHIND_SURROGATES.search(text):
        text = _encode_as_it_is(_in_order(value))
    return "".join(_put_right(text)).encode()


def _in_order(value: Json) -> Json:
    """The same with the keys of every object in the order of their UTF-16 code units."""
    if isinstance(value, dict):
        names = sorted(value, key=lambda name: name.encode("utf-16-be"))
        return {name: _in_order(value[name]) for name in names}
    if isinstance(value, list):
        return [_in_order(item) for item in value]
    return value


def _put_right(text: str) -> Iterator[str]:
    """`text` in pieces, its numbers as ECMAScript writes them."""
    at = 0
    while found := _NEXT.match(text, at):
        yield found[1]
        yield _number(found[2])
        at = found.end()
    yield text[at:]


def _number(text: str) -> str:
    if "e" in text:
        return _without_exponent(text)
    if text.endswith(".0"):  # repr has 16 digits before the point at most
        return text[:-2] if text != "-0.0" else "0"
    if "." not in text and abs(int(text)) > LARGEST_INTEGER:
        raise ValueError(f"{text} is beyond 2**53: canonical JSON has no such integer")
    return text


def _without_exponent(text: str) -> str:
    """Number::toString of ECMA-262 for what Python writes with an exponent; it may keep one."""
    sign = "-" if text[0] == "-" else ""
    mantissa, _, exponent = text.removeprefix("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = whole + fraction
    point = len(whole) + int(exponent)  # how many of the digits stand before it
    if len(digits) <= point <= _POSITIONAL:
        return sign + digits + "0" * (point - len(digits))
    if _SMALLEST_POSITIONAL < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if fraction:
        fraction = f".{fraction}"
    return f"{sign}{whole}{fraction}e{point - 1:+d}"
