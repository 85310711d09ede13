"""Stores the assessments of a rescore: under another profile, beside the live ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from monitor.audit.record import Row
from monitor.core.model import Assessment
from monitor.store.audit_queue import Kind
from monitor.store.audit_rows import stored_row
from monitor.store.database import copy_rows
from monitor.store.interaction.rows import ASSESSMENT_COLUMNS, assessment_row, key

if TYPE_CHECKING:
    import psycopg

# Locked until the assessments are stored: a concurrent erasure or retention would miss them.
_STORED = """
    SELECT app, id, occurred_at, 'erased' = ANY(marks) FROM interaction
    JOIN unnest(%s::text[], %s::text[]) AS wanted (app, id) USING (app, id)
    ORDER BY app, id FOR SHARE OF interaction
"""
_COLUMNS = (*ASSESSMENT_COLUMNS, "live")
_INCOMING = """
    CREATE TEMPORARY TABLE IF NOT EXISTS incoming_assessment (LIKE assessment INCLUDING DEFAULTS) ON COMMIT DELETE ROWS
"""
_ADD = """
    INSERT INTO assessment ({columns}) SELECT {columns} FROM incoming_assessment
    ON CONFLICT DO NOTHING RETURNING app, id
"""


class Added(NamedTuple):
    """The assessments that were added, with their rows, and those whose interaction is not stored.

    The latter are left to the live reader: a key claimed here would be missing from its alerts.
    """

    assessments: list[Assessment]
    rows: list[Row]
    unknown: list[Assessment]


def add_assessments(connection: psycopg.Connection, assessments: Sequence[Assessment]) -> Added:
    """Adds assessments of stored interactions that are not erased and that the profile has not assessed yet."""
    if not assessments:
        return Added([], [], [])
    interactions = [a.interaction for a in assessments]
    found = connection.execute(
        _STORED, ([interaction.app for interaction in interactions], [interaction.id for interaction in interactions])
    ).fetchall()
    stored = {(app, id_): occurred_at for app, id_, occurred_at, _ in found}
    erased = {(app, id_) for app, id_, _, was_erased in found if was_erased}
    known: dict[tuple[str, str], Assessment] = {}
    unknown = []
    for assessment in sorted(assessments, key=key):
        if (place := key(assessment)) in erased:  # the message still holds the erased texts
            continue
        if place in stored:
            known.setdefault(place, assessment)
        else:
            unknown.append(assessment)
    connection.execute(_INCOMING)
    rows = {  # with the stored time, which is the time of receipt where the event has none
        place: (*assessment_row(replace(a, interaction=replace(a.interaction, occurred_at=stored[place]))), False)
        for place, a in known.items()
    }
    copy_rows(connection, "incoming_assessment", _COLUMNS, rows.values())
    added = sorted(connection.execute(_ADD.format(columns=", ".join(_COLUMNS))).fetchall())
    return Added(
        [known[place] for place in added],
        [stored_row(Kind.ASSESSMENT, _COLUMNS, rows[place]) for place in added],
        unknown,
    )
