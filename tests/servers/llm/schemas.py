"""JSON schemas: makes a valid value for any schema, and finds what OpenAI refuses in strict schemas."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, floor, inf
from typing import Any
from zlib import crc32

_TYPES = {"object", "array", "string", "number", "integer", "boolean", "null"}
_JOINED = {"$ref", "anyOf", "oneOf", "allOf"}
_TOLD_BY = {"properties": "object", "items": "array", "prefixItems": "array", "minimum": "number", "maximum": "number"}
_FORMATS = {
    "date-time": "2024-05-17T09:30:00Z",
    "date": "2024-05-17",
    "time": "09:30:00Z",
    "duration": "PT5M",
    "email": "someone@example.org",
    "hostname": "example.org",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.org/",
    "uuid": "7f0d2c1e-4b3a-4c5d-8e9f-0a1b2c3d4e5f",
}
_DEEP = 6  # the depth from which on optional parts are left out, so that a schema that refers to itself ends


def schema_in(text: str) -> dict[str, Any] | None:
    """The last JSON object in a text that looks like a schema."""
    decoder, found, at = json.JSONDecoder(), None, text.find("{")
    while at >= 0:
        end = at + 1
        try:
            value, after = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            value = None
        else:
            if _looks_like_a_schema(value):
                found, end = value, after
        at = text.find("{", end)
    return found


def valid_for(schema: dict[str, Any], seed: str) -> Any:
    """A value that the schema allows, the same for the same seed. Patterns of strings are ignored."""
    return _Example(schema, seed).value(schema, ("answer",))


@dataclass(frozen=True, slots=True)
class _Example:
    root: dict[str, Any]
    seed: str

    def value(self, schema: Any, path: tuple[str, ...], nth: int = 0) -> Any:
        """The value at this path; `nth` distinguishes the items of an array that must be unique."""
        schema = self._flat(schema, deep=len(path) > _DEEP)
        choices = [schema["const"]] if "const" in schema else schema.get("enum", [])
        if choices:
            return choices[nth % len(choices)]
        match _kind(schema):
            case "object":
                made: Any = self._object(schema, path)
            case "array":
                made = self._array(schema, path)
            case "string":
                made = self._string(schema, (*path, str(nth)))
            case "integer" | "number" as kind:
                made = _number(schema, nth, whole=kind == "integer")
            case "boolean":
                made = nth == 0
            case _:
                made = None
        return made

    def _flat(self, schema: Any, *, deep: bool) -> dict[str, Any]:
        """The schema without references and choices: the first of a choice or, deep down, the one that ends first."""
        if not isinstance(schema, dict):
            return {}
        flat = {key: value for key, value in schema.items() if key not in _JOINED}
        parts = [self._referred(schema["$ref"])] if "$ref" in schema else []
        parts += schema.get("allOf", [])
        parts += [min(choices, key=self._height) if deep else choices[0] for choices in _choices(schema)]
        for part in (self._flat(part, deep=deep) for part in parts):
            both = {
                "properties": {**part.get("properties", {}), **flat.get("properties", {})},
                "required": [*part.get("required", []), *flat.get("required", [])],
            }
            flat = {**part, **flat, **{key: value for key, value in both.items() if value}}
        return flat

    def _height(self, schema: Any, within: frozenset[str] = frozenset()) -> float:
        """The number of levels of the smallest value; infinite if it always contains another value of its own type."""
        if not isinstance(schema, dict):
            return 0
        if (reference := schema.get("$ref")) in within:
            return inf
        held = [*schema.get("allOf", []), *schema.get("prefixItems", [])]
        held += [schema.get("properties", {}).get(name) for name in schema.get("required", [])]
        if reference:
            within |= {reference}
            held.append(self._referred(reference))
        if schema.get("minItems"):
            held.append(schema.get("items"))
        heights = [min(self._height(choice, within) for choice in choices) for choices in _choices(schema)]
        return 1 + max([*heights, *(self._height(child, within) for child in held)], default=0)

    def _referred(self, reference: str) -> Any:
        found: Any = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            found = found[step.replace("~1", "/").replace("~0", "~")]
        return found

    def _object(self, schema: dict[str, Any], path: tuple[str, ...]) -> dict[str, Any]:
        properties, required = schema.get("properties", {}), schema.get("required", [])
        names = [name for name in properties if len(path) <= _DEEP or name in required]
        names += [name for name in required if name not in properties]
        names += [f"name {number}" for number in range(schema.get("minProperties", 0) - len(names))]
        others = schema.get("additionalProperties")
        return {name: self.value(properties.get(name, others), (*path, name)) for name in names}

    def _array(self, schema: dict[str, Any], path: tuple[str, ...]) -> list[Any]:
        first = schema.get("prefixItems", [])
        least = schema.get("minItems", 0 if len(path) > _DEEP else 1)
        count = min(max(least, len(first)), schema.get("maxItems", max(least, len(first))))
        different = schema.get("uniqueItems", False)
        return [
            self.value(
                first[index] if index < len(first) else schema.get("items"),
                (*path, str(index)),
                index if different else 0,
            )
            for index in range(count)
        ]

    def _string(self, schema: dict[str, Any], path: tuple[str, ...]) -> str:
        if schema.get("format") in _FORMATS:
            return _FORMATS[schema["format"]]
        text = f"{next(step for step in reversed(path) if not step.isdigit())} {mark(self.seed, *path)}"
        return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]


def mark(*texts: str) -> str:
    """Eight hexadecimal digits that identify these texts."""
    return f"{crc32('/'.join(texts).encode(errors='surrogatepass')):08x}"


def _choices(schema: dict[str, Any]) -> list[list[Any]]:
    return [schema[key] for key in ("anyOf", "oneOf") if schema.get(key)]


def _kind(schema: dict[str, Any]) -> str:
    told = schema.get("type") or next((kind for key, kind in _TOLD_BY.items() if key in schema), "string")
    return told if isinstance(told, str) else next((kind for kind in told if kind != "null"), "null")


def _number(schema: dict[str, Any], nth: int, *, whole: bool) -> float:
    low, high = schema.get("minimum"), schema.get("maximum", schema.get("exclusiveMaximum"))
    above = schema.get("exclusiveMinimum")
    if low is None and above is not None:
        low = floor(above) + 1 if whole else (above + (above + 2 if high is None else high)) / 2
    if low is None:
        low = 1 if high is None else min(1, high - ("exclusiveMaximum" in schema))
    step = schema.get("multipleOf", 1 if whole else None)
    value = low + nth
    return value if step is None else ceil(value / step) * step


def _looks_like_a_schema(value: dict[str, Any]) -> bool:
    kind = value.get("type")
    return (isinstance(kind, str) and kind in _TYPES) or "$ref" in value or isinstance(value.get("anyOf"), list)


def not_strict(schema: dict[str, Any]) -> Iterator[str]:
    """The errors of a strict schema (https://platform.openai.com/docs/guides/structured-outputs)."""
    if schema.get("type") != "object":
        yield "schema must be a JSON Schema of 'type: \"object\"'."
    for part in _parts(schema):
        if _kind(part) == "object":
            if part.get("additionalProperties") is not False:
                yield "'additionalProperties' is required to be supplied and to be false."
            if set(part.get("required", ())) != set(part.get("properties", ())):
                yield "'required' is required to be supplied and to be an array including every key in properties."


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    """A schema and every schema inside it."""
    if isinstance(schema, dict):
        named = [child for key in ("properties", "$defs") for child in schema.get(key, {}).values()]
        listed = [child for key in ("anyOf", "oneOf", "allOf", "prefixItems") for child in schema.get(key, ())]
        yield schema
        for child in (*named, *listed, schema.get("items"), schema.get("additionalProperties")):
            yield from _parts(child)
