"""Queues the work that follows the storing of an interaction: assessment, sidecar, judge, and sending its verdict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from monitor.core.model import Assessment, Interaction
from monitor.core.pending import Work

if TYPE_CHECKING:
    import psycopg

FollowUps: TypeAlias = Callable[[Assessment], Iterable[Work]]  # the work to queue for a new assessment
Sends: TypeAlias = Callable[[Interaction], Iterable[Work]]  # where its verdict is to be sent

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
# What is queued or under way already is done again: the sender that has claimed it may have read the verdict before.
_SEND = """
    INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)
    SELECT DISTINCT kind, app, id, occurred_at, %(group)s, %(now)s::timestamptz, %(now)s::timestamptz
    FROM unnest(%(kinds)s::text[], %(apps)s::text[], %(ids)s::text[], %(times)s::timestamptz[])
      AS wanted (kind, app, id, occurred_at)
    ORDER BY app, id, kind
    ON CONFLICT (kind, app, interaction_id) DO UPDATE SET occurred_at = excluded.occurred_at,
        not_before = excluded.not_before, claim = NULL, attempts = 0, given_up = false, last_error = NULL
"""


def enqueue(
    connection: psycopg.Connection, group: str, now: datetime, wanted: Sequence[tuple[Work, Interaction]]
) -> None:
    """Queues work, each kind once per interaction; a judged interaction is not judged again."""
    if wanted:
        connection.execute(_ENQUEUE, _values(group, now, wanted))


def enqueue_to_send(
    connection: psycopg.Connection, group: str, now: datetime, wanted: Sequence[tuple[Work, Interaction]]
) -> None:
    """Queues verdicts to be sent out, or to be sent again as they are now."""
    if wanted:
        connection.execute(_SEND, _values(group, now, wanted))


def _values(group: str, now: datetime, wanted: Sequence[tuple[Work, Interaction]]) -> dict[str, object]:
    interactions = [interaction for _, interaction in wanted]
    return {
        "group": group,
        "now": now,
        "kinds": [str(kind) for kind, _ in wanted],
        "apps": [interaction.app for interaction in interactions],
        "ids": [interaction.id for interaction in interactions],
        "times": [interaction.occurred_at for interaction in interactions],
    }
