"""The load of the speed benchmarks: the demo's traffic, its events as JSON, and a plain COPY of the resulting rows."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg

from monitor.app.wiring.application import Application
from monitor.core.model import Assessment, Interaction
from monitor.simulate.scenarios import RETRIEVAL_OUTAGE, Scenario
from monitor.simulate.traffic import play
from monitor.store.interaction.rows import ASSESSMENT_COLUMNS, INTERACTION_COLUMNS, assessment_row, interaction_row

SEED = 20_261_121
PER_MINUTE = 600
TABLES = (
    "interaction_key, interaction, assessment, verdict_minute, dead_letter,"
    " audit_queue, audit_leaf, audit_tile, audit_secret, audit_checkpoint"
)


def busy(scenario: Scenario) -> Scenario:
    """The scenario with the traffic of a large installation."""
    phases = tuple(replace(phase, per_minute=PER_MINUTE) for phase in scenario.phases)
    return replace(scenario, phases=phases)


def interactions(count: int) -> list[Interaction]:
    found: list[Interaction] = []
    start = datetime.now(UTC) - timedelta(days=2)
    seed = SEED
    while len(found) < count:
        for _, answered in play(busy(RETRIEVAL_OUTAGE), app="bench", start=start, seed=seed):
            found += [replace(s.interaction, id=f"{seed}-{s.interaction.id}") for s in answered]
        seed += 1
        start += RETRIEVAL_OUTAGE.lasts
    return found[:count]


def event(it: Interaction) -> str:
    """The interaction as a chatbot reports it, on one line."""
    return json.dumps(
        {
            "id": it.id,
            "app": it.app,
            "occurred_at": it.occurred_at.isoformat(),
            "question": it.question,
            "answer": it.answer,
            "model": it.model,
            "tags": dict(it.tags),
            "latency_ms": it.latency_ms,
            "retrieved_documents": [{"id": d.id, "text": d.text} for d in it.retrieved_documents],
        },
        ensure_ascii=False,
    )


def write_events(given: Sequence[Interaction], path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(event(it) + "\n" for it in given)


def emptied(application: Application) -> None:
    with application.engine.begin() as connection:
        connection.exec_driver_sql(f"TRUNCATE {TABLES}")


def copy_seconds(application: Application, assessments: Sequence[Assessment], *, indexes: bool) -> float:
    """Seconds of one plain COPY of the prepared rows of both tables, into tables with or without their indexes."""
    stored_at = application.now()
    rows = {
        "interaction": (INTERACTION_COLUMNS, [interaction_row(a.interaction, stored_at) for a in assessments]),
        "assessment": (ASSESSMENT_COLUMNS, [assessment_row(a) for a in assessments]),
    }
    like = "INCLUDING DEFAULTS" + " INCLUDING INDEXES" * indexes
    with psycopg.connect(application.database_url) as connection:
        for table in rows:
            connection.execute(f"DROP TABLE IF EXISTS raw_{table}")
            connection.execute(f"CREATE TABLE raw_{table} (LIKE {table} {like})")
        connection.commit()
        begin = time.perf_counter()
        for table, (columns, values) in rows.items():
            statement = f"COPY raw_{table} ({', '.join(columns)}) FROM STDIN"
            with connection.cursor() as cursor, cursor.copy(statement) as copy:
                for row in values:
                    copy.write_row(row)
        connection.commit()
        return time.perf_counter() - begin
