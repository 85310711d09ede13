"""What is wrong with a form, in plain words: where pydantic finds a fault, and not how it words it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final, TypeAlias, get_args

from pydantic import BaseModel, ValidationError

from monitor.core.text.plain import without_prefix

KeyPath: TypeAlias = tuple[int | str, ...]
Problem: TypeAlias = tuple[KeyPath, str]

UNKNOWN_KEY: Final = "unknown key"
_MEANT: Final = "; did you mean "
_OF_KEY: Final = "[key]"  # how pydantic ends the place of a key that is wrong itself
_LONGEST_NAME: Final = 100  # characters; a longer one is not repeated
_FOLLOWS: Final = {"default_factory_not_called"}  # from another fault, which is told
_MAPPING: Final = "must be a mapping of keys to values"
_WHOLE: Final = "must be a whole number"
_NUMBER: Final = "must be a number"
_TEXT: Final = "must be a text"
_LIST: Final = "must be a list"
_BOOLEAN: Final = "must be true or false"
# Filled with what pydantic tells of the limit.
_WORDS: Final[Mapping[str, str]] = {
    "missing": "is missing",
    "model_type": _MAPPING,
    "dict_type": _MAPPING,
    "list_type": _LIST,
    "tuple_type": _LIST,
    "string_type": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": _NUMBER,
    "float_parsing": _NUMBER,
    "finite_number": "must be a finite number",
    "bool_type": _BOOLEAN,
    "bool_parsing": _BOOLEAN,
    "date_type": "must be a day such as 2026-11-01",
    "json_invalid": "is not valid JSON: {error}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "string_too_short": "must have {min_length} characters or more",
    "string_too_long": "must have {max_length} characters or fewer",
    "too_short": "must have {min_length} entries or more",
    "too_long": "must have {max_length} entries or fewer",
}


def problems_of(error: ValidationError, form: type[BaseModel]) -> list[Problem]:
    """Each fault that pydantic found in a `form`, with its place."""
    found = [one for one in error.errors(include_url=False) if one["type"] not in _FOLLOWS]
    problems = [(one["type"], *_problem(one, form)) for one in found]
    # a key that is only misspelt is told once, and not as missing too
    misspelt = {(*path[:-1], text.partition(_MEANT)[2].rstrip("?")) for _, path, text in problems if _MEANT in text}
    return [(path, text) for kind, path, text in problems if kind != "missing" or path not in misspelt]


def written(path: Sequence[int | str], value: Any = None) -> str:
    """`path` as messages have it, like `models[0].input`; `file` for the whole document.

    Entries of `value`, the document, that have a name are called by it: `probes[support].turns`.
    """
    said = ""
    for part in path:
        try:
            value = value[part]
        except (LookupError, TypeError):
            value = None
        name = value.get("name") if isinstance(value, dict) else None
        named = isinstance(name, str) and name.isprintable() and 0 < len(name) <= _LONGEST_NAME
        said += f".{part}" if isinstance(part, str) else f"[{name if named else part}]"
    return said.lstrip(".") or "file"


def unknown_key(name: str, known: Collection[str]) -> str:
    """The message for a key that is not in `known`; it begins with `UNKNOWN_KEY`."""
    similar = get_close_matches(name, known, n=1)
    return f"{UNKNOWN_KEY}{_MEANT}{similar[0]}?" if similar else f"{UNKNOWN_KEY}; known: {', '.join(known)}"


def keys_at(form: type[BaseModel], path: Sequence[int | str]) -> list[str]:
    """The keys that a mapping at `path` of a `form` may have."""
    forms = [form]
    for part in path:
        inner = [models_in(field.annotation) for each in forms for key, field in _fields(each) if key == part]
        # a place in a list, or a key that the user chose, leads to no other form
        forms = [model for models in inner for model in models] or forms
    return [key for each in forms for key, _ in _fields(each)]


def _problem(error: Any, form: type[BaseModel]) -> Problem:
    path = tuple(part for part in error["loc"] if not str(part).startswith("function-"))
    limits = error.get("ctx", {})
    match error["type"]:
        case "literal_error" if path[-1] == _OF_KEY:
            return path[:-1], unknown_key(str(path[-2]), re.findall(r"'([^']*)'", limits["expected"]))
        case "extra_forbidden":
            return path, unknown_key(str(path[-1]), keys_at(form, path[:-1]))
        case "model_type" if error["input"] is None and not path:
            return path, f"is empty; it needs {', '.join(key for key, field in _fields(form) if field.is_required())}"
    return path, _words(error["type"], limits) or without_prefix(error["msg"])


def _words(fault: str, limits: Mapping[str, Any]) -> str:
    """What is wrong, in our words; empty for a fault that has none."""
    if fault in {"string_too_short", "too_short"} and limits["min_length"] == 1:
        return "must not be empty"
    if fault == "string_pattern_mismatch":
        if limits["pattern"].startswith(r"^[^\s@"):
            return "must be an e-mail address such as ada@monitor.example"
        kind = "be an http or https URL of" if limits["pattern"].startswith("^https?://") else "have"
        return f"must {kind} the form {limits['pattern']}"
    return _WORDS.get(fault, "").format(**{name: _shown(limit) for name, limit in limits.items()})


def _shown(limit: object) -> object:
    return f"{limit:,.15g}" if isinstance(limit, int | float) else limit


def _fields(form: type[BaseModel]) -> Iterator[tuple[str, Any]]:
    for name, field in form.model_fields.items():
        yield field.alias or name, field


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """The forms that a field of this type may hold, by itself or in a list or mapping."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in models_in(argument)]
