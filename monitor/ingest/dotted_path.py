"""Dotted paths into JSON: `fields.response`, `contexts.0.text`."""

from __future__ import annotations

from monitor.core.model import Json


def at_path(value: Json, path: str) -> Json:
    """What stands at `path`; None if nothing does, and `value` itself for an empty path.

    A number counts from 0 in a list; a name before a list is looked for in each of its items. A key that holds dots
    is found under its full name first.
    """
    if not path:
        return value
    if isinstance(value, dict):
        if path in value:
            return value[path]
        name, _, rest = path.partition(".")
        return at_path(value[name], rest) if name in value else None
    if isinstance(value, list):
        index, _, rest = path.partition(".")
        if index.isascii() and index.isdigit():
            place = int(index[:9])
            return at_path(value[place], rest) if place < len(value) else None
        return [at_path(item, path) for item in value]
    return None
