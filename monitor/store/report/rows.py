"""What only the rows themselves know: prompt versions, and which documents were retrieved and carried something.

Of a week with more than `MOST` answers an even sample is read: thin slices of time, the same ones each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, text

from monitor.alert.window import Span
from monitor.core.model import Verdict
from monitor.core.verdict_counts import Verdicts
from monitor.report.weekly.facts import Both, DocumentUse, Read
from monitor.report.weekly.groups import FEWEST_RETRIEVALS
from monitor.report.weekly.week import Week
from monitor.store.alert.explanations import thin_slices

MOST = 100_000
# A sentence whose passage scores that much is carried at least in part: what `monitor explain` calls `partly`.
CARRIES = 0.6

# For each slice its assessments, by the index on app, verdict and time (hence all verdicts by name), then each one's
# interaction by its key. OFFSET 0 keeps the planner from joining whole months instead.
_SAMPLED = """
    FROM unnest(CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[])) AS s (start, stop)
    CROSS JOIN LATERAL (
        SELECT a.* FROM assessment a
        WHERE a.app = :app AND a.verdict = ANY(CAST(:verdicts AS text[])) AND a.live
            AND a.occurred_at >= s.start AND a.occurred_at < s.stop
            AND a.occurred_at >= :first AND a.occurred_at < :last OFFSET 0
    ) a
"""
_INTERACTION = """
    CROSS JOIN LATERAL (
        SELECT i.{column} FROM interaction i
        WHERE i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at OFFSET 0
    ) i
"""
_COUNT = text(f"SELECT count(*) AS answers, count(*) FILTER (WHERE a.verdict = 'self_generated') AS made_up {_SAMPLED}")
_PROMPTS = text(f"""
    SELECT coalesce(i.prompt_version, '') AS value, a.verdict, count(*) AS n
    {_SAMPLED} {_INTERACTION.format(column="prompt_version")} GROUP BY 1, 2
""")
# What a generator or the sidecar named supports; extractive support is always found, and says nothing here.
_DOCUMENTS = text(f"""
    SELECT r.document, count(*) AS answers, count(*) FILTER (WHERE a.verdict = 'self_generated') AS made_up,
        count(*) FILTER (WHERE a.evidence ? 'alignment') AS compared,
        count(*) FILTER (WHERE a.evidence ? 'alignment' AND (
            EXISTS (
                SELECT FROM jsonb_array_elements(a.evidence -> 'alignment') p
                WHERE p ->> 'document_id' = r.document AND (p ->> 'score')::float >= :carries
                    AND NOT coalesce((p ->> 'contradicts')::boolean, false)
            ) OR a.support ->> 'origin' <> 'extractive' AND EXISTS (
                SELECT FROM jsonb_array_elements(a.support -> 'documents') p WHERE p ->> 'document_id' = r.document
            )
        )) AS supported
    {_SAMPLED} {_INTERACTION.format(column="retrieved_documents")}
    CROSS JOIN LATERAL (SELECT DISTINCT d ->> 'id' AS document FROM jsonb_array_elements(i.retrieved_documents) d) r
    GROUP BY r.document HAVING count(*) >= :fewest
""")  # noqa: S608  made of this file's own constants


def prompt_versions(connection: Connection, app: str, week: Week, *, totals: tuple[int, int]) -> dict[str, Both]:
    """Answers by prompt version, '' where an event named none; `totals` of this week and the one before."""
    now, before = (
        _by_prompt(connection, _sample(app, one, total)) for one, total in zip((week, week.before), totals, strict=True)
    )
    return {
        name: Both(this=now.get(name, Verdicts()), before=before.get(name, Verdicts()))
        for name in sorted({*now, *before})
    }


def read(connection: Connection, app: str, week: Week, *, total: int) -> Read:
    """Documents that were retrieved often, among `total` answers of the week or a sample of them."""
    values = _sample(app, week, total)
    whole = connection.execute(_COUNT, values).mappings().one()
    found = connection.execute(_DOCUMENTS, {**values, "carries": CARRIES, "fewest": FEWEST_RETRIEVALS}).mappings()
    documents = (
        DocumentUse(
            id=row["document"],
            answers=row["answers"],
            self_generated=row["made_up"],
            compared=row["compared"],
            supported=row["supported"],
        )
        for row in found
    )
    return Read(
        answers=whole["answers"],
        of=total,
        self_generated=whole["made_up"],
        documents=tuple(sorted(documents, key=lambda one: one.id)),
    )


def _by_prompt(connection: Connection, values: Mapping[str, Any]) -> dict[str, Verdicts]:
    found: dict[str, Verdicts] = {}
    for row in connection.execute(_PROMPTS, values).mappings():
        found[row["value"]] = found.get(row["value"], Verdicts()) + Verdicts(**{row["verdict"]: row["n"]})
    return found


def _sample(app: str, week: Week, total: int) -> dict[str, Any]:
    slices = thin_slices(Span(start=week.start, end=week.end), MOST / max(total, 1))
    return {
        "app": app,
        "verdicts": [verdict.value for verdict in Verdict],
        "starts": [one.start for one in slices],
        "ends": [one.end for one in slices],
        "first": week.start,
        "last": week.end,
    }
