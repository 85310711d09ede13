"""Rows sorted by the values of every dimension that may tell bad answers from good ones."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from monitor.alert.explain.answer import AnswerRow

MOST_VALUES = 200  # of a dimension, those with the most answers in the window
MOST_TAGS = 30  # by the answers that have one
DISTINCT = 0.5  # more values than this share of the answers, and the dimension names answers rather than groups them
DOCUMENT = "document"
DOCUMENTS, UNSEEN = "documents", "not retrieved before"  # several new documents are one thing, as after a new index

Rows = NDArray[np.intp]
_NONE = np.empty(0, np.intp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Dimension:
    """The rows that have each value: places in the window and, `before`, in the baseline.

    `single`: no row has two values of it.
    """

    name: str
    single: bool
    rows: dict[str, Rows]
    before: dict[str, Rows]

    def earlier(self, value: str) -> Rows:
        """The baseline's rows with `value`."""
        return self.before.get(value, _NONE)


def dimensions(window: Sequence[AnswerRow], baseline: Sequence[AnswerRow]) -> list[Dimension]:
    """Every dimension that groups the window's rows, with its most frequent values."""
    now, before = _sorted(window), _sorted(baseline)
    tags = sorted((name for name in now if name.startswith("tag ")), key=lambda name: (-_rows(now[name]), name))
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
    """The window's rows with one of several documents that none of the baseline's rows has."""
    new = [places for document, places in now.items() if document and document not in before]
    return sorted({place for places in new for place in places}) if before and len(new) > 1 else []


def _names_answers(values: dict[str, list[int]]) -> bool:
    """Whether nearly each answer has a value of its own, as with a session's or a user's id."""
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
    yield from ((f"tag {name}", value) for name, value in row.tags.items() if value)
