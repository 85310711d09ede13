"""The JSON Canonicalization Scheme of RFC 8785, which gives each value exactly one form, as UTF-8 bytes.

orjson writes sorted objects many times as fast as the standard library, and nearly all values as the RFC demands. What
it wrote is looked through for numbers and keys that the RFC may want otherwise; if there may be any, the standard
library's encoder writes the value, and one pass corrects its numbers.

orjson sorts keys by code points and writes numbers with their shortest digits, so all that it can write differently are
numbers with an exponent, whole doubles (`1.0`), integers beyond 2**53, and the order of keys of which one has a
character beyond U+FFFF and another one from U+E000 on.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from json.encoder import encode_basestring

import orjson

from monitor.core.model import Json

TOO_DEEP = "more levels than can be read"
LARGEST_INTEGER = 2**53  # numbers are doubles in RFC 8785, which do not hold every integer beyond
_POSITIONAL = 21  # digits before the point up to which ECMAScript writes no exponent
_SMALLEST_POSITIONAL = -6  # zeros after the point up to which ECMAScript writes no exponent

# The `.0` of a whole double of one digit that is the value of a key. The quote ends the key: in what orjson writes, one
# that begins a text follows one of `{[:,`, and one within a text a backslash. So what follows it is no text.
_WHOLE = re.compile(rb"""\.0(?<=[^{\[:,\\]":[0-9]\.0)(?=[,}])""")
# Within an object or array: numbers that the RFC may want otherwise, or pieces of a text that look like one.
_WHOLE_DOUBLE = re.compile(rb"""\.0(?=[],}])""")
_SMALL = re.compile(rb"""-(?<=[0-9]e-)[0-9]+(?=[],}])""")
_LARGE = re.compile(rb"""\+(?<=[0-9]e\+)[0-9]+(?=[],}])""")
_SAME_KIND = bytes(ord("0") if byte in b"0123456789" else ord(":") if byte in b":,[-" else byte for byte in range(256))
_LONG_INTEGER = b":" + 16 * b"0"  # perhaps beyond 2**53, in what `_SAME_KIND` makes of what was written
_FROM_E000 = re.compile(rb"[\xee\xef]")  # with these two, keys may sort differently by code points than in UTF-16
_BEYOND_FFFF = re.compile(rb"[\xf0-\xf4]")
_SCALARS = frozenset({str, int, float, bool, type(None)})
# Everything up to, and with, the next number that may need correction. Matched from the end of the last match, never
# searched for: a search could begin within a text.
_NEXT = re.compile(
    r"""(
        (?: [^"0-9-]++  # separators and literals
          | "[^"\\]*+(?:\\.[^"\\]*+)*+"
          | -?[0-9]{1,15}+(?![0-9])(?:\.(?!0(?![0-9]))[0-9]++)?(?![.e])  # a number that both write the same
        )*+
    )
    (-?[0-9]++(?:\.[0-9]++)?+(?:e[-+][0-9]++)?+)""",
    re.DOTALL | re.VERBOSE,
)
_ASTRAL = re.compile("[\U00010000-\U0010ffff]")
# they precede astral characters by code point, and follow them in UTF-16
_BEHIND_SURROGATES = re.compile("[\ue000-\uffff]")

_encode = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, sort_keys=True, separators=(",", ":"), check_circular=False
).encode
_encode_as_it_is = json.JSONEncoder(
    ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False
).encode


def canonical(value: Json) -> bytes:
    """`value` in the form of RFC 8785: keys ordered by UTF-16 code units, ECMAScript numbers, no white space.

    Raises:
        ValueError: NaN, an infinity, an integer beyond 2**53, or a lone surrogate, none of which I-JSON allows; or more
            levels than Python can take.
    """
    try:
        return canonical_of_json(value) if isinstance(value, str) or is_json(value) else _slowly(value)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def canonical_of_json(value: Json) -> bytes:
    """As `canonical`, and faster, of what a JSON parser returned, which has no NaN, and no types but those of JSON.

    Of a value with anything else the result is not defined: orjson writes NaN as null.
    """
    if isinstance(value, str):  # this and the next are most of the committed values
        return encode_basestring(value).encode()
    if value is None:
        return b"null"
    kind = type(value)
    return ((kind is dict or kind is list) and _quickly(value)) or _slowly(value)


def draft(value: Json) -> bytes:
    """JSON of a value, never that of another value, and nearly always its canonical form.

    Where it is the canonical form of some value, it is that of this one, as in both each JSON text stands for one value
    only. So a stored value is what was sealed where its draft gives the sealed commitment; where it gives another, only
    `canonical` can tell.

    Raises:
        ValueError: as `canonical`, but not for each of its reasons.
    """
    # Objects come from a JSON parser. Arrays of anything else may come from a column whose type somebody changed.
    is_parsed = type(value) is dict or (type(value) is list and len(value) > 0 and type(value[0]) is dict)
    try:
        return _sorted(value) if is_parsed else canonical(value)
    except TypeError:
        return canonical(value)


def is_json(value: Json) -> bool:
    """Whether there is no NaN, no infinity and no type but JSON's own in `value`."""
    kind = type(value)
    if kind is float:
        return math.isfinite(value)  # type: ignore[arg-type]
    if kind is dict:
        return all(map(is_json, value)) and all(map(is_json, value.values()))  # type: ignore[union-attr,arg-type]
    if kind is list:
        return all(map(is_json, value))  # type: ignore[arg-type]
    return kind in _SCALARS


def _quickly(value: Json) -> bytes | None:
    """The canonical form of an object or array, by orjson; None where that may have written it differently."""
    try:
        written = _sorted(value)
    except TypeError:
        return None
    if _WHOLE_DOUBLE.search(written) or _SMALL.search(written) or (b"+" in written and _LARGE.search(written)):
        return None
    if _LONG_INTEGER in written.translate(_SAME_KIND):
        return None
    if not written.isascii() and _FROM_E000.search(written) and _BEYOND_FFFF.search(written):
        return None
    return written


def _sorted(value: Json) -> bytes:
    """What orjson writes of an object or array, with most whole doubles put right.

    Raises:
        TypeError: it has an integer beyond 64 bits, a lone surrogate, or more levels than orjson can take.
    """
    written = orjson.dumps(value, None, orjson.OPT_SORT_KEYS)
    return _WHOLE.sub(b"", written) if b".0" in written else written  # to look for that is many times as fast


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
