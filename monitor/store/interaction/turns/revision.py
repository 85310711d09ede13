"""Revises stored interactions: more of a trace came after its turn was stored, so the turn is stored anew.

The row keeps its place: its id, when it occurred and was first stored, and the message that it first came in. All else
is that of the newer message. Its live assessment gives way to the new one, which keeps it as `earlier`; assessments
beside it, which were of the earlier texts, go. Labels, judgements and feedback stay. The audit trail seals the new row
with the digest of the one that it revises.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from monitor.core.batch import Batch
from monitor.core.message import Offset
from monitor.core.model import Assessment, Interaction, Mark
from monitor.core.pending import Work
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import SECRET, Key, as_jsonb, read_rows, record_digest, row_record, stored_row
from monitor.store.database import copy_rows
from monitor.store.interaction.follow_ups import enqueue
from monitor.store.interaction.rows import (
    ASSESSMENT_COLUMNS,
    INTERACTION_COLUMNS,
    as_earlier,
    assessment_row,
    counted_row,
    interaction_of,
    interaction_row,
)
from monitor.store.interaction.turns.moves import Move, ledgers_of, move_outcomes
from monitor.store.ledger.offsets import lock_ledgers

if TYPE_CHECKING:
    import psycopg

    from monitor.store.interaction.writer import Writer

_OF_TIME = frozenset({Mark.TIME_DEFAULTED, Mark.TIME_OUT_OF_RANGE})
_KEPT = frozenset({"app", "id", "occurred_at", "stored_at", "source_topic", "source_partition", "source_offset"})
_CHANGED = tuple(name for name in INTERACTION_COLUMNS if name not in _KEPT)
_WORK = """
    SELECT p.app, p.interaction_id, p.kind, p.group_id FROM pending p
    JOIN unnest(%s::text[], %s::text[]) AS w (app, id)
    ON p.app = w.app AND p.interaction_id = w.id ORDER BY p.id FOR UPDATE OF p
"""
_LOCK = """
    SELECT i.app, i.id, i.source_topic, i.source_partition FROM interaction i
    JOIN unnest(%s::text[], %s::text[]) AS w (app, id) USING (app, id)
    ORDER BY i.app, i.id FOR UPDATE OF i
"""
_LIVE = """
    SELECT a.app, a.id, a.profile_hash, a.live FROM assessment a
    JOIN unnest(%s::text[], %s::text[]) AS w (app, id) USING (app, id)
    ORDER BY a.app, a.id, a.profile_hash FOR UPDATE OF a
"""
_FORGET = """
    DELETE FROM pending p USING unnest(%s::text[], %s::text[]) AS w (app, id)
    WHERE p.app = w.app AND p.interaction_id = w.id
"""
_UPDATE_TEMPLATE = """
    UPDATE interaction SET {values}, replaced_at = %s, replaced_offset = %s
    WHERE app = %s AND id = %s AND occurred_at = %s
"""
_UPDATE = _UPDATE_TEMPLATE.format(values=", ".join(f"{name} = %s" for name in _CHANGED))
_REPLACE_TEMPLATE = """
    UPDATE assessment SET {values}, revised_at = %s, earlier = %s
    WHERE app = %s AND id = %s AND occurred_at = %s AND profile_hash = %s
"""
_REPLACE = _REPLACE_TEMPLATE.format(values=", ".join(f"{name} = %s" for name in ASSESSMENT_COLUMNS))
_REMOVE = "DELETE FROM assessment WHERE app = %s AND id = %s AND occurred_at = %s AND (NOT live OR %s::boolean)"


class _Stood(NamedTuple):
    """What is stored of an interaction: its row, its live assessment if it has one, and its outcome in the ledger."""

    row: Mapping[str, Any]
    live: Mapping[str, Any] | None
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Revision:
    """An interaction as it is from now on, with its assessment if it has one, and what stood before."""

    interaction: Interaction
    offset: int | None  # of the revising message, if it has a position
    assessment: Assessment | None
    outcome: str
    stood: _Stood


def lock_revised(
    connection: psycopg.Connection, group: str, revising: Sequence[Interaction], offsets: Sequence[Offset]
) -> None:
    """Locks what revisions will change, before anything else, in the order of the workers: work, rows, ledgers."""
    keys = _keys(revising)
    connection.execute(_WORK, keys)
    stored = connection.execute(_LOCK, keys).fetchall()
    connection.execute(_LIVE, keys)
    places = [(topic, number) for _, _, topic, number in stored if topic is not None]
    lock_ledgers(connection, [*((group, o.topic, o.partition) for o in offsets), *ledgers_of(connection, places)])


def revise(
    writer: Writer, connection: psycopg.Connection, batch: Batch, known: Iterable[Interaction], now: datetime
) -> None:
    """Revises the stored interactions of those in `known` that revise one, in the caller's transaction.

    Of several for one interaction the last counts. Without effect are those of an erased interaction, those of one that
    came in another partition, and those that are older than what is stored or say the same. To be called after the
    batch is stored and counted.
    """
    newest = {(it.app, it.id): it for it in sorted((it for it in known if it.revises), key=_offset)}
    if not newest:
        return
    assessed = {id(a.interaction): a for a in batch.assessments}
    stood, waiting = _stood(connection, list(newest.values()))
    revisions = [
        revision
        for key in sorted(newest)
        if key in stood and (revision := _revision(newest[key], assessed.get(id(newest[key])), stood[key])) is not None
    ]
    if not revisions:
        return
    _store(connection, revisions, now)
    writer.queue_to_seal(
        connection, Kind.INTERACTION, [_sealed(r, now) for r in revisions], _digests(Kind.INTERACTION, revisions)
    )
    _store_assessments(writer, connection, revisions, now)
    writer.recount(
        connection,
        before=[counted_row(interaction_of(r.stood.row), r.stood.live) for r in revisions if r.stood.live is not None],
        after=[r.assessment for r in revisions if r.assessment is not None],
    )
    writer.recount_unscored(
        connection,
        before=[interaction_of(r.stood.row) for r in revisions if r.stood.outcome == "unscored"],
        after=[r.interaction for r in revisions if r.outcome == "unscored"],
    )
    moves = [
        Move(
            at=r.interaction.position,
            was=r.stood.outcome,
            becomes=r.outcome,
            group=waiting.get((r.interaction.app, r.interaction.id), writer.group),
        )
        for r in revisions
    ]
    groups = move_outcomes(connection, moves)
    connection.execute(_FORGET, _keys([r.interaction for r in revisions]))
    for of, r in zip(groups, revisions, strict=True):
        if r.outcome == "pending":
            enqueue(connection, of, now, [(Work.ASSESS, r.interaction)])
    writer.follow_up(connection, [r.assessment for r in revisions if r.assessment is not None])


def _stood(
    connection: psycopg.Connection, wanted: Sequence[Interaction]
) -> tuple[dict[tuple[str, str], _Stood], dict[tuple[str, str], str]]:
    """What is stored of the interactions, which are locked, and the group of the work on those that are pending."""
    keys = _keys(wanted)
    live = [(app, id_, hash_) for app, id_, hash_, is_live in connection.execute(_LIVE, keys).fetchall() if is_live]
    assessments = {key[:2]: row for key, row in read_rows(connection, Kind.ASSESSMENT, live).items()}
    work = connection.execute(_WORK, keys).fetchall()
    waiting = {(app, id_): group for app, id_, kind, group in work if kind == Work.ASSESS}
    found = {}
    for (app, id_, _), row in read_rows(connection, Kind.INTERACTION, [(it.app, it.id, "") for it in wanted]).items():
        key = app, id_
        outcome = "unscored" if row["unscored"] is not None else "pending" if key in waiting else "assessed"
        found[key] = _Stood(row, assessments.get(key), outcome)
    return found, waiting


def _revision(it: Interaction, assessment: Assessment | None, stood: _Stood) -> _Revision | None:
    """What becomes of a stored interaction; None where it stays as it is."""
    before = interaction_of(stood.row)
    if Mark.ERASED in before.marks:
        return None
    if _partition(it) != _partition(before):
        return None  # another producer has given this id to an interaction of its own
    offset = None
    if before.position is not None and it.position is not None:
        offset = it.position.offset
        if offset <= max(before.position.offset, stood.row["replaced_offset"] or 0):
            return None
    marks = (it.marks - _OF_TIME) | (before.marks & _OF_TIME)
    it = replace(it, occurred_at=before.occurred_at, position=before.position, marks=marks)
    if _content(it, stood.row["stored_at"]) == _content(before, stood.row["stored_at"]):
        return None
    return _Revision(
        interaction=it,
        offset=offset,
        assessment=None if assessment is None else replace(assessment, interaction=it),
        outcome="unscored" if it.unscored is not None else "pending" if assessment is None else "assessed",
        stood=stood,
    )


def _content(it: Interaction, stored_at: datetime) -> list[object]:
    """The values of `_CHANGED`."""
    return [
        value
        for name, value in zip(INTERACTION_COLUMNS, interaction_row(it, stored_at), strict=True)
        if name not in _KEPT
    ]


def _store(connection: psycopg.Connection, revisions: Sequence[_Revision], now: datetime) -> None:
    with connection.cursor() as cursor:
        cursor.executemany(
            _UPDATE,
            [(*_content(r.interaction, r.stood.row["stored_at"]), now, r.offset, *_place(r)) for r in revisions],
        )


def _sealed(r: _Revision, now: datetime) -> dict[str, Any]:
    """The row of `interaction` as it will be read."""
    row = stored_row(Kind.INTERACTION, INTERACTION_COLUMNS, interaction_row(r.interaction, r.stood.row["stored_at"]))
    return {**row, "replaced_at": now, "replaced_offset": r.offset}


def _digests(kind: Kind, revisions: Iterable[_Revision]) -> dict[Key, str]:
    """The digests of the sealed rows that gave way, by key."""
    found = {}
    for r in revisions:
        row = r.stood.row if kind is Kind.INTERACTION else r.stood.live
        if row is not None and row[SECRET] is not None:
            part = "" if kind is Kind.INTERACTION else row["profile_hash"]
            found[r.interaction.app, r.interaction.id, part] = record_digest(row_record(kind, row, bytes(row[SECRET])))
    return found


def _store_assessments(
    writer: Writer, connection: psycopg.Connection, revisions: Sequence[_Revision], now: datetime
) -> None:
    new, replaced, rows = [], [], []
    for r in revisions:
        if r.assessment is None:
            continue
        values = assessment_row(r.assessment)
        row = stored_row(Kind.ASSESSMENT, ASSESSMENT_COLUMNS, values)
        if r.stood.live is None:
            new.append(values)
        else:
            earlier = as_earlier(r.stood.live)
            replaced.append((*values, now, earlier, *_place(r), r.stood.live["profile_hash"]))
            row |= {"revised_at": now, "earlier": as_jsonb(earlier)}
        rows.append(row)
    with connection.cursor() as cursor:
        cursor.executemany(_REMOVE, [(*_place(r), r.assessment is None) for r in revisions])
        if replaced:
            cursor.executemany(_REPLACE, replaced)
    if new:
        copy_rows(connection, "assessment", ASSESSMENT_COLUMNS, new)
    writer.queue_to_seal(connection, Kind.ASSESSMENT, rows, _digests(Kind.ASSESSMENT, revisions))


def _keys(interactions: Sequence[Interaction]) -> tuple[list[str], list[str]]:
    return [it.app for it in interactions], [it.id for it in interactions]


def _place(r: _Revision) -> tuple[object, ...]:
    return r.interaction.app, r.interaction.id, r.interaction.occurred_at


def _partition(it: Interaction) -> tuple[str, int] | None:
    return None if it.position is None else (it.position.topic, it.position.partition)


def _offset(it: Interaction) -> int:
    return -1 if it.position is None else it.position.offset
