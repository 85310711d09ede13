"""Writes a list of interactions as CSV or JSON lines while it is sent, with personal data masked."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from unicodedata import category, normalize

from monitor.core.assessment_json import encode
from monitor.core.errors import MonitorError
from monitor.privacy.masking import redact
from monitor.store.interaction.filters import USED, ListedInteraction
from monitor.store.tables.interactions import METRICS

MAX_ROWS = 100_000  # rows
COLUMNS = (
    *("app", "id", "occurred_at", "environment", "model", "topic", "question", "answer", "verdict", "reasons"),
    *("refusal_kind", "refusal_correct", "p_grounded", "p_refusal", "p_self_generated", "uncalibrated"),
    *(*METRICS, "rule_verdict", "profile_name", "profile_hash", "rank", "reference"),
    *USED,
    "diagnosis",
)
_FIGURES = (*METRICS, "p_grounded", "p_refusal", "p_self_generated", "rank")
# A spreadsheet takes a text that starts with one of these, or with a wide or small form of it, for a formula, and runs
# it (OWASP, CSV injection). It passes over what cannot be seen in front.
_FORMULA_STARTS = frozenset("=+-@")
_LINE_STARTS = ("\t", "\r", "\n")
_UNSEEN = frozenset({"Cc", "Cf", "Mn", "Zl", "Zp", "Zs"})


def as_csv(rows: Iterable[ListedInteraction]) -> Iterator[str]:
    """Lines of CSV with a header; a text that a spreadsheet would run gets an apostrophe in front.

    If the list ends early, the last line says why.
    """
    yield _line(COLUMNS)
    try:
        for number, row in enumerate(rows, 1):
            yield _line([_cell(value) for value in fields(row).values()])
            if number == MAX_ROWS:
                yield _line([f"# ends here: the limit is {MAX_ROWS:,} rows; narrow the filters"])
    except MonitorError as error:
        yield _line([f"# ends here: {error}"])


def as_json_lines(rows: Iterable[ListedInteraction]) -> Iterator[str]:
    """One object per line. If the list ends early, the last object is `{"ends_here": why}`."""
    try:
        for number, row in enumerate(rows, 1):
            yield encode(fields(row)) + "\n"
            if number == MAX_ROWS:
                yield encode({"ends_here": f"the limit is {MAX_ROWS:,} rows; narrow the filters"}) + "\n"
    except MonitorError as error:
        yield encode({"ends_here": str(error)}) + "\n"


def fields(row: ListedInteraction) -> dict[str, object]:
    """The values by the names in COLUMNS, with texts masked."""
    values: dict[str, object] = {name: getattr(row, name) for name in COLUMNS}
    shown = {name: getattr(row, name) for name in ("question", "answer", "environment", "model", "topic")}
    texts = {name: None if text is None else redact(text) for name, text in shown.items()}
    figures = {name: _rounded(getattr(row, name)) for name in _FIGURES}
    at = row.occurred_at.isoformat().replace("+00:00", "Z")
    return {**values, **texts, **figures, "occurred_at": at, "reasons": [r.value for r in row.reasons]}


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def _cell(value: object) -> object:
    if isinstance(value, list):
        return " ".join(value)
    return f"'{value}" if isinstance(value, str) and _runs(value) else value


def _runs(text: str) -> bool:
    """Whether a spreadsheet may run `text`."""
    seen = next((character for character in text if category(character) not in _UNSEEN), "")
    return normalize("NFKC", seen) in _FORMULA_STARTS or text.lstrip(" ").startswith(_LINE_STARTS)


def _line(cells: Iterable[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(cells)
    return out.getvalue()
