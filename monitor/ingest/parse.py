"""Parses bytes to one JSON object: stricter than `json` where data could be lost, and safe against hostile input.

Refused beyond what `json` refuses: NaN and infinities (also as 1e999), keys that occur twice, whole numbers longer
than Python reads, nesting deeper than its stack. U+0000 and lone surrogates become U+FFFD: Postgres cannot store them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from monitor.core.assessment_json import storable
from monitor.core.errors import InvalidMessage
from monitor.core.model import Json
from monitor.privacy.masking import redact, redact_head

JsonObject: TypeAlias = dict[str, Json]

_BOM = b"\xef\xbb\xbf"
_SHOWN_CHARS = 80
_PATH_CHARS = 400
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_ESCAPE_OF_UNSTORABLE = re.compile(r"\\u(?:0000|[dD][89a-fA-F])")
_KINDS = {type(None): "null", bool: "a boolean", int: "a number", float: "a number", str: "a string", list: "a list"}


def parse_object(raw: bytes) -> tuple[JsonObject, bool]:
    """The JSON object that `raw` holds as UTF-8 (a byte order mark is let pass), and whether characters were replaced.

    Raises:
        InvalidMessage: it is no such object; `path` is `$`, or the field where that is known.
    """
    text = _text(raw)
    try:
        value = _FAST.decode(text)
    except RecursionError:
        raise InvalidMessage("$", "is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise _not_json(error) from None
    except ValueError:
        raise _flaw(text) from None
    if not isinstance(value, dict):
        raise InvalidMessage("$", f"must be a JSON object, got {kind(value)}")
    # Without such an escape no string can hold these characters: the bytes were UTF-8, and JSON has no raw U+0000.
    if "\\" in text and _ESCAPE_OF_UNSTORABLE.search(text):
        return _storable(value)
    return value, False


def path_of(parts: Sequence[str | int]) -> str:
    """`("retrieved_documents", 2, "text")` as `retrieved_documents[2].text`; `$` for the whole; bounded in length."""
    path = ""
    for part in parts:
        if isinstance(part, int):
            path += f"[{part}]"
        elif _is_plain(part):
            path += f".{part}" if path else part
        else:
            path += f"[{shown(part)}]"
        if len(path) > _PATH_CHARS:
            return path[:_PATH_CHARS] + "…"
    return path or "$"


def shown(value: Json) -> str:
    """A value for an error message: masked, in ASCII, at most about 80 characters."""
    if isinstance(value, str):
        value = redact_head(value, _SHOWN_CHARS)
    elif not isinstance(value, bool | int | float | None):
        return kind(value)
    text = redact(json.dumps(value))
    return text if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


@lru_cache(1_024)
def _is_plain(key: str) -> bool:
    """Whether a key is a name that needs no quotes and holds nothing personal."""
    return _PLAIN_KEY.fullmatch(key) is not None and redact(key) == key


def kind(value: Json) -> str:
    """JSON's name for the type of a value, with its article."""
    return _KINDS.get(type(value), "an object")


def _text(raw: bytes) -> str:
    if raw.startswith(_BOM):
        raw = raw[len(_BOM) :]
        skipped = len(_BOM)
    else:
        skipped = 0
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise InvalidMessage("$", f"is not UTF-8: bad byte at offset {error.start + skipped}") from None
    if not text or text.isspace():
        raise InvalidMessage("$", "is empty")
    return text


def _not_json(error: json.JSONDecodeError) -> InvalidMessage:
    return InvalidMessage("$", f"is not JSON: {error.msg.removesuffix(' at')} at character {error.pos}")


class _Flawed(ValueError):
    """Valid JSON to Python, but not to us; where it stands is looked for only then."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _Flawed
    return members


def _finite(literal: str) -> float:
    value = float(literal)
    if value - value != 0.0:  # only infinities and NaN differ from themselves so
        raise _Flawed
    return value


def _constant(name: str) -> float:
    raise _Flawed(name)


_FAST = json.JSONDecoder(object_pairs_hook=_unique, parse_float=_finite, parse_constant=_constant)


class _Flaw:
    """Stands in a tree in place of a value that is refused; `key` where the flaw is a member of the object here."""

    __slots__ = ("key", "problem")

    def __init__(self, problem: str, key: str | None = None) -> None:
        self.problem = problem
        self.key = key


def _unique_or_flaw(pairs: list[tuple[str, Any]]) -> dict[str, Any] | _Flaw:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members:
            return _Flaw("occurs twice in one object", key)
        members[key] = value
    return members


def _finite_or_flaw(literal: str) -> float | _Flaw:
    try:
        return _finite(literal)
    except _Flawed:
        return _Flaw("must be a finite number: it is beyond what a double holds")


def _int_or_flaw(literal: str) -> int | _Flaw:
    try:
        return int(literal)
    except ValueError:  # sys.get_int_max_str_digits(): longer ones take quadratic time
        return _Flaw(f"is a whole number of {len(literal):,} digits, which is too long")


_SLOW = json.JSONDecoder(
    object_pairs_hook=_unique_or_flaw,
    parse_float=_finite_or_flaw,
    parse_int=_int_or_flaw,
    parse_constant=lambda name: _Flaw(f"must be a finite number: {name} is not JSON"),
)


def _flaw(text: str) -> InvalidMessage:
    """Reads a text that is known to be flawed again, to say where; only bad messages pay for it."""
    try:
        tree = _SLOW.decode(text)
    except RecursionError:
        return InvalidMessage("$", "is nested too deeply")
    except json.JSONDecodeError as error:
        return _not_json(error)
    return _first_flaw(tree) or InvalidMessage("$", "is not JSON")


def _first_flaw(tree: object) -> InvalidMessage | None:
    """The first flaw in the order of the text; paths are put together only for that one, since trees can be large."""
    path: list[str | int] = []
    open_items: list[Iterator[tuple[str | int, object]]] = [iter([("", tree)])]
    while open_items:
        step = next(open_items[-1], None)
        if step is None:
            open_items.pop()
            if path:
                path.pop()
            continue
        part, value = step
        if isinstance(value, _Flaw):
            parts = (*path, part) if value.key is None else (*path, part, value.key)
            return InvalidMessage(path_of(parts[1:]), value.problem)
        if isinstance(value, dict):
            path.append(part)
            open_items.append(iter(value.items()))
        elif isinstance(value, list):
            path.append(part)
            open_items.append(iter(enumerate(value)))
    return None


def _storable(event: JsonObject) -> tuple[JsonObject, bool]:
    replaced = False
    path: list[str | int] = []  # of what is being cleaned

    def below(part: str | int, value: Json) -> Json:
        path.append(part)
        cleaned = clean(value)
        path.pop()
        return cleaned

    def clean(value: Json) -> Json:
        nonlocal replaced
        if isinstance(value, str):
            text = storable(value)
            replaced = replaced or text is not value
            return text
        if isinstance(value, list):
            return [below(i, item) for i, item in enumerate(value)]
        if isinstance(value, dict):
            return members(value)
        return value

    def members(value: JsonObject) -> JsonObject:
        nonlocal replaced
        cleaned: JsonObject = {}
        for key, item in value.items():
            name = storable(key)
            replaced = replaced or name is not key
            if name in cleaned:
                raise InvalidMessage(
                    path_of((*path, name)), "occurs twice once U+0000 and lone surrogates are replaced"
                )
            cleaned[name] = below(name, item)
        return cleaned

    try:
        cleaned = members(event)
    except RecursionError:
        raise InvalidMessage("$", "is nested too deeply") from None
    return cleaned, replaced
