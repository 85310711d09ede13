"""What people ask of the stored rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from sqlalchemy import ColumnElement, Engine, and_, func, select
from sqlalchemy.dialects import postgresql

from monitor.alert.notification import MAX_EXAMPLES, Example
from monitor.classify.profile import Profile
from monitor.model import Reason, Verdict, Work
from monitor.store.database import retriable
from monitor.store.rollup import OTHER
from monitor.store.tables import (
    alert,
    alert_event,
    assessment,
    consumer_offset,
    interaction,
    judgement,
    outbox,
    pending,
    profile,
)
from monitor.store.writer import GROUP

if TYPE_CHECKING:
    from monitor.alert.rule import Rule

_JOINED = and_(
    interaction.c.app == assessment.c.app,
    interaction.c.id == assessment.c.id,
    interaction.c.occurred_at == assessment.c.occurred_at,
)
_LABEL_COLUMNS = {
    "app": interaction.c.app,
    "environment": interaction.c.environment,
    "model": func.coalesce(interaction.c.model, ""),
    "topic": func.coalesce(interaction.c.tags["topic"].astext, ""),
}


class Queries:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def explained(self, interaction_id: str, app: str | None = None) -> list[Mapping[str, Any]]:
        """The interaction with each of its assessments as one flat mapping; several where apps share the id."""
        hidden = {assessment.c.app, assessment.c.id, assessment.c.occurred_at}
        columns = [*interaction.c, *(column for column in assessment.c if column not in hidden)]
        query = select(*columns).join_from(interaction, assessment, _JOINED).where(interaction.c.id == interaction_id)
        if app is not None:
            query = query.where(interaction.c.app == app)
        query = query.order_by(interaction.c.app, assessment.c.live.desc(), assessment.c.profile_name)
        with retriable(), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001  the documented name

    def judgements(self, app: str, interaction_id: str) -> list[Mapping[str, Any]]:
        """Those of one interaction, the latest of each metric first."""
        j = judgement.c
        query = select(*j).where(j.app == app, j.id == interaction_id).order_by(j.metric, j.judged_at.desc())
        with retriable(), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001

    def judged_means(self) -> list[tuple[str, str, int, float | None]]:
        """Metric, live verdict, how many were judged, and the mean of those that have a score."""
        j, a = judgement.c, assessment.c
        same = and_(j.app == a.app, j.id == a.id, j.occurred_at == a.occurred_at, a.live)
        query = (
            select(j.metric, a.verdict, func.count(), func.avg(j.score))
            .join_from(judgement, assessment, same)
            .group_by(j.metric, a.verdict)
            .order_by(j.metric, a.verdict)
        )
        with retriable(), self._engine.connect() as connection:
            return [tuple(row) for row in connection.execute(query)]

    def unassessed(self, interaction_id: str) -> list[Mapping[str, Any]]:
        """App and last error of the interactions of this id that are stored and wait for their assessment."""
        p = pending.c
        query = select(p.app, p.last_error).where(p.kind == Work.ASSESS, p.interaction_id == interaction_id)
        with retriable(), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001

    def examples(self, rule: Rule, labels: Mapping[str, str], start: datetime, end: datetime) -> Sequence[Example]:
        """The most certain answers that show the rule's signal, of each verdict in turn, in [start, end)."""
        a, i = assessment.c, interaction.c
        wanted: list[ColumnElement[bool]] = [
            _LABEL_COLUMNS[name].in_(values) for name, values in _selected(rule).items()
        ]
        wanted += [_LABEL_COLUMNS[name] == value for name, value in labels.items() if value != OTHER]
        certainty = func.greatest(a.p_refusal, a.p_self_generated)
        rank = func.row_number().over(partition_by=a.verdict, order_by=[certainty.desc(), i.id])
        query = (
            select(i.id, i.question, i.answer, a.verdict, a.reasons)
            .join_from(interaction, assessment, _JOINED)
            .where(i.occurred_at >= start, i.occurred_at < end, a.live, *wanted, _shows(rule.signal))
            .order_by(rank, a.verdict.desc())
            .limit(MAX_EXAMPLES)
        )
        with retriable(), self._engine.connect() as connection:
            return [
                Example(id=id_, question=question, answer=answer, verdict=verdict, reasons=tuple(reasons))
                for id_, question, answer, verdict, reasons in connection.execute(query)
            ]

    def alerts(self) -> list[Mapping[str, Any]]:
        """Every alert that was ever pending, the most recent first, with what waits in the outbox or was given up."""
        unsent = [outbox.c.fingerprint == alert.c.fingerprint, outbox.c.delivered_at.is_(None)]
        waiting = select(func.count()).where(*unsent, ~outbox.c.given_up).scalar_subquery().label("waiting")
        lost = select(func.count()).where(*unsent, outbox.c.given_up).scalar_subquery().label("lost")
        query = select(*alert.c, waiting, lost).order_by(alert.c.active_since.desc())
        with retriable(), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001

    def alert_history(self, name: str) -> list[Mapping[str, Any]]:
        """The transitions of the alerts called so (rule, or fingerprint or episode, also shortened), oldest first."""
        by_rule = select(alert.c.fingerprint).where(alert.c.rule == name)
        named = (
            alert_event.c.fingerprint.in_(by_rule)
            | alert_event.c.fingerprint.startswith(name, autoescape=True)
            | alert_event.c.episode.startswith(name, autoescape=True)
        )
        query = select(*alert_event.c).where(named).order_by(alert_event.c.id)
        with retriable(), self._engine.connect() as connection:
            return [dict(row._mapping) for row in connection.execute(query)]  # noqa: SLF001

    def offsets(self, group: str = GROUP) -> dict[tuple[str, int], int]:
        """How far the group has read each partition of each topic; a followed file is partition 0 of a topic."""
        c = consumer_offset.c
        query = select(c.topic, c.partition, c.next_offset).where(c.group_id == group)
        with retriable(), self._engine.connect() as connection:
            return {(row.topic, row.partition): row.next_offset for row in connection.execute(query)}

    def profile(self, profile_hash: str) -> Profile | None:
        """The stored definition, or None where it is not known or no longer of this release's form."""
        query = select(profile.c.definition).where(profile.c.hash == profile_hash)
        with retriable(), self._engine.connect() as connection:
            definition = connection.scalar(query)
        try:
            return Profile.model_validate(definition) if definition else None
        except ValidationError:
            return None

    def keep_profile(self, used: Profile, now: datetime) -> None:
        """Stores the definition of the profile that verdicts are given under, once per content."""
        row = {
            "hash": used.hash, "name": used.name, "embedding_model": used.embedding_model,
            "definition": used.model_dump(), "stored_at": now,
        }  # fmt: skip
        with retriable(), self._engine.begin() as connection:
            connection.execute(postgresql.insert(profile).values(row).on_conflict_do_nothing())


def _selected(rule: Rule) -> dict[str, tuple[str, ...]]:
    chosen = {name: getattr(rule.selector, name) for name in _LABEL_COLUMNS}
    return {name: values for name, values in chosen.items() if values}


def _shows(signal: str) -> ColumnElement[bool]:
    if signal == "negative":
        return assessment.c.verdict != Verdict.GROUNDED
    if signal in set(Verdict):
        return assessment.c.verdict == signal
    return assessment.c.reasons.contains([Reason(signal).value])
