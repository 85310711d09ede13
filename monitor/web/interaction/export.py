"""A list of interactions as CSV or as JSON lines, masked, made while it is sent."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator

from monitor.core.assessment_json import encode
from monitor.core.errors import MonitorError
from monitor.privacy.masking import redact
from monitor.store.interaction.filters import ListedInteraction
from monitor.store.tables.interactions import METRICS

MOST = 100_000  # rows
COLUMNS = (
    *("app", "id", "occurred_at", "environment", "model", "topic", "question", "answer", "verdict", "reasons"),
    *("refusal_kind", "refusal_correct", "p_grounded", "p_refusal", "p_self_generated", "uncalibrated"),
    *(*METRICS, "rule_verdict", "profile_name", "profile_hash"),
)
# With these a spreadsheet takes a text for a formula and runs it (OWASP, CSV injection).
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")


def as_csv(rows: Iterable[ListedInteraction]) -> Iterator[str]:
    """Lines of CSV with a head; a text that a spreadsheet would run has an apostrophe before it.

    Where something stops it before its end, the last line says what.
    """
    yield _line(COLUMNS)
    try:
        for number, row in enumerate(rows, 1):
            yield _line([_cell(value) for value in fields(row).values()])
            if number == MOST:
                yield _line([f"# ends here: {MOST:,} rows are the most; narrow the filters"])
    except MonitorError as error:
        yield _line([f"# ends here: {error}"])


def as_json_lines(rows: Iterable[ListedInteraction]) -> Iterator[str]:
    """An object a line. Where something stops it before its end, the last is `{"ends_here": why}`."""
    try:
        for number, row in enumerate(rows, 1):
            yield encode(fields(row)) + "\n"
            if number == MOST:
                yield encode({"ends_here": f"{MOST:,} rows are the most; narrow the filters"}) + "\n"
    except MonitorError as error:
        yield encode({"ends_here": str(error)}) + "\n"


def fields(row: ListedInteraction) -> dict[str, object]:
    """By the names of COLUMNS; texts are masked."""
    found: dict[str, object] = {name: getattr(row, name) for name in COLUMNS}
    told = {name: redact(getattr(row, name)) for name in ("question", "answer")}
    figures = {name: _rounded(getattr(row, name)) for name in (*METRICS, "p_grounded", "p_refusal", "p_self_generated")}
    at = row.occurred_at.isoformat().replace("+00:00", "Z")
    topic = None if row.topic is None else redact(row.topic)
    return {**found, **told, **figures, "occurred_at": at, "topic": topic, "reasons": [r.value for r in row.reasons]}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _cell(value: object) -> object:
    if isinstance(value, list):
        return " ".join(value)
    if isinstance(value, str) and value.lstrip(" ").startswith(_RISKY):
        return f"'{value}"
    return value


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()
