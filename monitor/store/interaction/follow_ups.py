"""Queues the work that follows the storing of an interaction: its assessment, the sidecar, the judge."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from monitor.core.model import Interaction, Work

if TYPE_CHECKING:
    import psycopg

_ENQUEUE = """
    INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)
    SELECT kind, app, id, occurred_at, %(group)s, %(now)s, %(now)s
    FROM unnest(%(kinds)s::text[], %(apps)s::text[], %(ids)s::text[], %(times)s::timestamptz[])
      AS wanted (kind, app, id, occurred_at)
    WHERE kind <> 'judge' OR NOT EXISTS (
        SELECT FROM judgement j WHERE j.app = wanted.app AND j.id = wanted.id AND j.occurred_at = wanted.occurred_at
    )
    ON CONFLICT DO NOTHING
"""


def enqueue(
    connection: psycopg.Connection, group: str, now: datetime, wanted: Sequence[tuple[Work, Interaction]]
) -> None:
    """Queues work, each kind once per interaction; a judged interaction is not judged again."""
    if not wanted:
        return
    interactions = [interaction for _, interaction in wanted]
    connection.execute(
        _ENQUEUE,
        {
            "group": group,
            "now": now,
            "kinds": [str(kind) for kind, _ in wanted],
            "apps": [interaction.app for interaction in interactions],
            "ids": [interaction.id for interaction in interactions],
            "times": [interaction.occurred_at for interaction in interactions],
        },
    )
