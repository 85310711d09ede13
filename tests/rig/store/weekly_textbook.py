"""Textbook formulas and plain SQL for the figures of a weekly report."""

from __future__ import annotations

from datetime import timedelta
from math import sqrt

import psycopg
import pytest

from monitor.app.report import Reporting, reporting
from tests.factories.report.weekly_traffic import APP, WEEK

MONDAY_SIX = WEEK.end + timedelta(hours=6)
VERDICTS = ("grounded", "refusal", "self_generated")
Z = 1.959963984540054
ROWS = """
    SELECT i.id, i.occurred_at, i.environment, i.model, i.prompt_version, i.tags ->> 'topic' AS topic, i.question,
        i.answer, i.retrieved_documents, a.verdict, a.rule_verdict, a.reasons, a.refusal_kind, a.refusal_correct,
        a.p_grounded, a.p_refusal, a.qrd, a.profile_name, a.profile_hash, a.embedding_model, a.uncalibrated, a.support,
        a.evidence, a.diagnosis
    FROM interaction i JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at
    WHERE i.app = %s AND a.live AND i.occurred_at >= %s AND i.occurred_at < %s
"""


def wilson(k, n):
    p = k / n
    middle, half = p + Z * Z / (2 * n), Z * sqrt(p * (1 - p) / n + Z * Z / (4 * n * n))
    return (middle - half) / (1 + Z * Z / n), (middle + half) / (1 + Z * Z / n)


def share(k, n):
    if not n:
        return {"count": k, "of": n, "share": None, "lower": None, "upper": None}
    lower, upper = wilson(k, n)
    return {"count": k, "of": n, "share": k / n, "lower": lower, "upper": upper}


def asked(database, week, app=APP):
    with psycopg.connect(database, options="-c timezone=UTC", row_factory=psycopg.rows.dict_row) as connection:
        return connection.execute(ROWS, (app, week.start, week.end)).fetchall()


def same(found, expected, path="$"):
    """Equal but for the rounding that docs/quality/report.md states."""
    if isinstance(expected, dict):
        assert isinstance(found, dict), path
        assert sorted(found) == sorted(expected), path
        for name in expected:
            same(found[name], expected[name], f"{path}.{name}")
    elif isinstance(expected, list):
        assert isinstance(found, list), path
        assert len(found) == len(expected), path
        for place, (one, other) in enumerate(zip(found, expected, strict=True)):
            same(one, other, f"{path}[{place}]")
    elif isinstance(expected, float) and not isinstance(expected, bool):
        p_value = path.endswith((".p", ".q"))
        close = pytest.approx(expected, rel=5.1e-3, abs=1e-12) if p_value else pytest.approx(expected, abs=6e-7)
        assert found == close, path
    else:
        assert found == expected, path


def its(application, **settings) -> Reporting:
    known = reporting(application)
    chosen = known.settings.model_copy(update=settings)
    return Reporting(
        settings=chosen, weekly=known.weekly, reports=known.reports, slack=known.slack, link=known.link, now=known.now
    )
