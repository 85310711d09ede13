"""The labels that are shown beside an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Engine, select
from sqlalchemy.dialects import postgresql

from monitor.store.database import retriable
from monitor.store.tables.review import review

_r = review.c


def newest_labels(engine: Engine, app: str, interaction_id: str) -> list[Mapping[str, Any]]:
    """The newest label of every person, by name: `label`, `labelled_by`, `labelled_at`, `note`.

    Raises:
        Retriable: the database is out of reach.
    """
    query = (
        select(_r.label, _r.labelled_by, _r.labelled_at, _r.note)
        .ext(postgresql.distinct_on(_r.labelled_by))
        .where(_r.app == app, _r.interaction_id == interaction_id)
        .order_by(_r.labelled_by, _r.id.desc())
    )
    with retriable(), engine.connect() as connection:
        return [dict(row) for row in connection.execute(query).mappings()]
