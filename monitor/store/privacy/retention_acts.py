"""Queues the acts that say in the audit trail what retention has removed: exact numbers by app, month and verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from monitor.core.model import Verdict
from monitor.privacy.retention import CutOff
from monitor.store.audit_queue import Act, Kind, queue_act

if TYPE_CHECKING:
    from monitor.store.privacy.retention import DueRows


def queue_retention(
    connection: Connection, found: Iterable[DueRows], cut_offs: Sequence[CutOff], *, by: str, now: datetime
) -> None:
    """One act per app, verdict and cut-off. The verdict is "" without an assessment, None where all share a cut-off."""
    cuts: dict[str, set[datetime]] = {}
    for cut in cut_offs:
        cuts.setdefault(cut.app, set()).add(cut.before)
    whole = {app for app, times in cuts.items() if len(times) == 1 and _all_verdicts(app, cut_offs)}
    rows: Counter[tuple[str, str | None, datetime, date | None]] = Counter()
    for due in found:
        if due.before is not None:
            verdict = None if due.app in whole else due.verdict.value if due.verdict else ""
            rows[due.app, verdict, due.before, due.month] += due.due
    for (app, verdict, before, month), number in rows.items():
        body = {"verdict": verdict, "before": before.astimezone(UTC).isoformat(), "rows": number}
        subject = "other times" if month is None else f"{month:%Y-%m}"
        queue_act(connection, Act(kind=Kind.RETENTION, by=by, at=now, app=app, subject=subject, body=body))


def _all_verdicts(app: str, cut_offs: Sequence[CutOff]) -> bool:
    return {cut.verdict for cut in cut_offs if cut.app == app} == {*Verdict, None}
