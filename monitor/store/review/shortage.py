"""Reads what labels calibration still lacks."""

from __future__ import annotations

from sqlalchemy import Engine, text

from monitor.review.label import consensus
from monitor.review.shortage import CountedLabel, Shortage
from monitor.store.database import limited_read
from monitor.store.review.labels import opinion_of

MOST = 2_000  # the newest labels that are counted; ten times what calibration asks for
# Usable is what `monitor.review.calibrate.run.rows_of` keeps; an answer that is no longer stored is not.
_COUNTED = """
    SELECT r.app, r.interaction_id, r.occurred_at, r.label, r.labelled_by, r.labelled_at, r.number, r.drawn, r.verdict,
        r.rule_verdict, coalesce(a.usable, false) AS usable
    FROM (
        SELECT DISTINCT ON (app, interaction_id, labelled_by) *, id AS number
        FROM (SELECT * FROM review {of_app} ORDER BY id DESC LIMIT :most) newest
        ORDER BY app, interaction_id, labelled_by, id DESC
    ) r
    LEFT JOIN LATERAL (
        SELECT refusal_kind <> 'full' AND evidence -> 'features' ->> 'grounding' IS NOT NULL AS usable FROM assessment
        WHERE app = r.app AND id = r.interaction_id AND occurred_at = r.occurred_at AND live LIMIT 1
    ) a ON true
"""


def shortage(engine: Engine, app: str | None = None) -> Shortage:
    """What calibration lacks on the labels of the app, or of all apps.

    Raises:
        Retriable: the database is out of reach.
    """
    values = {"most": MOST} if app is None else {"most": MOST, "app": app}
    query = _COUNTED.format(of_app="" if app is None else "WHERE app = :app")
    with limited_read(engine, "the database is busy; try again in a moment", milliseconds=5_000) as connection:
        rows = connection.execute(text(query), values).mappings().all()
    usable = {(row["app"], row["interaction_id"]): bool(row["usable"]) for row in rows}
    decided = sorted(consensus(map(opinion_of, rows)), key=lambda one: one.newest.number)
    return Shortage(
        labels=[
            CountedLabel(
                label=one.newest.label,
                usable=one.newest.label.value != "refusal" and usable[one.newest.app, one.newest.id],
            )
            for one in decided
        ]
    )
