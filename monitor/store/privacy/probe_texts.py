"""Removes what was asked and answered in runs of probes that have been kept long enough; their scores stay.

A run's texts are kept as long as answers without a verdict of its app. Golden sets are the team's own, and stay.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Final

from sqlalchemy import Engine, text

from monitor.core.model import Json
from monitor.privacy.retention import CutOff
from monitor.store.audit_queue import Act, Kind, hold_sealing, queue_act
from monitor.store.database import retriable
from monitor.store.probe.proof import BLANK_TURN, TEXTS_REMOVED

_BATCH: Final = 50  # runs of one transaction
_APPS = text("""
    WITH RECURSIVE known AS (
        (SELECT app FROM probe_run ORDER BY app LIMIT 1)
        UNION ALL
        SELECT (SELECT app FROM probe_run WHERE app > known.app ORDER BY app LIMIT 1)
        FROM known WHERE known.app IS NOT NULL
    )
    SELECT app FROM known WHERE app IS NOT NULL
""")
_DUE = """
    SELECT r.number FROM probe_run r WHERE r.app = :app AND r.began_at < :before AND r.state <> 'running'
        AND EXISTS (SELECT FROM probe_turn t WHERE t.run = r.number AND t.question <> '')
"""
_ALL = text(_DUE)
_NEXT = text(f"{_DUE} ORDER BY r.number LIMIT :most FOR UPDATE OF r")
_BLANK = (
    text("UPDATE probe_result SET secret = NULL WHERE run = ANY(:runs)"),
    text(f"UPDATE probe_turn SET {BLANK_TURN} WHERE run = ANY(:runs)"),  # noqa: S608  the columns are ours
)


class ProbeTexts:
    """The texts of runs; every method may raise `Retriable`, and may be called again."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def apps(self) -> list[str]:
        """The apps that probes have asked."""
        with retriable(), self._engine.connect() as connection:
            return list(connection.scalars(_APPS))

    def due(self, cut_offs: Iterable[CutOff]) -> int:
        """How many runs have texts that are due."""
        with retriable(), self._engine.connect() as connection:
            return sum(
                len(connection.execute(_ALL, {"app": cut.app, "before": cut.before}).all())
                for cut in _of_texts(cut_offs)
            )

    def remove(self, cut_offs: Iterable[CutOff], *, by: str, now: datetime) -> int:
        """Removes the texts of the next due runs in one transaction, with an act for each app; returns of how many."""
        number = 0
        with retriable(), self._engine.begin() as connection:
            hold_sealing(connection)
            for cut in _of_texts(cut_offs):
                asked = {"app": cut.app, "before": cut.before, "most": _BATCH}
                runs = list(connection.scalars(_NEXT, asked))
                if not runs:
                    continue
                for blank in _BLANK:
                    connection.execute(blank, {"runs": runs})
                body: dict[str, Json] = {"before": cut.before.astimezone(UTC).isoformat(), "runs": len(runs)}
                queue_act(
                    connection, Act(kind=Kind.RETENTION, by=by, at=now, app=cut.app, subject=TEXTS_REMOVED, body=body)
                )
                number += len(runs)
        return number


def _of_texts(cut_offs: Iterable[CutOff]) -> list[CutOff]:
    return [cut for cut in cut_offs if cut.verdict is None]
