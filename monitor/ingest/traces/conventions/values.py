"""What the text of an attribute stands for: JSON, JSON within JSON, the repr of a Python value, or just text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import TypeGuard

from pydantic_core import from_json

from monitor.core.assessment_json import storable
from monitor.core.model import Json

MAX_DEPTH = 24  # levels that are looked through
MAX_VALUES = 50_000  # values that are looked through in one attribute
_MARK_CHARS = 48
_MAX_LITERAL = 100_000  # characters of a Python literal
_REPR = re.compile(r"<?[A-Za-z_][\w.]*(?: object(?: at|>)|\(\s*(?:\w+=|<|\)|\*))|<[a-z_]+ object")
_REDACTED = re.compile(
    r"[\W_]*(?:redacted|masked|scrubbed)[\W_]*|[\[<({*_]+(?:hidden|removed|withheld|filtered|omitted)[\])>}*_]+|\*{3,}"
    r"|<fully masked due to failed mask function>",
    re.IGNORECASE,
)


def understood(value: Json) -> Json:
    """The value that a text holds as JSON or as a Python literal; every other value as it is."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text or text[0] not in '{["':
        return value
    try:
        read: Json = from_json(text)
    except ValueError:
        return _literal(text, value)
    return read


def rescued(value: Json) -> Json:
    """As `understood`, but reads what is left of JSON that was cut: whole items of it, without the last."""
    read = understood(value)
    if not isinstance(read, str) or not read.lstrip().startswith(("{", "[")):
        return read
    try:
        left: Json = from_json(read.strip(), allow_partial=True)
    except ValueError:
        return read
    return left


def is_cut(value: Json) -> bool:
    """Whether a text begins as JSON does, but is none: a limit of the length cut it."""
    return isinstance(value, str) and value.lstrip().startswith(('{"', '["', "[{", "[[")) and understood(value) is value


def is_repr(text: str) -> bool:
    """Whether a text is how Python shows an object, as `<generator object>` or `AgentOutput(response=…`."""
    return _REPR.match(text.lstrip()) is not None


def is_plain_text(value: Json) -> TypeGuard[str]:
    """Whether a value is a text that says something: not blank, and no object as Python shows it."""
    return isinstance(value, str) and bool(value.strip()) and not is_repr(value)


def is_redacted(value: Json) -> bool:
    """Whether a value says that it was redacted, as `__REDACTED__` or `[REDACTED]`."""
    return isinstance(value, str) and len(value) <= _MARK_CHARS and _REDACTED.fullmatch(value) is not None


def walk(value: Json) -> Iterator[tuple[str, Json]]:
    """Every value with the key it stands under (that of its list within a list), outermost first, up to the limits."""
    level: list[tuple[str, Json]] = [("", value)]
    seen = 0
    for _ in range(MAX_DEPTH):
        below: list[tuple[str, Json]] = []
        for key, item in level:
            seen += 1
            if seen > MAX_VALUES:
                return
            yield key, item
            if isinstance(item, dict):
                below += item.items()
            elif isinstance(item, list):
                below += [(key, one) for one in item]
        level = below
        if not level:
            return


def first_text(*values: Json) -> str | None:
    """The first of the values that is a text with something in it, or a number as text."""
    for value in values:
        if isinstance(value, str) and value.strip() and value not in {"null", "None"}:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return None


def _literal(text: str, otherwise: str) -> Json:
    """A dict or list as Python shows it, whose keys are texts."""
    if text[0] == '"' or len(text) > _MAX_LITERAL or "'" not in text:
        return otherwise
    try:
        read = ast.literal_eval(text)
        return _as_json(read) if isinstance(read, dict | list) else otherwise
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return otherwise


def _as_json(value: object) -> Json:
    """A value of Python with what JSON has in place of what it lacks: lists of tuples and sets, the texts of the rest.

    Raises:
        ValueError: a key is no text.
    """
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValueError("a key is no text")
        return {storable(key): _as_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_as_json(item) for item in value]
    if isinstance(value, set):
        return [_as_json(item) for item in sorted(value, key=repr)]
    if isinstance(value, str):
        return storable(value)
    return value if isinstance(value, int | float | None) else repr(value)
