"""The stored rows that leaves tell of, found by the keys of the queue and of the leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from pydantic_core import from_json, to_json

from monitor.audit.canonical import canonical
from monitor.audit.record import (
    VERSION,
    Record,
    Row,
    assessment_record,
    interaction_record,
    judgement_record,
    portable,
)
from monitor.core.model import Mark
from monitor.store.audit_queue import Kind
from monitor.store.tables.interactions import assessment, interaction, judgement

if TYPE_CHECKING:
    import psycopg

Key: TypeAlias = tuple[str, str, str]  # app, id of the interaction, part
SECRET = "audit_secret"  # noqa: S105  the name under which a row brings the secret of its interaction

_RECORD: Mapping[str, Callable[[Row, bytes], Record]] = {
    Kind.INTERACTION: interaction_record,
    Kind.ASSESSMENT: assessment_record,
    Kind.JUDGEMENT: judgement_record,
}
_TABLE = {Kind.INTERACTION: interaction, Kind.ASSESSMENT: assessment, Kind.JUDGEMENT: judgement}
# How the key of a row is written in SQL; of a judgement as `judgement_part` has it.
PART = {
    Kind.INTERACTION: "''",
    Kind.ASSESSMENT: "r.profile_hash",
    Kind.JUDGEMENT: "r.metric || '/' || r.model || '/' || r.prompt_hash",
}
# Whether a row of the queue, `q`, has it sealed; an interaction may stand there for its assessment too.
WAITS = {
    Kind.INTERACTION: "q.kind = 'interaction'",
    Kind.ASSESSMENT: "q.kind IN ('interaction', 'assessment') AND q.part = r.profile_hash",
    Kind.JUDGEMENT: f"q.kind = 'judgement' AND q.part = {PART[Kind.JUDGEMENT]}",
}
# One statement for each kind: columns of the row, the part, the secret. With times it finds the month's partition.
# Keys go as JSON, which is made several times as fast as an array.
_WANTED = "json_to_recordset(%(keys)s::json) AS w (app text, id text, part text, at timestamptz)"
_READ = {
    (kind, timed): f"""
        SELECT {", ".join(f"r.{column.name}" for column in table.columns)}, w.part AS part, s.secret AS {SECRET}
        FROM {_WANTED}
        JOIN {table.name} r ON r.app = w.app AND r.id = w.id {"AND r.occurred_at = w.at" if timed else ""}
            AND {PART[kind]} = w.part
        LEFT JOIN audit_secret s ON s.app = w.app AND s.id = w.id
    """  # noqa: S608  made of this project's own names
    for kind, table in _TABLE.items()
    for timed in (False, True)
}
_STATES = f"""
    SELECT w.app, w.id, '{Mark.ERASED}' = ANY (r.marks) AS erased, s.secret
    FROM unnest(%s::text[], %s::text[]) AS w (app, id)
    JOIN interaction r ON r.app = w.app AND r.id = w.id
    LEFT JOIN audit_secret s ON s.app = w.app AND s.id = w.id
"""  # noqa: S608


class Leaf(NamedTuple):
    """A row of `audit_leaf`."""

    number: int
    kind: str
    app: str
    subject: str
    part: str
    sealed_at: datetime
    body: str
    hash: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """What is known of a stored interaction: whether it was erased, and its secret, if it has one."""

    erased: bool
    secret: bytes | None


def read_rows(
    connection: psycopg.Connection, kind: Kind, keys: Sequence[Key], times: Sequence[datetime | None] | None = None
) -> dict[Key, Mapping[str, Any]]:
    """The rows of `keys` that are stored, each with the secret of its interaction under the name `SECRET`.

    With `times`, when the interactions of the keys occurred, only rows of these times are found.
    """
    if not keys:
        return {}
    at = times or [None] * len(keys)
    wanted = [{"app": app, "id": id_, "part": part, "at": at} for (app, id_, part), at in zip(keys, at, strict=True)]
    with connection.cursor(row_factory=dict_row) as cursor:
        set_json_loads(from_json, cursor)  # several times as fast as the standard library's
        cursor.execute(_READ[kind, times is not None], {"keys": to_json(wanted).decode()})
        return {(row["app"], row["id"], row["part"]): row for row in cursor}


def states(connection: psycopg.Connection, interactions: Iterable[tuple[str, str]]) -> dict[tuple[str, str], State]:
    """Of the interactions that are stored, by app and id."""
    wanted = sorted(set(interactions))
    rows = connection.execute(_STATES, ([app for app, _ in wanted], [id_ for _, id_ in wanted])).fetchall()
    return {(app, id_): State(erased=erased, secret=secret) for app, id_, erased, secret in rows}


def row_record(kind: str, row: Mapping[str, Any], secret: bytes) -> Record:
    """What is sealed of a stored row."""
    return _RECORD[kind](row, secret)


def gone_record(kind: str, key: Key) -> Record:
    """What is sealed of a row that was erased or removed before it was sealed: that it was there."""
    app, id_, part = key
    return {"v": VERSION, "kind": str(kind), "app": app, "id": id_, "part": part, "gone": True}


def leaf_body(record: Record, sealed_at: datetime) -> bytes:
    """The bytes of a leaf: what is told, and when it was sealed."""
    return canonical({**record, "sealed_at": portable(sealed_at)})


def part_of(record: Mapping[str, Any]) -> str:
    """Which of the rows of its interaction a record tells of, as `Key` has it."""
    if record.get("gone"):
        return str(record["part"])
    match record["kind"]:
        case Kind.ASSESSMENT:
            return str(record["profile_hash"])
        case Kind.JUDGEMENT:
            return f"{record['metric']}/{record['model']}/{record['prompt_hash']}"
    return ""
