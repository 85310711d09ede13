"""Reads statements of completeness: those that are sealed, those that wait, and those that an export needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Connection

from monitor.store.audit.acts import act_body
from monitor.store.audit_queue import Entry, Kind, driver, is_authentic

if TYPE_CHECKING:
    import psycopg

UNSTATED = "unstated"  # in a statement that only says that nobody stated these offsets
_SEALED = "SELECT index, body FROM audit_leaf WHERE kind = 'positions' ORDER BY index"
_WAITING = """
    SELECT app, subject, part, records, source, number, mac FROM audit_queue
    WHERE kind = 'positions' AND mac IS NOT NULL ORDER BY seq
"""


class Reading(NamedTuple):
    """A partition as one group reads it; a topic that was made again is another one."""

    group: str
    topic: str
    partition: int
    topic_id: str


NO_STATEMENT = (KeyError, TypeError, ValueError, AttributeError)  # what reading a leaf that was replaced raises


def reading_of(body: Mapping[str, Any]) -> Reading:
    """What a statement is about; raises KeyError or TypeError where that is no statement about a partition."""
    reading = Reading(body["group"], body["topic"], body["partition"], body["topic_id"])
    if tuple(map(type, reading)) != (str, str, int, str):
        raise TypeError("the partition is malformed")
    return reading


def statement_bodies(connection: Connection, key: bytes | None) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """What each statement says, with the index of its leaf; with the `key` also those that wait, without an index."""
    with driver(connection).cursor("positions") as cursor:
        for index, body in cursor.execute(_SEALED):
            yield index, act_body(body)
    if key is not None:
        for app, subject, part, records, *place in driver(connection).execute(_WAITING).fetchall():
            if is_authentic(key, Entry(Kind.POSITIONS, app, subject, part, records), *place):
                yield None, act_body(records or "")


def stated_in(raw: psycopg.Connection, size: int, app: str | None, start: datetime, end: datetime) -> frozenset[int]:
    """The leaves of statements, below `size`, for an export of answers of `app`, or any app, of [start, end).

    Of each partition these are all from the first that speaks of such an answer to the last; and replays of that time.
    A leaf that was replaced by something else is left out: `verify` names it.
    """
    replays: list[int] = []
    seen: defaultdict[Reading, list[int]] = defaultdict(list)
    last: dict[Reading, int] = {}  # how many of them are in
    with raw.cursor("positions") as cursor:
        for index, text in cursor.execute(_SEALED):
            body = act_body(text)
            try:
                speaks = _is_about(body, app=app, start=start, end=end)
                reading = None if "files" in body else reading_of(body)
            except NO_STATEMENT:
                continue
            if reading is None:
                replays += [index] if speaks else []
                continue
            if index >= size or not (speaks or body.get(UNSTATED) or reading in seen):
                continue
            seen[reading].append(index)
            if speaks or body.get(UNSTATED):
                last[reading] = len(seen[reading])
    chosen = (index for reading, number in last.items() for index in seen[reading][:number])
    return frozenset([*chosen, *replays])


def _is_about(body: Mapping[str, Any], *, app: str | None, start: datetime, end: datetime) -> bool:
    """Whether a statement speaks of answers of `app` in [start, end), or is of a replay in that time."""
    if "files" in body:
        return start <= datetime.fromisoformat(body["at"]) < end and (app is None or app in body["apps"])
    return any(
        app in {None, its["app"]}
        and datetime.fromisoformat(its["earliest"]) < end
        and datetime.fromisoformat(its["latest"]) >= start
        for its in body.get("stored", ())
    )
