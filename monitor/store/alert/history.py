"""Reads alerts for the terminal: which there are, their history, who did what, and undelivered notifications."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Engine, Select, and_, false, func, or_, select

from monitor.alert.silence import silencing
from monitor.alert.state import Alert, State
from monitor.store.alert.alerts import alert_of
from monitor.store.alert.outbox import escalation, silence_of
from monitor.store.database import retriable
from monitor.store.tables.alerts import (
    alert,
    alert_action,
    alert_event,
    alert_memory,
    notification,
    rule_state,
    silence,
)

SHORTEST = 6  # characters of a shortened id
LATEST = 1_000  # rows of a history, because an alert may flap for years
Row: TypeAlias = Mapping[str, Any]


class AlertHistory:
    """Reads; every method may raise `Retriable`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def alerts(self, now: datetime) -> list[Row]:
        """Every alert that was ever pending, active ones first, then the most recent; with `silenced_until`."""
        active = alert.c.state.in_([state for state in State if state.active])
        query = select(alert).order_by(active.desc(), func.coalesce(alert.c.fired_at, alert.c.active_since).desc())
        holding = select(silence).where(silence.c.ends_at > now)
        with retriable(), self._engine.connect() as connection:
            silences = [silence_of(row) for row in connection.execute(holding)]
            rows = connection.execute(query).all()
        quiet = (silencing(silences, alert_of(row).matched, now) for row in rows)
        return [
            {**row._asdict(), "silenced_until": silence_.ends_at if silence_ else None}
            for row, silence_ in zip(rows, quiet, strict=True)
        ]

    def unsent(self) -> list[Row]:
        """By receiver: how many notifications wait or were given up, since when, and the last error."""
        n = notification.c
        late = and_(n.delivered_at.is_(None), ~n.given_up)
        query = (
            select(
                n.receiver,
                func.count().filter(late).label("waiting"),
                func.count().filter(n.given_up).label("lost"),
                func.min(n.made_at).label("since"),
                func.max(n.last_error).label("last_error"),
            )
            .where(n.delivered_at.is_(None))
            .group_by(n.receiver)
            .order_by(n.receiver)
        )
        return self._rows(query)

    def rules(self) -> list[Row]:
        """When each rule was last evaluated, what error prevents it, and how many alerts lack a baseline (`held`)."""
        unknown = or_(alert_memory.c.baseline.is_(None), func.jsonb_typeof(alert_memory.c.baseline) == "null")
        held = (
            select(func.count())
            .where(alert_memory.c.rule_digest == rule_state.c.rule_digest, unknown, rule_state.c.learnt_at.is_not(None))
            .scalar_subquery()
        )
        return self._rows(select(*rule_state.c, held.label("held")).order_by(rule_state.c.rule))

    def named(self, name: str) -> list[Alert]:
        """The alerts of that rule, fingerprint or episode, where the episode may be that of their group.

        Ids may be shortened to `SHORTEST` characters at least: one letter would name every sixteenth alert.
        """
        episodes = select(notification.c.payload["alerts"]).where(_begins(notification.c.episode, name))
        with retriable(), self._engine.connect() as connection:
            of_group = {notified["fingerprint"] for alerts in connection.scalars(episodes) for notified in alerts}
            query = select(alert).where(
                (alert.c.rule == name)
                | _begins(alert.c.fingerprint, name)
                | _begins(alert.c.episode, name)
                | alert.c.fingerprint.in_(of_group)
            )
            return [alert_of(row) for row in connection.execute(query.order_by(alert.c.active_since))]

    def events(self, fingerprints: list[str]) -> list[Row]:
        """The latest `LATEST` changes of state of these alerts, oldest first."""
        e = alert_event.c
        return self._rows(select(*e).where(e.fingerprint.in_(fingerprints)).order_by(e.id.desc()).limit(LATEST))[::-1]

    def actions(self, fingerprints: list[str]) -> list[Row]:
        """The latest `LATEST` things that people did about these alerts, oldest first; without silences."""
        a = alert_action.c
        return self._rows(select(*a).where(a.fingerprint.in_(fingerprints)).order_by(a.id.desc()).limit(LATEST))[::-1]

    def notifications(self, fingerprints: list[str]) -> list[Row]:
        """The notifications about these alerts, oldest first, without their messages."""
        if not fingerprints:
            return []
        n = notification.c
        ours = or_(*(n.payload["alerts"].contains([{"fingerprint": identity}]) for identity in fingerprints))
        columns = (
            n.receiver,
            n.news,
            n.made_at,
            n.delivered_at,
            n.attempts,
            n.last_error,
            n.given_up,
            n.episode,
            n.number,
            escalation().label("escalated_after"),
        )
        return self._rows(select(*columns).where(ours).order_by(n.id))

    def silences(self, now: datetime, *, ended: bool = False) -> list[Row]:
        """Current and future silences, with `ended` past ones too; the last to end first, at most `LATEST`."""
        query = select(*silence.c).order_by(silence.c.ends_at.desc()).limit(LATEST)
        return self._rows(query if ended else query.where(silence.c.ends_at > now))

    def _rows(self, query: Select[Any]) -> list[Row]:
        with retriable(), self._engine.connect() as connection:
            return [dict(row) for row in connection.execute(query).mappings()]


def _begins(column: ColumnElement[str], name: str) -> ColumnElement[bool]:
    return column.startswith(name, autoescape=True) if len(name) >= SHORTEST else false()
