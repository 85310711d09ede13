"""Columns as canonical JSON, from the text that PostgreSQL writes: of nearly every value it is that, or close to it.

What might be written in two ways, or like another value, becomes `ODD`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import Any, TypeAlias

import orjson
from psycopg.postgres import types
from sqlalchemy import BigInteger, Boolean, DateTime, Double, Integer, Text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL
from sqlalchemy.types import TypeEngine

from monitor.audit.canonical import canonical, draft
from monitor.audit.record import float4

Texts: TypeAlias = Sequence[str | None]  # the values of a column as PostgreSQL writes them

ODD = "\0"  # in no stored text
NULL = "null"
_NULL_BYTES, _ODD_BYTES = NULL.encode(), ODD.encode()
_BOOLEANS = {"t": "true", "f": "false", None: NULL}
_SECONDS, _MICROSECONDS = len("2026-11-21 12:00:00"), len("2026-11-21 12:00:00.000000")
_UTC = "+00"
_NOT_PLAIN = ('"', "\\", "{", "NULL")  # in the text of an array: quoted words, arrays in it, or perhaps nulls


def jsonb(text: str | None) -> bytes:
    """The canonical form of a value, or something that is that of no value."""
    if text is None:
        return _NULL_BYTES
    try:
        written = draft(orjson.loads(text))
    except ValueError:
        return _ODD_BYTES
    # Keys with a $ may be written otherwise; with an exponent, orjson may have read one integer like another.
    return _ODD_BYTES if b'"$' in written or b"e+" in written else written


def _objects(texts: Texts) -> list[str]:
    return [jsonb(text).decode() for text in texts]


def _strings(texts: Texts) -> list[str]:
    return [NULL if text is None else encode_basestring(text) for text in texts]


def _integers(texts: Texts) -> list[str]:
    return [text or NULL for text in texts]


def _booleans(texts: Texts) -> list[str]:
    return [_BOOLEANS.get(text, ODD) for text in texts]


def _doubles(texts: Texts) -> list[str]:
    return [NULL if text is None else _number(text) for text in texts]


def _number(text: str) -> str:
    """PostgreSQL writes the shortest digits that give the number back, as canonical JSON does."""
    return text if text[-1].isdecimal() and "e" not in text else ODD


def _reals(texts: Texts) -> list[str]:
    return [NULL if text is None else _real(text) for text in texts]


def _real(text: str) -> str:
    if "e" in text:
        return canonical(float4(float(text))).decode()
    return _number(text)


def _times(texts: Texts) -> list[str]:
    return [NULL if text is None else _time(text) for text in texts]


def _time(text: str) -> str:
    at = text.removesuffix(_UTC)
    if at is text or at[10:11] != " " or len(at) > _MICROSECONDS:
        return ODD
    if len(at) == _SECONDS:
        at += "."
    return f'"{at[:10]}T{at[11:].ljust(_MICROSECONDS - 11, "0")}Z"'


def _arrays(texts: Texts) -> list[str]:
    return [NULL if text is None else "[]" if text == "{}" else _array(text) for text in texts]


def _array(text: str) -> str:
    """An array of words that PostgreSQL does not quote."""
    words = text[1:-1]
    is_plain = text.startswith("{") and words.isprintable() and not any(odd in words for odd in _NOT_PLAIN)
    return '["' + words.replace(",", '","') + '"]' if is_plain else ODD


# How the values of a column become JSON, by the number of its type in PostgreSQL.
WRITE: Mapping[int, Callable[[Texts], list[str]]] = {
    types["text"].oid: _strings,
    types["int4"].oid: _integers,
    types["int8"].oid: _integers,
    types["bool"].oid: _booleans,
    types["float8"].oid: _doubles,
    types["float4"].oid: _reals,
    types["timestamptz"].oid: _times,
    types["text"].array_oid: _arrays,
    types["jsonb"].oid: _objects,
}
BYTEA, JSONB_OID = types["bytea"].oid, types["jsonb"].oid
_TYPES: Sequence[tuple[type[TypeEngine[Any]], int]] = (  # the first that fits: BigInteger is an Integer
    (Text, types["text"].oid),
    (BigInteger, types["int8"].oid),
    (Integer, types["int4"].oid),
    (Boolean, types["bool"].oid),
    (REAL, types["float4"].oid),
    (Double, types["float8"].oid),
    (DateTime, types["timestamptz"].oid),
    (ARRAY, types["text"].array_oid),
    (JSONB, types["jsonb"].oid),
)


def oid_of(type_: TypeEngine[Any]) -> int:
    """The number of a column's type in PostgreSQL."""
    return next(oid for its, oid in _TYPES if isinstance(type_, its))
