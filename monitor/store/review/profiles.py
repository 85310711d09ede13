"""Reads profiles and their verdicts: a sample of their use, verdicts beside labels, two profiles side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Engine, select, text

from monitor.core.model import Verdict
from monitor.review.label import Drawn, Opinion, consensus
from monitor.store.database import limited_read, retriable
from monitor.store.tables.interactions import profile

SAMPLED_PAGES = 1_000  # pages of 8 kB of the table of assessments
LABELS = 2_000  # the newest labels, with which a profile is compared
COMPARED = 2_000  # the newest interactions among which two profiles are compared
_p = profile.c
_PAGES = text("""
    SELECT coalesce(sum(pg_relation_size(relid)), 0) / 8192 FROM pg_partition_tree('assessment') WHERE isleaf
""")
_SAMPLE = """
    SELECT profile_hash, count(*) AS rows, count(*) FILTER (WHERE live) AS live,
        min(occurred_at) AS first, max(occurred_at) AS last
    FROM assessment TABLESAMPLE SYSTEM ({percent}) REPEATABLE (1)
    GROUP BY profile_hash ORDER BY max(occurred_at) DESC
"""
# The newest label of each person, and the profile's assessment, looked up for each of the few interactions.
_LABELS = text("""
    SELECT DISTINCT ON (r.app, r.interaction_id, r.labelled_by)
        r.app, r.interaction_id, r.occurred_at, r.label, r.labelled_by, r.labelled_at, r.id AS number, r.drawn,
        a.verdict, a.rule_verdict, a.p_grounded
    FROM (SELECT * FROM review ORDER BY id DESC LIMIT :most) r
    JOIN LATERAL (
        SELECT verdict, rule_verdict, p_grounded FROM assessment
        WHERE app = r.app AND id = r.interaction_id AND profile_hash = :hash AND occurred_at = r.occurred_at LIMIT 1
    ) a ON true
    ORDER BY r.app, r.interaction_id, r.labelled_by, r.id DESC
""")
_BOTH = text("""
    SELECT i.app, i.id, i.occurred_at, a.verdict AS first, b.verdict AS second
    FROM (
        SELECT app, id, occurred_at FROM interaction WHERE occurred_at <= :until
        ORDER BY occurred_at DESC LIMIT :most
    ) i
    JOIN LATERAL (
        SELECT verdict FROM assessment
        WHERE app = i.app AND id = i.id AND profile_hash = :first AND occurred_at = i.occurred_at LIMIT 1
    ) a ON true
    JOIN LATERAL (
        SELECT verdict FROM assessment
        WHERE app = i.app AND id = i.id AND profile_hash = :second AND occurred_at = i.occurred_at LIMIT 1
    ) b ON true
    ORDER BY i.occurred_at DESC, i.app, i.id
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRows:
    """The assessments of one profile in a sample; `live` ones are those that are not a rescore's."""

    profile_hash: str
    rows: int
    live: int
    first: datetime
    last: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileSample:
    """The use of each profile, the most recent first, in a sample of `share` of all assessments; 1 means all."""

    uses: tuple[ProfileRows, ...]
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledVerdict:
    """A labelled interaction, with the verdict and P(grounded) that a profile gave it."""

    app: str
    id: str
    label: Verdict
    at_random: bool
    verdict: Verdict
    p_grounded: float


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictPair:
    """An interaction with the verdicts of two profiles."""

    app: str
    id: str
    occurred_at: datetime
    first: Verdict
    second: Verdict


class ProfileList:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def listed(self, most: int) -> list[Mapping[str, Any]]:
        """The newest profiles, without their definitions."""
        query = select(_p.hash, _p.name, _p.embedding_model, _p.stored_at).order_by(_p.stored_at.desc(), _p.hash)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query.limit(most)).mappings()]

    def defined(self, most: int) -> list[Mapping[str, Any]]:
        """The newest profiles, with their stored definitions."""
        query = select(*_p).order_by(_p.stored_at.desc(), _p.hash)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query.limit(most)).mappings()]

    def profile(self, profile_hash: str) -> Mapping[str, Any] | None:
        """The profile with its stored definition."""
        with retriable(), self._engine.connect() as connection:
            row = connection.execute(select(*_p).where(_p.hash == profile_hash)).mappings().one_or_none()
        return None if row is None else dict(row)


class ProfileUse:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def sampled(self) -> ProfileSample:
        """The use of profiles in a sample: the same pages of the table each time, unless it grows."""
        with limited_read(self._engine, "the database is busy; try again in a moment") as connection:
            pages = int(connection.scalar(_PAGES) or 0)
            share = min(1.0, SAMPLED_PAGES / pages) if pages else 1.0
            rows = connection.execute(text(_SAMPLE.format(percent=f"{100 * share:.6f}"))).mappings()
            return ProfileSample(uses=tuple(ProfileRows(**row) for row in rows), share=share)

    def judged(self, profile_hash: str) -> list[LabelledVerdict]:
        """The interactions of the newest labels that this profile has assessed, with the label that people agree on."""
        with limited_read(self._engine, "the database is busy; try again in a moment") as connection:
            rows = connection.execute(_LABELS, {"hash": profile_hash, "most": LABELS}).mappings().all()
        p_grounded = {(row["app"], row["interaction_id"]): row["p_grounded"] for row in rows}
        opinions = [
            Opinion(
                app=row["app"],
                id=row["interaction_id"],
                occurred_at=row["occurred_at"],
                label=Verdict(row["label"]),
                by=row["labelled_by"],
                at=row["labelled_at"],
                number=row["number"],
                drawn=Drawn(row["drawn"]),
                verdict=Verdict(row["verdict"]),
                rule_verdict=Verdict(row["rule_verdict"]),
            )
            for row in rows
        ]
        at_random = {(opinion.app, opinion.id) for opinion in opinions if opinion.drawn is Drawn.RANDOM}
        newest = [opinion.newest for opinion in consensus(opinions)]
        return [
            LabelledVerdict(
                app=opinion.app,
                id=opinion.id,
                label=opinion.label,
                at_random=(opinion.app, opinion.id) in at_random,
                verdict=opinion.verdict,
                p_grounded=p_grounded[opinion.app, opinion.id],
            )
            for opinion in newest
        ]

    def compared(self, first: str, second: str, until: datetime) -> list[VerdictPair]:
        """Those of the newest `COMPARED` interactions up to `until` that both profiles have assessed, newest first."""
        values = {"first": first, "second": second, "until": until, "most": COMPARED}
        with limited_read(self._engine, "choose an earlier time") as connection:
            return [
                VerdictPair(**{**row, "first": Verdict(row["first"]), "second": Verdict(row["second"])})
                for row in connection.execute(_BOTH, values).mappings()
            ]
