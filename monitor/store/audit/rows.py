"""Reads the stored rows that the queue and the leaves name, with their secrets, and makes the records to seal."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from pydantic_core import from_json, to_json

from monitor.audit.record import VERSION, Record, Row, assessment_record, interaction_record, judgement_record
from monitor.core.model import Mark
from monitor.store.audit.leaf import Key
from monitor.store.audit_queue import STORED, Kind
from monitor.store.tables.interactions import assessment, interaction, judgement

if TYPE_CHECKING:
    import psycopg

SECRET = "audit_secret"  # noqa: S105  the name under which a row brings the secret of its interaction

_RECORD: Mapping[str, Callable[[Row, bytes, int], Record]] = {
    Kind.INTERACTION: interaction_record,
    Kind.ASSESSMENT: assessment_record,
    Kind.JUDGEMENT: judgement_record,
}
_TABLE = {Kind.INTERACTION: interaction, Kind.ASSESSMENT: assessment, Kind.JUDGEMENT: judgement}
# The part of a row's key in SQL. That of a judgement is what `judgement_part` makes.
PART = {
    Kind.INTERACTION: "''",
    Kind.ASSESSMENT: "r.profile_hash",
    Kind.JUDGEMENT: "r.metric || '/' || r.model || '/' || r.prompt_hash",
}
# Whether the queue's row `q` waits to be sealed for the row `r`; an interaction may stand for its assessment too.
_WAITS = {
    Kind.INTERACTION: "q.kind = 'interaction'",
    Kind.ASSESSMENT: "q.kind IN ('interaction', 'assessment') AND q.part = r.profile_hash",
    Kind.JUDGEMENT: f"q.kind = 'judgement' AND q.part = {PART[Kind.JUDGEMENT]}",
}
_UNSEALED = """
    NOT EXISTS (
        SELECT FROM audit_leaf l
        WHERE l.app = r.app AND l.subject = r.id AND l.kind = '{kind}' AND l.part = {part}
    )
    AND NOT EXISTS (SELECT FROM audit_queue q WHERE q.app = r.app AND q.subject = r.id AND {waits})
"""
# Whether a row `r` is in no leaf and does not wait for one.
UNSEALED = {kind: _UNSEALED.format(kind=kind.value, part=PART[kind], waits=_WAITS[kind]) for kind in STORED}
# One statement for each kind: columns of the row, the part, the secret. With times it finds the month's partition.
# Keys go as JSON, which is built several times as fast as an array.
_SELECT = """
    SELECT {columns}, w.part AS part, s.secret AS {secret}
    FROM json_to_recordset(%(keys)s::json) AS w (app text, id text, part text, at timestamptz)
    JOIN {table} r ON r.app = w.app AND r.id = w.id {at_time} AND {part} = w.part
    LEFT JOIN audit_secret s ON s.app = w.app AND s.id = w.id
"""
_STATES = """
    SELECT w.app, w.id, %s = ANY (r.marks) AS erased, s.secret
    FROM unnest(%s::text[], %s::text[]) AS w (app, id)
    JOIN interaction r ON r.app = w.app AND r.id = w.id
    LEFT JOIN audit_secret s ON s.app = w.app AND s.id = w.id
"""


def _select(kind: Kind, *, at_time: bool) -> str:
    return _SELECT.format(
        columns=", ".join(f"r.{column.name}" for column in _TABLE[kind].columns),
        secret=SECRET,
        table=_TABLE[kind].name,
        at_time="AND r.occurred_at = w.at" if at_time else "",
        part=PART[kind],
    )


_READ = {(kind, at_time): _select(kind, at_time=at_time) for kind in STORED for at_time in (False, True)}


@dataclass(frozen=True, slots=True, kw_only=True)
class InteractionState:
    """Whether a stored interaction was erased, and its secret, if it has one."""

    erased: bool
    secret: bytes | None


def read_rows(
    connection: psycopg.Connection, kind: Kind, keys: Sequence[Key], times: Sequence[datetime | None] | None = None
) -> dict[Key, Mapping[str, Any]]:
    """The stored rows of `keys`, each with the secret of its interaction under the name `SECRET`.

    `times` says when the interaction of each key occurred; with it only rows of these times are found.
    """
    if not keys:
        return {}
    at = times or [None] * len(keys)
    wanted = [{"app": app, "id": id_, "part": part, "at": at} for (app, id_, part), at in zip(keys, at, strict=True)]
    with connection.cursor(row_factory=dict_row) as cursor:
        set_json_loads(from_json, cursor)  # several times as fast as the standard library's
        cursor.execute(_READ[kind, times is not None], {"keys": to_json(wanted).decode()})
        return {(row["app"], row["id"], row["part"]): row for row in cursor}


def states(
    connection: psycopg.Connection, interactions: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], InteractionState]:
    """The states of those interactions that are stored, by app and id."""
    wanted = sorted(set(interactions))
    columns = ([app for app, _ in wanted], [id_ for _, id_ in wanted])
    rows = connection.execute(_STATES, (Mark.ERASED.value, *columns)).fetchall()
    return {(app, id_): InteractionState(erased=erased, secret=secret) for app, id_, erased, secret in rows}


def row_record(kind: str, row: Mapping[str, Any], secret: bytes, version: int = VERSION) -> Record:
    """What is sealed of a stored row, in the version of `record`."""
    return _RECORD[kind](row, secret, version)


def gone_record(kind: str, key: Key) -> Record:
    """What is sealed of a row that was erased or removed before it was sealed: only that it existed."""
    app, id_, part = key
    return {"v": VERSION, "kind": str(kind), "app": app, "id": id_, "part": part, "gone": True}
