"""Reads interactions with their assessments and judgements, offsets and profiles."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError
from sqlalchemy import Engine, and_, func, select, tuple_
from sqlalchemy.dialects import postgresql

from monitor.assess.classify.profile import Profile
from monitor.audit.canonical import canonical
from monitor.core.model import Interaction, Mark
from monitor.core.pending import Work
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.interaction.turns.readings import reading_json, readings
from monitor.store.interaction.writer import GROUP
from monitor.store.tables.interactions import assessment, interaction, judgement, pending, profile
from monitor.store.tables.ledger import consumer_offset
from monitor.store.tables.reference import reference

_JOINED = and_(
    interaction.c.app == assessment.c.app,
    interaction.c.id == assessment.c.id,
    interaction.c.occurred_at == assessment.c.occurred_at,
)

_OF_REFERENCE = (
    reference.c.frozen_at.label("reference_frozen_at"),
    func.cardinality(reference.c.scores).label("reference_size"),
)


class AssessmentQueries:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def ping(self) -> None:
        """Raises where the database does not answer."""
        with retriable(), self._engine.connect() as connection:
            connection.execute(select(1))

    def with_assessments(self, interaction_id: str, app: str | None = None) -> list[Mapping[str, Any]]:
        """The interaction with each of its assessments as a flat mapping; apps may share an id.

        `reference_frozen_at` and `reference_size` are of the reference in which it has its rank; None without one.
        `read_as` is how a follow-up question was read (`reading_json`); None where it was read as it stands.
        """
        hidden = {assessment.c[name] for name in ("app", "id", "occurred_at", "transaction_id")}
        columns = [*interaction.c, *(column for column in assessment.c if column not in hidden), *_OF_REFERENCE]
        query = select(*columns).join_from(interaction, assessment, _JOINED)
        query = query.outerjoin(reference, reference.c.hash == assessment.c.reference)
        query = query.where(interaction.c.id == interaction_id)
        if app is not None:
            query = query.where(interaction.c.app == app)
        query = query.order_by(interaction.c.app, assessment.c.live.desc(), assessment.c.profile_name)
        with retriable(), self._engine.connect() as connection:
            rows = [dict(row) for row in connection.execute(query).mappings()]
            asked = [{**row, "standalone_question": (row["evidence"] or {}).get("standalone_question")} for row in rows]
            read = readings(connection, asked)
        return [{**row, "read_as": reading_json(one)} for row, one in zip(rows, read, strict=True)]

    def judgements(self, app: str, interaction_id: str) -> list[Mapping[str, Any]]:
        """The judgements of one interaction, by metric, the latest first."""
        j = judgement.c
        query = select(*j).where(j.app == app, j.id == interaction_id).order_by(j.metric, j.judged_at.desc())
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def judged_means(self) -> list[tuple[str, str, int, float | None]]:
        """Metric, live verdict, number of judgements, and the mean score, each weighted by how rarely it is taken."""
        j, a = judgement.c, assessment.c
        weight = 1 / func.coalesce(j.inclusion, 1)
        mean = func.sum(j.score * weight) / func.sum(weight).filter(j.score.is_not(None))
        same = and_(j.app == a.app, j.id == a.id, j.occurred_at == a.occurred_at, a.live)
        query = (
            select(j.metric, a.verdict, func.count(), mean)
            .join_from(judgement, assessment, same)
            .group_by(j.metric, a.verdict)
            .order_by(j.metric, a.verdict)
        )
        with retriable(), self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]

    def unassessed(self, interaction_id: str) -> list[Mapping[str, Any]]:
        """`app` and `last_error` of the stored interactions of this id that wait for their assessment."""
        p = pending.c
        query = select(p.app, p.last_error).where(p.kind == Work.ASSESS, p.interaction_id == interaction_id)
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def offsets(self, group: str = GROUP) -> dict[tuple[str, int], int]:
        """The next offset by topic and partition; a followed file is partition 0 of a topic."""
        c = consumer_offset.c
        query = select(c.topic, c.partition, c.next_offset).where(c.group_id == group)
        with retriable(), self._engine.connect() as connection:
            return {(row.topic, row.partition): row.next_offset for row in connection.execute(query)}

    def profile(self, profile_hash: str) -> Profile | None:
        """The stored profile; None where it is unknown or its definition does not fit this release."""
        query = select(profile.c.definition).where(profile.c.hash == profile_hash)
        with retriable(), self._engine.connect() as connection:
            definition = connection.scalar(query)
        try:
            return Profile.model_validate(definition) if definition else None
        except ValidationError:
            return None

    def under_other_profiles(
        self, wanted: Sequence[tuple[str, str]], profile_hash: str
    ) -> Sequence[tuple[str, datetime]]:
        """App and time of those answers (apps with ids) whose live verdict is from another profile than this one."""
        a = assessment.c
        query = select(a.app, a.occurred_at).where(
            tuple_(a.app, a.id).in_(wanted), a.live, a.profile_hash != profile_hash
        )
        with retriable(), self._engine.connect() as connection:
            return [(row.app, row.occurred_at) for row in connection.execute(query)]

    def with_other_texts(self, given: Sequence[Interaction]) -> list[str]:
        """Those of the interactions, as `app/id`, whose stored question or answer is another, in their order.

        Interactions that were erased are left out: nobody is to store them again.
        """
        i = interaction.c
        query = select(i.app, i.id, i.question, i.answer).where(
            tuple_(i.app, i.id).in_([(it.app, it.id) for it in given]), ~i.marks.contains([Mark.ERASED])
        )
        with retriable(), self._engine.connect() as connection:
            stored = {(row.app, row.id): (row.question, row.answer) for row in connection.execute(query)}
        return [
            f"{it.app}/{it.id}"
            for it in given
            if stored.get((it.app, it.id), (it.question, it.answer)) != (it.question, it.answer)
        ]

    def profile_name(self, beginning: str) -> tuple[str, str] | None:
        """Hash and name of the one stored profile whose hash begins like this; None where there is not exactly one."""
        query = select(profile.c.hash, profile.c.name).where(profile.c.hash.startswith(beginning, autoescape=True))
        with retriable(), self._engine.connect() as connection:
            found = connection.execute(query.limit(2)).all()
        return (found[0].hash, found[0].name) if len(found) == 1 else None

    def save_profile(self, used: Profile, now: datetime) -> None:
        """Stores the profile that verdicts are given under, once per content."""
        row = {
            "hash": used.hash,
            "name": used.name,
            "embedding_model": used.embedding_model,
            "definition": used.model_dump(),
            "stored_at": now,
        }
        with retriable(), self._engine.begin() as connection:
            new = postgresql.insert(profile).values(row).on_conflict_do_nothing().returning(profile.c.hash)
            if connection.scalar(new) is not None:
                queue_act(connection, profile_act(row))


def profile_act(row: Mapping[str, Any]) -> Act:
    """The act to seal for a row of `profile`."""
    definition = hashlib.sha256(canonical(row["definition"])).hexdigest()
    body = {"name": row["name"], "embedding_model": row["embedding_model"], "definition": definition}
    return Act(kind=Kind.PROFILE, by="monitor", at=row["stored_at"], subject=row["hash"], body=body)
