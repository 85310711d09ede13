"""Draws the answers of a period whose scores a reference is made of, or compared with.

A period may have millions of answers, so up to `MOST_READ` are drawn by a keyed hash of their ids: the same ones each
time, and independent of all else. Only these are looked up, each by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Connection, Engine, text

from monitor.core.model import Mark, Verdict
from monitor.store.database import retriable
from monitor.store.tables.interactions import SCORE_BEFORE_JUDGE

MOST_READ = 40_000
MOST_SCORES = 5_000  # of a reference
CHANCE_KEY = 7_305_203  # of the hash behind the draw: not the key of any other sample
# Reading 40,000 answers takes some seconds; a person waits for it.
_BOUNDS = text(
    "SET LOCAL statement_timeout = '120s'; SET LOCAL lock_timeout = '5s'; SET LOCAL jit = off; "
    "SET LOCAL max_parallel_workers_per_gather = 0"
)
# The pool reads apps and ids only, by the index of lists, unless a model is asked for.
_DRAW = """
    WITH period AS MATERIALIZED (
        SELECT a.app, a.id, a.occurred_at, hashtextextended(a.id, CAST(:key AS bigint)) AS place
        FROM assessment a {join}
        WHERE a.live AND a.app = :app AND a.occurred_at >= :since AND a.occurred_at < :until {condition}
    ), pool AS MATERIALIZED (
        SELECT * FROM period ORDER BY place, id LIMIT :most
    )
    SELECT p.id, coalesce(i.model, '') AS model, coalesce(i.tags ->> 'topic', '') AS topic, p.occurred_at,
        a.profile_hash, a.embedding_model, {score} AS score,
        md5(CASE WHEN :erased = ANY (i.marks) THEN i.id ELSE concat(i.question, E'\\x01', i.answer) END) AS wording,
        EXISTS (
            SELECT FROM review r
            WHERE r.app = p.app AND r.interaction_id = p.id AND r.label = :bad AND NOT EXISTS (
                SELECT FROM review n WHERE n.app = r.app AND n.interaction_id = r.interaction_id
                AND n.labelled_by = r.labelled_by AND n.id > r.id
            )
        ) AS bad,
        (SELECT count(*) FROM period) AS answers
    FROM pool p
    JOIN LATERAL (
        SELECT * FROM interaction WHERE app = p.app AND id = p.id AND occurred_at = p.occurred_at LIMIT 1
    ) i ON true
    JOIN LATERAL (
        SELECT * FROM assessment WHERE app = p.app AND id = p.id AND occurred_at = p.occurred_at AND live LIMIT 1
    ) a ON a.p_self_generated <> 'NaN'
    ORDER BY p.place, p.id
"""
_JOIN = "JOIN interaction i ON i.app = a.app AND i.id = a.id AND i.occurred_at = a.occurred_at"
_OF_MODEL = "AND coalesce(i.model, '') = :model"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferencePeriod:
    """The live answers of `app` in [since, until), of one `model` if it is given ('' for answers that name none)."""

    app: str
    since: datetime
    until: datetime
    model: str | None = None


class DrawnAnswer(NamedTuple):
    """An answer of the draw. `bad`: a person's newest label of it is *self-generated*."""

    id: str
    model: str
    topic: str
    occurred_at: datetime
    profile_hash: str
    embedding_model: str
    score: float
    wording: str  # digest of question and answer
    bad: bool


class Draw(NamedTuple):
    """Drawn answers in random order, and how many answers the period has."""

    answers: int
    drawn: Sequence[DrawnAnswer]


@dataclass(frozen=True, slots=True, kw_only=True)
class UsualAnswers:
    """What is left of a draw for a reference, and how many answers were left out for which reason."""

    kept: Sequence[DrawnAnswer]
    labelled: int
    repeated: int
    other_profile: int

    @property
    def drawn(self) -> int:
        return len(self.kept) + self.labelled + self.repeated + self.other_profile


def draw(engine: Engine, period: ReferencePeriod) -> Draw:
    """Draws from the period.

    Raises:
        Retriable, Fatal: the database is out of reach or too slow, or refuses.
    """
    with retriable(), engine.begin() as connection:
        connection.execute(_BOUNDS)
        return _drawn(connection, period)


def _drawn(connection: Connection, period: ReferencePeriod) -> Draw:
    values: dict[str, object] = {
        "key": CHANCE_KEY,
        "app": period.app,
        "since": period.since,
        "until": period.until,
        "most": MOST_READ,
        "erased": Mark.ERASED.value,
        "bad": Verdict.SELF_GENERATED.value,
    }
    if period.model is not None:
        values["model"] = period.model
    conditions = {"join": _JOIN, "condition": _OF_MODEL} if period.model is not None else {"join": "", "condition": ""}
    rows = connection.execute(text(_DRAW.format(**conditions, score=SCORE_BEFORE_JUDGE)), values).all()
    return Draw(rows[0].answers if rows else 0, [DrawnAnswer(*row[:-1]) for row in rows])


def usual(drawn: Sequence[DrawnAnswer], profile: tuple[str, str], *, keep_labelled: bool = False) -> UsualAnswers:
    """The answers that make a reference: under one profile, not known to be bad, and each wording once.

    `profile` is hash and embedding model. Answers that repeat a question and its answer word for word count once, so
    that one answer sent a thousand times cannot fill a reference.
    """
    wordings: set[str] = set()
    kept: list[DrawnAnswer] = []
    other_profile = labelled = repeated = 0
    for answer in drawn:
        if (answer.profile_hash, answer.embedding_model) != profile:
            other_profile += 1
        elif answer.bad and not keep_labelled:
            labelled += 1
        elif answer.wording in wordings:
            repeated += 1
        else:
            wordings.add(answer.wording)
            kept.append(answer)
    return UsualAnswers(kept=kept, labelled=labelled, repeated=repeated, other_profile=other_profile)
