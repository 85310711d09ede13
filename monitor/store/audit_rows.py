"""Stored rows as the audit trail sees them: reads them with their secrets, and makes the records to seal.

`stored_row` does without reading: what is sealed of a row is made from what this process stores, so that nothing that
happens to the row in the database can change it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import partial
from hashlib import sha256
from typing import TYPE_CHECKING, Any, TypeAlias

from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads
from pydantic_core import from_json, to_json
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from monitor.audit.canonical import canonical, canonical_of_json
from monitor.audit.commitment import new_secret
from monitor.audit.record import VERSION, Record, Row, Write, assessment_record, interaction_record, judgement_record
from monitor.core.errors import Fatal
from monitor.core.model import Mark
from monitor.store.audit_queue import STORED, Kind, judgement_part
from monitor.store.tables.interactions import assessment, interaction, judgement

if TYPE_CHECKING:
    import psycopg

Key: TypeAlias = tuple[str, str, str]  # app, id of the interaction, part
REVISES = "revises"
OF_LEAF = frozenset({REVISES, "entry", "sealed_at"})  # what a leaf says beside the record of its row
SECRET = "audit_secret"  # noqa: S105  the name under which a row brings the secret of its interaction

_RECORD: Mapping[str, Callable[[Row, bytes, int, Write], Record]] = {
    Kind.INTERACTION: interaction_record,
    Kind.ASSESSMENT: assessment_record,
    Kind.JUDGEMENT: judgement_record,
}
TABLE = {Kind.INTERACTION: interaction, Kind.ASSESSMENT: assessment, Kind.JUDGEMENT: judgement}
# The part of a row's key in SQL. That of a judgement is what `judgement_part` makes.
PART = {
    Kind.INTERACTION: "''",
    Kind.ASSESSMENT: "r.profile_hash",
    Kind.JUDGEMENT: "r.metric || '/' || r.model || '/' || r.prompt_hash",
}
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
        columns=", ".join(f"r.{column.name}" for column in TABLE[kind].columns),
        secret=SECRET,
        table=TABLE[kind].name,
        at_time="AND r.occurred_at = w.at" if at_time else "",
        part=PART[kind],
    )


_READ = {(kind, at_time): _select(kind, at_time=at_time) for kind in STORED for at_time in (False, True)}


_NEW = "INSERT INTO audit_secret (app, id, secret) VALUES (%s, %s, %s) ON CONFLICT DO NOTHING"
_EXPONENT = re.compile("[0-9]e[+]?[0-9]")
# Several times as fast as the standard library's. JSON has no NaN, and neither have the records that are made of it.
_parsed = partial(from_json, allow_inf_nan=False)


def as_jsonb(text: str) -> Any:
    """What is read back of JSON that was stored as jsonb, which has no exponents: 1e+25 becomes an integer."""
    return _parsed(text) if _EXPONENT.search(text) is None else json.loads(text, parse_float=_as_numeric)


def _as_numeric(text: str) -> int | float:
    digits = f"{Decimal(text):f}"
    return float(digits) if "." in digits else int(digits)


def _array(text: str) -> list[str]:
    """The words of an array that need no quoting."""
    return text[1:-1].split(",") if len(text) > len("{}") else []


_AS_TEXT: Mapping[Kind, Mapping[str, Callable[[Any], Any]]] = {
    kind: {
        column.name: as_jsonb if isinstance(column.type, JSONB) else _array
        for column in table.columns
        if isinstance(column.type, JSONB | ARRAY)
    }
    for kind, table in TABLE.items()
}
_DEFAULTS: Mapping[Kind, Mapping[str, Any]] = {
    Kind.INTERACTION: {},
    Kind.ASSESSMENT: {"live": True, "revised_at": None, "earlier": None},
    Kind.JUDGEMENT: {},
}


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
        set_json_loads(_parsed, cursor)
        cursor.execute(_READ[kind, times is not None], {"keys": to_json(wanted).decode()})
        return {(row["app"], row["id"], row["part"]): row for row in cursor.fetchall()}


def states(
    connection: psycopg.Connection, interactions: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], InteractionState]:
    """The states of those interactions that are stored, by app and id."""
    wanted = sorted(set(interactions))
    columns = ([app for app, _ in wanted], [id_ for _, id_ in wanted])
    rows = connection.execute(_STATES, (Mark.ERASED.value, *columns)).fetchall()
    return {(app, id_): InteractionState(erased=erased, secret=secret) for app, id_, erased, secret in rows}


def stored_row(kind: Kind, columns: Sequence[str], values: Sequence[object]) -> dict[str, Any]:
    """The row that will be read once `values` are stored in `columns`, which hold JSON and arrays as text."""
    row: dict[str, Any] = dict(_DEFAULTS[kind])
    for name, value in zip(columns, values, strict=True):
        if value is not None and name in _AS_TEXT[kind]:
            row[name] = _AS_TEXT[kind][name](value)
        else:
            row[name] = str(value) if isinstance(value, StrEnum) else value
    return row


def queued_records(
    connection: psycopg.Connection, kind: Kind, rows: Sequence[Row], revises: Mapping[Key, str]
) -> list[str]:
    """What is to be sealed of rows that are being stored and whose interactions are stored, in canonical form.

    `revises` holds, by key, the `record_digest` of the row that a row replaced. An interaction that an earlier release
    stored may have no secret yet, and gets one.

    Raises:
        Fatal: an interaction is not stored, or was erased; its rows must not be stored either.
    """
    secrets = make_secrets(connection, {(row["app"], row["id"]) for row in rows})
    records = []
    for row in rows:
        secret = secrets.get((row["app"], row["id"]))
        if secret is None:
            raise Fatal(f"{row['id']} in {row['app']} is not stored or was erased: its {kind} is not stored")
        key = row["app"], row["id"], part_of(kind, row)
        records.append(queued_record(kind, row, secret, revises.get(key)))
    return records


def queued_record(kind: Kind, row: Row, secret: bytes, revises: str | None = None) -> str:
    """What is to be sealed of a row that `stored_row` gave, in canonical form; `secret` is that of its interaction."""
    record = row_record(kind, row, secret, write=canonical_of_json)
    return canonical_of_json(record if revises is None else {**record, REVISES: revises}).decode()


def record_digest(record: Record) -> str:
    """What a revision says of the record before it: its SHA-256, without what only a leaf adds, in hex."""
    return sha256(canonical({name: value for name, value in record.items() if name not in OF_LEAF})).hexdigest()


def make_secrets(
    connection: psycopg.Connection, interactions: Iterable[tuple[str, str]]
) -> dict[tuple[str, str], bytes]:
    """The secret of each interaction that is stored and not erased; makes those that are missing."""
    known = {key: state.secret for key, state in states(connection, interactions).items() if not state.erased}
    missing = sorted(key for key, secret in known.items() if secret is None)
    if missing:
        with connection.cursor() as cursor:
            cursor.executemany(_NEW, [(*key, new_secret()) for key in missing])
        known |= {key: state.secret for key, state in states(connection, missing).items()}
    return {key: bytes(secret) for key, secret in known.items() if secret is not None}


def part_of(kind: str, row: Row) -> str:
    """Which row of its interaction a row or record is: the part of its `Key`."""
    match kind:
        case Kind.ASSESSMENT:
            return str(row["profile_hash"])
        case Kind.JUDGEMENT:
            return judgement_part(row["metric"], row["model"], row["prompt_hash"])
    return ""


def row_record(
    kind: str, row: Mapping[str, Any], secret: bytes, version: int = VERSION, write: Write = canonical
) -> Record:
    """What is sealed of a stored row, in the version of `record`."""
    return _RECORD[kind](row, secret, version, write)


def gone_record(kind: str, key: Key) -> Record:
    """What is sealed of a row that was erased or removed before it was sealed: only that it existed."""
    app, id_, part = key
    return {"v": VERSION, "kind": str(kind), "app": app, "id": id_, "part": part, "gone": True}
