"""Reads from rows what the rollups lack: prompt versions, and which documents were retrieved and supported answers.

A week with more answers than are read is sampled evenly: by thin slices of time, the same ones each time.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, TextClause, text

from monitor.alert.window import Span
from monitor.core.figures.verdict_counts import Verdicts
from monitor.core.model import Verdict
from monitor.core.text.content_id import CONTENT_ID
from monitor.report.weekly.facts import Beginning, DocumentUse, ReadAnswers, TwoWeeks
from monitor.report.weekly.retrieval.documents import FEWEST_RETRIEVALS, shown_documents
from monitor.report.weekly.week import Week
from monitor.store.alert.explanations import thin_slices

MOST = 100_000
RETRIEVED = 20_000  # answers whose documents and chunks are read: these are long, and on a cold disk each costs 3 ms
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
# An answer rests on a document if it uses a chunk of it, if a passage of it supports a sentence, or if a generator or
# the sidecar named it. Extractive support does not count: it always exists. Texts of documents stay where they are.
_DOCUMENTS = """
    SELECT r.document, count(*) AS answers, count(*) FILTER (WHERE a.verdict = 'self_generated') AS self_generated,
        count(*) FILTER (WHERE e.compared) AS compared,
        count(*) FILTER (WHERE e.compared AND r.document = ANY(e.carrying)) AS supported,
        max(a.occurred_at) AS last, (array_agg(a.id ORDER BY a.occurred_at DESC, a.id))[1] AS last_id
    {sampled} {interaction}
    CROSS JOIN LATERAL (
        SELECT a.evidence ?| '{{alignment,retrieval}}' AS compared, ARRAY(
            SELECT p ->> 'document_id' FROM jsonb_array_elements(a.evidence -> 'alignment') p
            WHERE (p ->> 'score')::float >= :carries AND NOT coalesce((p ->> 'contradicts')::boolean, false)
            UNION ALL
            SELECT i.ids ->> c::int
            FROM jsonb_path_query(a.evidence, '$.retrieval.chunks[*] ? (@.used == true).document') c
            UNION ALL
            SELECT p ->> 'document_id' FROM jsonb_array_elements(a.support -> 'documents') p
            WHERE a.support ->> 'origin' <> 'extractive'
        ) AS carrying OFFSET 0
    ) e
    CROSS JOIN LATERAL (SELECT DISTINCT d AS document FROM jsonb_array_elements_text(i.ids) d) r
    GROUP BY r.document HAVING count(*) >= :fewest
"""
_IDS = "occurred_at, jsonb_path_query_array(i.retrieved_documents, '$[*].id') AS ids"
_BEGINNINGS = text("""
    SELECT d.document, f.id, f.beginning
    FROM unnest(CAST(:documents AS text[]), CAST(:ids AS text[]), CAST(:moments AS timestamptz[]))
        AS d (document, id, moment)
    CROSS JOIN LATERAL (
        SELECT i.id, left(r ->> 'text', :longest) AS beginning
        FROM interaction i, jsonb_array_elements(i.retrieved_documents) r
        WHERE i.app = :app AND i.id = d.id AND i.occurred_at = d.moment AND r ->> 'id' = d.document
            AND NOT 'erased' = ANY(i.marks)
        LIMIT 1
    ) f
""")
_BEGINNING = 300  # characters of a document that are read


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
    values = sample(app, week.start, week.end, total, RETRIEVED)
    whole = connection.execute(_COUNT, values).mappings().one()
    found = connection.execute(
        _from_sample(_DOCUMENTS, _IDS), {**values, "carries": CARRIES, "fewest": FEWEST_RETRIEVALS}
    ).mappings()
    documents = (
        DocumentUse(
            id=row["document"],
            answers=row["answers"],
            self_generated=row["self_generated"],
            compared=row["compared"],
            supported=row["supported"],
            last=row["last"],
            last_id=row["last_id"],
        )
        for row in found
    )
    known = ReadAnswers(
        answers=whole["answers"],
        of=total,
        self_generated=whole["self_generated"],
        documents=tuple(sorted(documents, key=lambda document: document.id)),
    )
    return replace(known, beginnings=_beginnings(connection, app, known))


def _beginnings(connection: Connection, app: str, known: ReadAnswers) -> dict[str, Beginning]:
    """The first words of those documents without an id of their own that the report shows."""
    nameless = [document for document in shown_documents(known) if document.id.startswith(CONTENT_ID)]
    values = {
        "app": app,
        "documents": [document.id for document in nameless],
        "ids": [document.last_id for document in nameless],
        "moments": [document.last for document in nameless],
        "longest": _BEGINNING,
    }
    rows = connection.execute(_BEGINNINGS, values) if nameless else ()
    return {row.document: Beginning(id=row.id, text=row.beginning) for row in rows if row.beginning}


def _from_sample(template: str, column: str) -> TextClause:
    return text(template.format(sampled=SAMPLED_ROWS, interaction=INTERACTION.format(column=column)))


def _by_prompt(connection: Connection, values: Mapping[str, Any]) -> dict[str, Verdicts]:
    found: dict[str, Verdicts] = {}
    for row in connection.execute(_from_sample(_PROMPTS, "prompt_version"), values).mappings():
        found[row["value"]] = found.get(row["value"], Verdicts()) + Verdicts(**{row["verdict"]: row["n"]})
    return found


def sample(app: str, start: datetime, end: datetime, total: int, most: int | None = None) -> dict[str, Any]:
    """The values of `SAMPLED_ROWS`: all of the `total` answers of [start, end), or an even sample of `most` or MOST."""
    slices = thin_slices(Span(start=start, end=end), (most or MOST) / max(total, 1))
    return {
        "app": app,
        "verdicts": [verdict.value for verdict in Verdict],
        "starts": [slice_.start for slice_ in slices],
        "ends": [slice_.end for slice_ in slices],
        "first": start,
        "last": end,
    }
