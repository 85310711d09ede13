"""The verdicts that are to be sent out: claims them, each as it stands now, and ends the claims.

Whatever changes a verdict makes its row claimable at once, so a claim that ends after that leaves the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, text

from monitor.core.pending import Work
from monitor.store.database import retriable
from monitor.store.pending.queue import CLAIM, Taken, free_stranded
from monitor.store.tables.interactions import METRICS

_DIGITS = 6
_EVIDENCE = ("features", "alignment", "missing", "compared")
_READ = text("""
    SELECT a.*, p.id AS pending_id, p.attempts, i.stored_at, i.replaced_at,
        i.trace_id, i.span_id, i.conversation_id, i.tags ->> 'gen_ai.response.id' AS response_id
    FROM pending p
    JOIN interaction i ON i.app = p.app AND i.id = p.interaction_id AND i.occurred_at = p.occurred_at
    JOIN assessment a ON a.app = i.app AND a.id = i.id AND a.occurred_at = i.occurred_at AND a.live
    WHERE p.id = ANY(:ids) ORDER BY p.id
""")
_JUDGED = text("""
    SELECT DISTINCT ON (j.app, j.id, j.metric) j.app, j.id, j.metric, j.model, j.score, j.reason, j.judged_at
    FROM judgement j
    JOIN unnest(CAST(:apps AS text[]), CAST(:names AS text[]), CAST(:times AS timestamptz[])) AS w (app, id, at)
        ON j.app = w.app AND j.id = w.id AND j.occurred_at = w.at
    ORDER BY j.app, j.id, j.metric, j.judged_at DESC
""")
# Locks in the order in which `enqueue_to_send` does.
_END = text("""
    DELETE FROM pending WHERE id = ANY(ARRAY(
        SELECT id FROM pending WHERE id = ANY(:ids) AND claim = :claim ORDER BY app, interaction_id FOR UPDATE
    ))
    RETURNING id
""")
# A claim that is not ours any more may have been sent by another worker before us, and then we have overwritten it.
_AGAIN = text("""
    INSERT INTO pending (kind, app, interaction_id, occurred_at, group_id, queued_at, not_before)
    SELECT :kind, i.app, i.id, i.occurred_at, '', :now, :now
    FROM unnest(CAST(:apps AS text[]), CAST(:names AS text[]), CAST(:times AS timestamptz[])) AS w (app, id, at)
    JOIN interaction i ON i.app = w.app AND i.id = w.id AND i.occurred_at = w.at
    ON CONFLICT DO NOTHING
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredJudgement:
    """The latest judgement of a metric."""

    metric: str
    model: str
    score: float | None
    reason: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictToSend(Taken):
    """A claimed verdict with what locates it in a trace.

    `assessment` is the documented JSON object of an assessment. `at` is when the verdict, its latest revision or its
    latest judgement was stored: with the profile it identifies the revision.
    """

    app: str
    interaction_id: str
    occurred_at: datetime
    at: datetime
    assessment: Mapping[str, Any]
    judgements: tuple[StoredJudgement, ...] = field(default=())
    trace_id: str | None = None
    span_id: str | None = None
    response_id: str | None = None

    @property
    def profile(self) -> str:
        """The hash of the profile."""
        return str(self.assessment["profile"]["hash"])


class VerdictQueue:
    """The queue of one destination, on the table `pending`; every method may raise `Retriable`."""

    def __init__(self, engine: Engine, kind: Work) -> None:
        self._engine = engine
        self._kind = kind

    def claim(self, now: datetime, *, most: int, lease: timedelta) -> list[VerdictToSend]:
        """Claims up to `most` verdicts that are due; what has no verdict any more is taken from the queue."""
        token = uuid4().hex
        given = {"claim": token, "lapses": now + lease, "kinds": [self._kind.value], "now": now, "most": most}
        while True:
            with retriable(), self._engine.begin() as connection:
                ids = connection.execute(CLAIM, given).scalars().all()
                found = self._read(connection, ids, token) if ids else []
                if not ids:
                    free_stranded(connection, [self._kind], now)
                if gone := sorted(set(ids) - {verdict.id for verdict in found}):
                    connection.execute(_END, {"ids": gone, "claim": token})
            if found or not ids:
                return found

    def _read(self, connection: Connection, ids: Sequence[int], token: str) -> list[VerdictToSend]:
        rows = [dict(row) for row in connection.execute(_READ, {"ids": list(ids)}).mappings()]
        judged: dict[tuple[str, str], list[Any]] = {}
        for row in connection.execute(_JUDGED, _places([(r["app"], r["id"], r["occurred_at"]) for r in rows])):
            judged.setdefault((row.app, row.id), []).append(row)
        return [self._verdict(row, judged.get((row["app"], row["id"]), ()), token) for row in rows]

    def _verdict(self, row: Mapping[str, Any], judged: Sequence[Any], token: str) -> VerdictToSend:
        times = [row["stored_at"], row["revised_at"], row["replaced_at"], *(its.judged_at for its in judged)]
        return VerdictToSend(
            id=row["pending_id"],
            kind=self._kind,
            token=token,
            attempts=row["attempts"],
            app=row["app"],
            interaction_id=row["id"],
            occurred_at=row["occurred_at"].astimezone(UTC),
            at=max(time for time in times if time is not None).astimezone(UTC),
            assessment=stored_assessment_json(row),
            judgements=tuple(
                StoredJudgement(metric=j.metric, model=j.model, score=j.score, reason=j.reason) for j in judged
            ),
            trace_id=row["trace_id"],
            span_id=row["span_id"],
            response_id=row["response_id"],
        )

    def sent(self, verdicts: Sequence[VerdictToSend], now: datetime) -> None:
        """Ends claims of one call of `claim`. What another worker has claimed meanwhile is queued once more."""
        if not verdicts:
            return
        with retriable(), self._engine.begin() as connection:
            given = {"ids": sorted(verdict.id for verdict in verdicts), "claim": verdicts[0].token}
            ended = set(connection.execute(_END, given).scalars())
            if lost := [v for v in verdicts if v.id not in ended]:
                again = _places([(v.app, v.interaction_id, v.occurred_at) for v in lost])
                connection.execute(_AGAIN, {**again, "kind": self._kind.value, "now": now})


def _places(keys: Sequence[tuple[str, str, datetime]]) -> dict[str, list[Any]]:
    return {"apps": [key[0] for key in keys], "names": [key[1] for key in keys], "times": [key[2] for key in keys]}


def stored_assessment_json(row: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON object of an assessment (`assessment_json`) from its row; after an erasure without support.

    The `text` of a standalone question is not stored, and null.
    """
    evidence = row["evidence"] or {}
    standalone = evidence.get("standalone_question")
    return {
        "id": row["id"],
        "app": row["app"],
        "occurred_at": row["occurred_at"].astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "verdict": row["verdict"],
        "probabilities": {name: _rounded(row[f"p_{name}"]) for name in ("grounded", "refusal", "self_generated")},
        "uncalibrated": row["uncalibrated"],
        "refusal": {"kind": row["refusal_kind"], "correct": row["refusal_correct"]},
        "metrics": {name: _rounded(row[name]) for name in METRICS},
        "reasons": list(row["reasons"]),
        "support": row["support"] or {"origin": None, "documents": []},
        **{name: evidence[name] for name in _EVIDENCE if name in evidence},
        "diagnosis": row["diagnosis"],
        "retrieval": evidence.get("retrieval"),
        "standalone_question": None if standalone is None else {"text": None, **standalone},
        "profile": {"name": row["profile_name"], "hash": row["profile_hash"]},
        "embedding_model": row["embedding_model"],
        "rule_verdict": row["rule_verdict"],
        "rank": _rounded(row["rank"]),
        "reference": row["reference"],
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
