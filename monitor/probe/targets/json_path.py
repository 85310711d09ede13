"""JSONPath as far as answers need it: `$.choices[0].message.content`, `$['a b'].c`, `$.sources[*].text`.

The rest of RFC 9535 (filters, slices, `..`) is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from monitor.core.model import Json

_STEP = re.compile(
    r"""\.(?P<name>[^\W\d][\w-]*) | \[(?P<index>-?\d{1,9})\] | \[(?P<quote>['"])(?P<quoted>[^'"\\]+)(?P=quote)\]
      | (?P<every>\[\*\]|\.\*)""",
    re.VERBOSE,
)
_FORMS: Final = (
    "write names and places such as $.choices[0].message.content, [-1] for the last item, and [*] for every item"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonPath:
    """A path; a step is a name, a place from 0 or from the end (-1 is the last), or None for every item."""

    text: str
    steps: tuple[str | int | None, ...]

    def find(self, value: Json) -> list[Json]:
        """All that stands there, in order; empty if nothing does."""
        found = [value]
        for step in self.steps:
            found = [below for one in found for below in _below(one, step)]
        return found


def parse_json_path(text: str) -> JsonPath:
    """Reads a path.

    Raises:
        ValueError: `text` is no path, or one of a kind that is not supported.
    """
    if not text.startswith("$"):
        raise ValueError(f"{text!r} is no JSONPath: it begins with $; {_FORMS}")
    place, steps = 1, list[str | int | None]()
    while place < len(text):
        match = _STEP.match(text, place)
        if match is None:
            raise ValueError(f"{text!r} is no supported JSONPath from {text[place : place + 20]!r} on; {_FORMS}")
        if match["every"]:
            steps.append(None)
        else:
            steps.append(int(match["index"]) if match["index"] else match["name"] or match["quoted"])
        place = match.end()
    return JsonPath(text=text, steps=tuple(steps))


def _below(value: Json, step: str | int | None) -> Iterator[Json]:
    if step is None:
        if isinstance(value, list):
            yield from value
        elif isinstance(value, dict):
            yield from value.values()
    elif isinstance(step, int):
        if isinstance(value, list) and -len(value) <= step < len(value):
            yield value[step]
    elif isinstance(value, dict) and step in value:
        yield value[step]
