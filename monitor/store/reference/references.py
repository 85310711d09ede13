"""Freezes references, and reads those that are frozen."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from typing import Any

from sqlalchemy import Connection, Engine, and_, func, insert, select, text, tuple_

from monitor.assess.reference import LEAST_SCORES
from monitor.core.errors import WrongSettings
from monitor.store.audit_queue import queue_act
from monitor.store.database import bounded, retriable
from monitor.store.reference.draw import MOST_SCORES, Draw, DrawnAnswer, ReferencePeriod, UsualAnswers, draw, usual
from monitor.store.reference.frozen import FrozenReference, frozen_of, shortest
from monitor.store.tables.reference import reference

_LOCK = 7_305_204  # held while references are frozen: versions count up by one
_r = reference.c
# The profile of each app's newest live answer of a model is looked up by app, verdict and time.
_NEWEST = text("""
    SELECT a.profile_hash, a.embedding_model FROM unnest(CAST(:verdicts AS text[])) AS v (verdict)
    CROSS JOIN LATERAL (
        SELECT a.profile_hash, a.embedding_model, a.occurred_at FROM assessment a
        WHERE a.app = :app AND a.verdict = v.verdict AND a.live ORDER BY a.occurred_at DESC LIMIT 1
    ) a ORDER BY a.occurred_at DESC LIMIT 1
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Freezing:
    """What a call of `freeze` froze, and the number of usable answers of each model that has too few."""

    frozen: Sequence[FrozenReference]
    too_few: Mapping[str, int]


class ReferenceStore:
    """References in the database; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def freeze(self, period: ReferencePeriod, *, by: str, now: datetime) -> Freezing:
        """Freezes a new version for each model of the period with enough answers, and for each of its topics.

        All are stored and queued for the audit trail in one transaction.

        Raises:
            WrongSettings: no model has `LEAST_SCORES` answers; nothing was frozen.
        """
        found = draw(self._engine, period)
        made: list[FrozenReference] = []
        too_few: dict[str, int] = {}
        with retriable(), self._engine.begin() as connection:
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
            for model, answers in _by(found.drawn, "model"):
                common = {
                    "app": period.app,
                    "model": model,
                    "version": _next_version(connection, period.app, model),
                    "since": period.since,
                    "until": period.until,
                    "frozen_at": now,
                    "frozen_by": by,
                    "answers": found.answers,
                }
                frozen = list(_frozen(answers, common))
                made += frozen
                if not frozen:
                    too_few[model] = len(usual(answers, profile_of(answers)).kept)
            if not made:
                raise WrongSettings(_refusal(period, found))
            connection.execute(insert(reference), [one.row() for one in made])
            for one in made:
                queue_act(connection, one.act(stored_as=one.hash))
        return Freezing(frozen=made, too_few=too_few)

    def highest(self, period: ReferencePeriod, most: int) -> list[DrawnAnswer]:
        """The answers that would be frozen with the highest scores, the highest first: people should read them."""
        kept: list[DrawnAnswer] = []
        for _, answers in _by(draw(self._engine, period).drawn, "model"):
            kept += usual(answers, profile_of(answers)).kept[:MOST_SCORES]
        return sorted(kept, key=attrgetter("score"), reverse=True)[:most]

    def scores(self, period: ReferencePeriod, *, topic: str, profile: tuple[str, str]) -> list[float]:
        """The ascending scores of a period under a profile, of one topic ('': all), drawn as for a reference.

        Answers that people labelled *self-generated* count too.
        """
        drawn = [answer for answer in draw(self._engine, period).drawn if topic in {"", answer.topic}]
        return list(scores_of(usual(drawn, profile, keep_labelled=True)))

    def hashes(self) -> frozenset[str]:
        """The hashes of the references in force: of the newest version of each app and model."""
        with bounded(self._engine) as connection:
            return frozenset(connection.scalars(select(_r.hash).where(_in_force())))

    def read(self, hashes: Collection[str]) -> dict[str, FrozenReference]:
        """The references that are stored under these hashes and still are what was frozen, by hash."""
        with bounded(self._engine) as connection:
            rows = connection.execute(select(reference).where(_r.hash.in_(hashes))).mappings()
            return {row["hash"]: one for row in rows if (one := frozen_of(dict(row))).hash == row["hash"]}

    def every(self, app: str | None = None) -> list[tuple[str, FrozenReference]]:
        """All references with the hash under which each is stored, by app and model, the newest version first."""
        query = select(reference).order_by(_r.app, _r.model, _r.version.desc(), _r.topic)
        if app is not None:
            query = query.where(_r.app == app)
        with bounded(self._engine) as connection:
            return [(row["hash"], frozen_of(dict(row))) for row in connection.execute(query).mappings()]

    def newest_profile(self, app: str) -> tuple[str, str] | None:
        """Hash and embedding model of the profile of the newest live answer; None for an app without answers."""
        values = {"app": app, "verdicts": ["grounded", "refusal", "self_generated"]}
        with bounded(self._engine) as connection:
            row = connection.execute(_NEWEST, values).first()
        return None if row is None else (row.profile_hash, row.embedding_model)


def profile_of(answers: Sequence[DrawnAnswer]) -> tuple[str, str]:
    """Hash and embedding model of the profile of the newest of `answers`, of which there is at least one."""
    newest = max(answers, key=attrgetter("occurred_at"))
    return newest.profile_hash, newest.embedding_model


def _frozen(answers: Sequence[DrawnAnswer], common: Mapping[str, Any]) -> Iterator[FrozenReference]:
    """The reference of a model, and of each of its topics, as far as there are enough answers.

    `common` has the values of all of them.
    """
    profile_hash, embedding_model = profile = profile_of(answers)
    topics = [(topic, found) for topic, found in _by(answers, "topic") if topic]
    for topic, found in [("", answers), *topics]:
        left = usual(found, profile)
        if len(left.kept) >= LEAST_SCORES:
            yield FrozenReference(
                **common,
                topic=topic,
                profile_hash=profile_hash,
                embedding_model=embedding_model,
                drawn=left.drawn,
                labelled=left.labelled,
                repeated=left.repeated,
                other_profile=left.other_profile,
                scores=scores_of(left),
            )
        elif not topic:
            return  # no topic has more


def scores_of(answers: UsualAnswers) -> tuple[float, ...]:
    """The ascending scores of a reference: of the first `MOST_SCORES`, which are a random sample."""
    return tuple(sorted(shortest(answer.score) for answer in answers.kept[:MOST_SCORES]))


def _by(answers: Sequence[DrawnAnswer], name: str) -> Iterator[tuple[str, list[DrawnAnswer]]]:
    """The answers by model or topic, each group in the order of the draw."""
    key = attrgetter(name)
    for value, found in groupby(sorted(answers, key=key), key):
        yield value, list(found)


def _next_version(connection: Connection, app: str, model: str) -> int:
    newest = connection.scalar(select(func.max(_r.version)).where(_r.app == app, _r.model == model))
    return (newest or 0) + 1


def _in_force() -> Any:
    newest = select(_r.app, _r.model, func.max(_r.version)).group_by(_r.app, _r.model)
    return and_(tuple_(_r.app, _r.model, _r.version).in_(newest))


def _refusal(period: ReferencePeriod, found: Draw) -> str:
    """Why nothing can be frozen, with the number of answers of the model that has most."""
    of = f" by the model {period.model}" if period.model else ""
    where = f"{period.app}{of} from {period.since:%Y-%m-%d %H:%M} to {period.until:%Y-%m-%d %H:%M} UTC"
    if not found.drawn:
        return f"no answers of {where} are stored: a reference needs {LEAST_SCORES}"
    groups = [(model, usual(answers, profile_of(answers))) for model, answers in _by(found.drawn, "model")]
    model, most = max(groups, key=lambda group: len(group[1].kept))
    left_out = [
        f"{number} {why}"
        for number, why in (
            (most.labelled, "labelled self-generated"),
            (most.repeated, "repeated word for word"),
            (most.other_profile, "assessed under another profile"),
        )
        if number
    ]
    reasons = f" ({', '.join(left_out)} left out)" if left_out else ""
    models = f" The largest of {len(groups)} models is {model or 'the one without a name'}." if len(groups) > 1 else ""
    read = f" {len(found.drawn):,} of {found.answers:,} answers were read." if found.answers > len(found.drawn) else ""
    return (
        f"a reference needs {LEAST_SCORES} answers, and {where} has {len(most.kept)}{reasons}.{models}{read} "
        "Choose a longer period, or wait for more answers"
    )
