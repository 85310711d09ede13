"""Sorts rows by the values of every dimension that may set bad answers apart from good ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.answer import AnswerRow

MOST_VALUES = 200  # per dimension: the values with the most answers in the window
MOST_TAGS = 30  # the tags that the most answers have
DISTINCT = 0.5  # with more values than this share of the answers, a dimension names answers instead of grouping them
DOCUMENT = "document"
TAG = "tag "  # before the name of a tag
# Several new documents count as one value, as after a new index.
DOCUMENTS, UNSEEN = "documents", "not retrieved before"

Rows = NDArray[np.intp]
_NONE = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """The rows that have each value: indexes into the window and, in `before`, into the baseline.

    `single`: no row has two values of the dimension.
    """

    name: str
    single: bool
    rows: dict[str, Rows]
    before: dict[str, Rows]

    def earlier(self, value: str) -> Rows:
        """The rows of the baseline with `value`."""
        return self.before.get(value, _NONE)


def dimensions(window: Sequence[AnswerRow], baseline: Sequence[AnswerRow]) -> list[Dimension]:
    """Every dimension that groups the window's rows, with its most frequent values."""
    now, before = _sorted(window), _sorted(baseline)
    tags = sorted((name for name in now if name.startswith(TAG)), key=lambda name: (-_rows(now[name]), name))
    dropped = set(tags[MOST_TAGS:])
    found = []
    for name, values in now.items():
        if name in dropped or _names_answers(values):
            continue
        most = sorted(values, key=lambda value: (-len(values[value]), value))[:MOST_VALUES]
        earlier = before.get(name, {})
        found.append(
            Dimension(
                name=name,
                single=name != DOCUMENT,
                rows={value: np.array(values[value], np.intp) for value in most},
                before={value: np.array(places, np.intp) for value, places in earlier.items()},
            )
        )
    if unseen := _unseen(now.get(DOCUMENT, {}), before.get(DOCUMENT, {})):
        rows = {UNSEEN: np.array(unseen, np.intp)}
        found.append(Dimension(name=DOCUMENTS, single=True, rows=rows, before={}))
    return found


def _unseen(now: dict[str, list[int]], before: dict[str, list[int]]) -> list[int]:
    """The rows of the window with any of several documents that no row of the baseline has."""
    new = [places for document, places in now.items() if document and document not in before]
    return sorted({place for places in new for place in places}) if before and len(new) > 1 else []


def _names_answers(values: dict[str, list[int]]) -> bool:
    """Whether nearly every answer has its own value, as for the id of a session or a user."""
    sizes = Counter({value: len(rows) for value, rows in values.items() if value})
    return len(sizes) > 1 and len(sizes) > DISTINCT * sizes.total()


def _rows(values: dict[str, list[int]]) -> int:
    return sum(map(len, values.values()))


def _sorted(rows: Sequence[AnswerRow]) -> dict[str, dict[str, list[int]]]:
    places: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for place, row in enumerate(rows):
        for dimension, value in _values(row):
            places[dimension][value].append(place)
    return places


def _values(row: AnswerRow) -> Iterator[tuple[str, str]]:
    known = {
        "app": row.app,
        "environment": row.environment,
        "model": row.model,
        "prompt_version": row.prompt_version,
        "topic": row.topic,
    }
    yield from ((name, value) for name, value in known.items() if value)
    yield from ((DOCUMENT, document) for document in dict.fromkeys(row.documents) or ("",))
    yield from ((f"{TAG}{name}", value) for name, value in row.tags.items() if value)
