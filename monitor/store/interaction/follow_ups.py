"""What is still to be done for an interaction, queued in the transaction that stores it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from monitor.core.model import Assessment, Interaction, Work

if TYPE_CHECKING:
    import psycopg


FollowUps: TypeAlias = Callable[[Assessment], Iterable[Work]]


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
    """Queues work, each kind once for each interaction; one that was judged is not judged again."""
    if not wanted:
        return
    its = [it for _, it in wanted]
    connection.execute(_ENQUEUE, {
        "group": group, "now": now, "kinds": [str(kind) for kind, _ in wanted], "apps": [it.app for it in its],
        "ids": [it.id for it in its], "times": [it.occurred_at for it in its],
    })  # fmt: skip
