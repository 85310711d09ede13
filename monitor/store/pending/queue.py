"""The queue of pending work on stored interactions: each piece is claimed by one worker at a time.

A claim is a lease: it lapses if the worker does not come back, and work finished under a lapsed claim is not stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from sqlalchemy import Connection, Engine, and_, case, delete, func, select, text, true, tuple_, update

from monitor.core.assessment_json import diagnosis_of, storable
from monitor.core.diagnosis import ChunkDiagnosis
from monitor.core.model import Interaction, Reason, Verdict
from monitor.core.pending import Work
from monitor.store.database import retriable
from monitor.store.interaction.rows import interaction_of
from monitor.store.interaction.turns.readings import readings
from monitor.store.tables.interactions import assessment, interaction, pending

if TYPE_CHECKING:
    import psycopg

LONGEST_WAIT = timedelta(days=2)  # of any work, and longer than any lease
_APART = timedelta(minutes=20)  # by which clocks differ little; longer than the usual wait after a failure
_p = pending.c
# The array is evaluated once. A plain subquery may run for every row, skipping the rows that it has locked before. Of
# each kind the index gives the order, so that a claim costs the same however much waits.
CLAIM = text("""
    UPDATE pending SET claim = :claim, not_before = :lapses, attempts = attempts + 1
    WHERE id = ANY(ARRAY(
        SELECT due.id FROM unnest(CAST(:kinds AS text[])) AS wanted (kind) CROSS JOIN LATERAL (
            SELECT id, not_before FROM pending p
            WHERE p.kind = wanted.kind AND NOT p.given_up AND p.not_before <= :now
            ORDER BY p.not_before LIMIT :most FOR UPDATE SKIP LOCKED
        ) due ORDER BY due.not_before, due.id LIMIT :most
    ))
    RETURNING id
""")
# With the clock set back since, the work would wait until it has caught up. What nobody has tried yet is due at once.
_STRANDED = text("""
    UPDATE pending SET not_before = :now WHERE kind = ANY(:kinds) AND NOT given_up AND not_before > :apart
        AND (not_before > :beyond OR (queued_at > :apart AND claim IS NULL AND last_error IS NULL))
""")
_OURS = """
    SELECT id FROM pending JOIN unnest(%s::bigint[], %s::text[]) AS ours (id, claim) USING (id, claim)
    ORDER BY id FOR UPDATE OF pending
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """A piece of work that a worker has taken."""

    id: int
    kind: Work
    token: str
    attempts: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim(Taken):
    """Work on an interaction. `refuses`: the answer is worded as a refusal.

    `verdict`, `diagnosis` and `standalone`, its question as it was completed from earlier turns, are those of the live
    assessment. Only the judge's work has them, and only where they are known.
    """

    group: str
    interaction: Interaction
    refuses: bool
    standalone: str | None = None
    verdict: Verdict | None = None
    diagnosis: ChunkDiagnosis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingCount:
    """Work of one kind: how much waits, is due, is claimed, has failed at least once, and was given up."""

    kind: Work
    waiting: int
    due: int
    claimed: int
    failed: int
    given_up: int
    oldest: datetime | None
    last_error: str | None


def still_ours(connection: psycopg.Connection, claims: Sequence[Claim]) -> list[Claim]:
    """The claims that have not passed to another worker; their rows are locked until the transaction ends."""
    if not claims:
        return []
    rows = connection.execute(_OURS, ([claim.id for claim in claims], [claim.token for claim in claims])).fetchall()
    ours = {number for (number,) in rows}
    return [claim for claim in claims if claim.id in ours]


def forget(connection: psycopg.Connection, claims: Sequence[Claim]) -> None:
    """Deletes finished work."""
    connection.execute("DELETE FROM pending WHERE id = ANY(%s)", ([claim.id for claim in claims],))


def free_stranded(connection: Connection, kinds: Sequence[Work], now: datetime) -> None:
    """Makes work due that would wait longer than any work does, or that was queued by a clock that was ahead."""
    times = {"now": now, "apart": now + _APART, "beyond": now + LONGEST_WAIT}
    connection.execute(_STRANDED, {"kinds": list(map(str, kinds)), **times})


class PendingQueue:
    """The queue; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def claim(self, kinds: Sequence[Work], now: datetime, *, most: int, lease: timedelta) -> list[Claim]:
        """Claims up to `most` pieces of work that are due, the longest due first, unless another worker has them.

        Where none is due, what waits because the clock was set back becomes due.
        """
        token = uuid4().hex
        given = {"claim": token, "lapses": now + lease, "kinds": list(map(str, kinds)), "now": now, "most": most}
        with retriable(), self._engine.begin() as connection:
            ids = connection.execute(CLAIM, given).scalars().all()
            if not ids:
                free_stranded(connection, kinds, now)
            return self._read(connection, _p.id.in_(ids)) if ids else []

    def claimed(self, token: str) -> list[Claim]:
        """The work that is still claimed under this token."""
        with retriable(), self._engine.connect() as connection:
            return self._read(connection, _p.claim == token)

    def _read(self, connection: Any, wanted: Any) -> list[Claim]:
        a, judged = assessment.c, _p.kind == Work.JUDGE.value
        live = (
            select(
                a.reasons.contains([Reason.REFUSAL_WORDING.value]).label("refuses"),
                case((judged, a.verdict)).label("verdict"),
                case((judged, a.diagnosis)).label("diagnosis"),
                case((judged, a.evidence["retrieval"])).label("retrieval"),
                case((judged, a.evidence["standalone_question"])).label("standalone_question"),
            )
            .where(*(a[name] == interaction.c[name] for name in ("app", "id", "occurred_at")))
            .where(a.live)
            .limit(1)
            .lateral("live")
        )
        same = [
            _p.app == interaction.c.app,
            _p.interaction_id == interaction.c.id,
            _p.occurred_at == interaction.c.occurred_at,
        ]
        own = [_p.id.label("pending_id"), _p.kind, _p.claim, _p.attempts, _p.group_id, *live.c]
        query = (
            select(*interaction.c, *own)
            .join_from(pending, interaction, and_(*same))
            .outerjoin(live, true())
            .where(wanted)
            .order_by(_p.id)
        )
        rows = connection.execute(query).mappings().all()
        return [
            Claim(
                id=row["pending_id"],
                kind=Work(row["kind"]),
                token=row["claim"],
                attempts=row["attempts"],
                group=row["group_id"],
                interaction=interaction_of(row),
                refuses=bool(row["refuses"]),
                standalone=None if read is None else read.text,
                verdict=None if row["verdict"] is None else Verdict(row["verdict"]),
                diagnosis=diagnosis_of(row["diagnosis"], row["retrieval"]),
            )
            for row, read in zip(rows, readings(connection, rows), strict=True)
        ]

    def failed(self, claims: Sequence[Taken], error: str, retry_at: datetime | None, *, attempted: bool = True) -> None:
        """Stores the error and when to retry; None gives the work up. Without `attempted` no attempt is counted."""
        if not claims:
            return
        values: dict[str, Any] = {"claim": None, "last_error": storable(error)}
        values |= {"given_up": True} if retry_at is None else {"not_before": retry_at}
        if not attempted:
            values["attempts"] = _p.attempts - 1
        ids, token = [claim.id for claim in claims], claims[0].token
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(pending).where(_p.id.in_(ids), _p.claim == token).values(values))

    def release(self, claims: Sequence[Taken], now: datetime) -> None:
        """Gives back claims on which nothing was done, so that others may claim the work at once."""
        ours = [tuple_(_p.id, _p.claim).in_([(claim.id, claim.token) for claim in claims])]
        values = {"claim": None, "not_before": now, "attempts": _p.attempts - 1}
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(pending).where(*ours).values(values))

    def lease(self, claims: Sequence[Claim], until: datetime) -> None:
        """Sets when the claims lapse."""
        ours = [tuple_(_p.id, _p.claim).in_([(claim.id, claim.token) for claim in claims])]
        with retriable(), self._engine.begin() as connection:
            connection.execute(update(pending).where(*ours).values(not_before=until))

    def counts(self, now: datetime, *kinds: Work) -> list[PendingCount]:
        """The counts by kind, without kinds that have no work; only of `kinds`, if any are named."""
        waits = ~_p.given_up
        query = select(
            _p.kind,
            func.count().filter(waits).label("waiting"),
            func.count().filter(waits, _p.not_before <= now).label("due"),
            func.count().filter(waits, _p.claim.is_not(None), _p.not_before > now).label("claimed"),
            func.count().filter(waits, _p.last_error.is_not(None)).label("failed"),
            func.count().filter(_p.given_up).label("given_up"),
            func.min(_p.queued_at).label("oldest"),
            func.max(_p.last_error).label("last_error"),
        ).group_by(_p.kind)
        if kinds:
            query = query.where(_p.kind.in_(kinds))
        with retriable(), self._engine.connect() as connection:
            found = {row["kind"]: row for row in connection.execute(query).mappings()}
        return [PendingCount(**{**found[kind], "kind": kind}) for kind in Work if kind in found]

    def rows(self, *, kind: Work | None, given_up: bool | None, most: int) -> list[Mapping[str, Any]]:
        """Pieces of work, the longest queued first."""
        query = select(pending).order_by(_p.queued_at, _p.id).limit(most)
        if kind is not None:
            query = query.where(_p.kind == kind)
        if given_up is not None:
            query = query.where(_p.given_up == given_up)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def clear(self, kinds: Sequence[Work], *, most: int) -> int:
        """Deletes up to `most` pieces of work of these kinds, whoever has claimed them; returns how many there were."""
        some = select(_p.id).where(_p.kind.in_(kinds)).limit(most).scalar_subquery()
        with retriable(), self._engine.begin() as connection:
            return connection.execute(delete(pending).where(_p.id.in_(some))).rowcount

    def revive(self, now: datetime, *, kind: Work | None) -> int:
        """Makes work that was given up, or waits after a failure, due at once; returns how much there was."""
        statement = update(pending).where(_p.given_up | _p.last_error.is_not(None), _p.claim.is_(None))
        if kind is not None:
            statement = statement.where(_p.kind == kind)
        with retriable(), self._engine.begin() as connection:
            return connection.execute(statement.values(given_up=False, attempts=0, not_before=now)).rowcount
