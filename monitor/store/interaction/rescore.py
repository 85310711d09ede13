"""Stores the assessments of a rescore: under another profile, beside the live ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from monitor.core.model import Assessment
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


def add_assessments(
    connection: psycopg.Connection, assessments: Sequence[Assessment]
) -> tuple[list[Assessment], list[Assessment]]:
    """Adds assessments of stored interactions that are not erased and that the profile has not assessed yet.

    Returns the added ones, and those whose interaction is not stored. The latter are left to the live reader: a key
    claimed here would be missing from its alerts.
    """
    if not assessments:
        return [], []
    interactions = [a.interaction for a in assessments]
    rows = connection.execute(
        _STORED, ([interaction.app for interaction in interactions], [interaction.id for interaction in interactions])
    ).fetchall()
    stored = {(app, id_): occurred_at for app, id_, occurred_at, _ in rows}
    erased = {(app, id_) for app, id_, _, was_erased in rows if was_erased}
    known: dict[tuple[str, str], Assessment] = {}
    pending = []
    for assessment in sorted(assessments, key=key):
        if (place := key(assessment)) in erased:  # the message still holds the erased texts
            continue
        if place in stored:
            known.setdefault(place, assessment)
        else:
            pending.append(assessment)
    connection.execute(_INCOMING)
    copy_rows(
        connection,
        "incoming_assessment",
        _COLUMNS,
        # with the stored time, which is the time of receipt where the event has none
        [
            (*assessment_row(replace(a, interaction=replace(a.interaction, occurred_at=stored[place]))), False)
            for place, a in known.items()
        ],
    )
    return [known[place] for place in connection.execute(_ADD.format(columns=", ".join(_COLUMNS))).fetchall()], pending
