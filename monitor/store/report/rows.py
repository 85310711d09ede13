"""Reads from rows what the rollups lack: prompt versions, and which documents were retrieved and supported answers.

A week with more than `MOST` answers is sampled evenly: by thin slices of time, the same ones each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, TextClause, text

from monitor.alert.window import Span
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.report.weekly.facts import DocumentUse, ReadAnswers, TwoWeeks
from monitor.report.weekly.groups import FEWEST_RETRIEVALS
from monitor.report.weekly.week import Week
from monitor.store.alert.explanations import thin_slices

MOST = 100_000
# A passage with this score supports its sentence at least in part: `monitor explain` calls that `partly`.
CARRIES = 0.6

# Reads the assessments of each slice by the index on app, verdict and time (hence all verdicts by name), then the
# interaction of each by its key. OFFSET 0 keeps the planner from joining whole months instead.
SAMPLED_ROWS = """
    FROM unnest(CAST(:starts AS timestamptz[]), CAST(:ends AS timestamptz[])) AS s (start, stop)
    CROSS JOIN LATERAL (
        SELECT a.* FROM assessment a
        WHERE a.app = :app AND a.verdict = ANY(CAST(:verdicts AS text[])) AND a.live
            AND a.occurred_at >= s.start AND a.occurred_at < s.stop
            AND a.occurred_at >= :first AND a.occurred_at < :last OFFSET 0
    ) a
"""
INTERACTION = """
    CROSS JOIN LATERAL (
        SELECT i.{column} FROM interaction i
        WHERE i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at OFFSET 0
    ) i
"""
_COUNT = text(
    "SELECT count(*) AS answers, count(*) FILTER (WHERE a.verdict = 'self_generated') AS self_generated" + SAMPLED_ROWS
)
_PROMPTS = """
    SELECT coalesce(i.prompt_version, '') AS value, a.verdict, count(*) AS n
    {sampled} {interaction} GROUP BY 1, 2
"""
# Documents that a generator or the sidecar named count as supporting. Extractive support does not: it always exists.
_DOCUMENTS = """
    SELECT r.document, count(*) AS answers, count(*) FILTER (WHERE a.verdict = 'self_generated') AS self_generated,
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
    {sampled} {interaction}
    CROSS JOIN LATERAL (SELECT DISTINCT d ->> 'id' AS document FROM jsonb_array_elements(i.retrieved_documents) d) r
    GROUP BY r.document HAVING count(*) >= :fewest
"""


def prompt_versions(connection: Connection, app: str, week: Week, *, totals: tuple[int, int]) -> dict[str, TwoWeeks]:
    """Verdicts by prompt version, '' where the event named none; `totals` are those of this week and the one before."""
    now, before = (
        _by_prompt(connection, sample(app, of_week.start, of_week.end, total))
        for of_week, total in zip((week, week.before), totals, strict=True)
    )
    return {
        name: TwoWeeks(this=now.get(name, Verdicts()), before=before.get(name, Verdicts()))
        for name in sorted({*now, *before})
    }


def read(connection: Connection, app: str, week: Week, *, total: int) -> ReadAnswers:
    """The documents that were retrieved often, among the `total` answers of the week or a sample of them."""
    values = sample(app, week.start, week.end, total)
    whole = connection.execute(_COUNT, values).mappings().one()
    found = connection.execute(
        _from_sample(_DOCUMENTS, "retrieved_documents"), {**values, "carries": CARRIES, "fewest": FEWEST_RETRIEVALS}
    ).mappings()
    documents = (
        DocumentUse(
            id=row["document"],
            answers=row["answers"],
            self_generated=row["self_generated"],
            compared=row["compared"],
            supported=row["supported"],
        )
        for row in found
    )
    return ReadAnswers(
        answers=whole["answers"],
        of=total,
        self_generated=whole["self_generated"],
        documents=tuple(sorted(documents, key=lambda document: document.id)),
    )


def _from_sample(template: str, column: str) -> TextClause:
    return text(template.format(sampled=SAMPLED_ROWS, interaction=INTERACTION.format(column=column)))


def _by_prompt(connection: Connection, values: Mapping[str, Any]) -> dict[str, Verdicts]:
    found: dict[str, Verdicts] = {}
    for row in connection.execute(_from_sample(_PROMPTS, "prompt_version"), values).mappings():
        found[row["value"]] = found.get(row["value"], Verdicts()) + Verdicts(**{row["verdict"]: row["n"]})
    return found


def sample(app: str, start: datetime, end: datetime, total: int) -> dict[str, Any]:
    """The values of `SAMPLED_ROWS`: all of the `total` answers of [start, end), or an even sample of them."""
    slices = thin_slices(Span(start=start, end=end), MOST / max(total, 1))
    return {
        "app": app,
        "verdicts": [verdict.value for verdict in Verdict],
        "starts": [slice_.start for slice_ in slices],
        "ends": [slice_.end for slice_ in slices],
        "first": start,
        "last": end,
    }
