"""Lists alerts for the dashboard, each with the silence that covers it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import Engine, Select, case, func, select

from monitor.alert.notification import SEVERITIES
from monitor.alert.silence import Silence, silencing
from monitor.alert.state import Alert, State
from monitor.store.alert.alerts import alert_of
from monitor.store.alert.outbox import escalation, silence_of
from monitor.store.database import limited_read
from monitor.store.tables.alerts import alert, alert_action, alert_event, notification, silence

LATEST = 2_000  # the newest notifications, among which those of one alert are searched: there is no index
_NARROW = "the database is busy; try again in a moment"
_a, _n, _e, _d = alert.c, notification.c, alert_event.c, alert_action.c
_ENDING = alert_event.alias()  # the event that ended an episode
_STARTED = func.coalesce(_a.fired_at, _a.active_since)
_ON_FIRE = [state for state in State if state.active]
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedAlert:
    """An alert, and the silence that covers it now."""

    alert: Alert
    silence: Silence | None


class AlertBoard:
    """Reads; every method may raise `Retriable`, among it `TakesTooLong`."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def active(self, now: datetime, *, most: int) -> list[ListedAlert]:
        """Alerts that fire, are in error or pending; the most severe first, then the newest."""
        rank = {severity: place for place, severity in enumerate(SEVERITIES)}
        order = (_a.state == State.PENDING, case(rank, value=_a.severity), _STARTED.desc(), _a.fingerprint)
        query = select(alert).where(_a.state.in_([*_ON_FIRE, State.PENDING])).order_by(*order)
        return self._listed(query.limit(most), now)

    def active_number(self) -> int:
        """How many alerts fire, are in error or pending."""
        query = select(func.count()).where(_a.state.in_([*_ON_FIRE, State.PENDING]))
        with limited_read(self._engine, _NARROW) as connection:
            return connection.scalar(query) or 0

    def resolved(self, since: datetime, now: datetime, *, most: int) -> list[ListedAlert]:
        """Alerts that resolved since then, the last one first."""
        query = select(alert).where(_a.state == State.RESOLVED, _a.resolved_at >= since)
        return self._listed(query.order_by(_a.resolved_at.desc(), _a.fingerprint).limit(most), now)

    def resolved_before(self, since: datetime, *, most: int) -> list[Alert]:
        """Earlier episodes, of alerts that have another one now, that resolved since then; the last one first.

        Their times and who acknowledged them are their own, all else is that of the alert now.
        """
        own = (_e.fingerprint == _ENDING.c.fingerprint, _e.episode == _ENDING.c.episode, _e.to_state.in_(_ON_FIRE))
        acknowledged = (
            _d.fingerprint == _ENDING.c.fingerprint,
            _d.episode == _ENDING.c.episode,
            _d.action == "acknowledge",
        )
        query = (
            select(
                alert,
                _ENDING.c.episode.label("episode_then"),
                _ENDING.c.at.label("resolved_then"),
                select(func.min(_e.at)).where(*own).scalar_subquery().label("fired_then"),
                select(_d.by)
                .where(*acknowledged)
                .order_by(_d.id)
                .limit(1)
                .scalar_subquery()
                .label("acknowledged_then"),
            )
            .join(_ENDING, _ENDING.c.fingerprint == _a.fingerprint)
            .where(_ENDING.c.to_state == State.RESOLVED, _ENDING.c.at >= since, _ENDING.c.episode != _a.episode)
            .order_by(_ENDING.c.at.desc(), _ENDING.c.id.desc())
        )
        with limited_read(self._engine, _NARROW) as connection:
            rows = connection.execute(query.limit(most)).all()
        return [
            replace(
                alert_of(row),
                episode=row.episode_then,
                state=State.RESOLVED,
                active_since=row.fired_then or row.resolved_then,
                fired_at=row.fired_then,
                resolved_at=row.resolved_then,
                acknowledged_by=row.acknowledged_then,
            )
            for row in rows
        ]

    def alert(self, fingerprint: str, now: datetime) -> ListedAlert | None:
        """The alert with that fingerprint."""
        return next(iter(self._listed(select(alert).where(_a.fingerprint == fingerprint), now)), None)

    def of_episode(self, episode: str) -> str | None:
        """The fingerprint of the alert that has, or had, that episode."""
        now = select(_a.fingerprint).where(_a.episode == episode)
        then = select(alert_event.c.fingerprint).where(alert_event.c.episode == episode).limit(1)
        with limited_read(self._engine, _NARROW) as connection:
            return connection.scalar(now) or connection.scalar(then)

    def notifications(self, fingerprint: str) -> Sequence[Row]:
        """Notifications about the alert among the latest ones, oldest first, without their messages."""
        newest = select(func.max(_n.id)).scalar_subquery()
        sent = (_n.receiver, _n.news, _n.made_at, _n.delivered_at, _n.attempts, _n.last_error, _n.given_up)
        columns = (*sent, escalation().label("escalated_after"))
        ours = _n.payload["alerts"].contains([{"fingerprint": fingerprint}])
        query = select(*columns).where(_n.id > newest - LATEST, ours).order_by(_n.id)
        with limited_read(self._engine, _NARROW) as connection:
            return [dict(row) for row in connection.execute(query).mappings()]

    def _listed(self, query: Select[Any], now: datetime) -> list[ListedAlert]:
        holding = select(silence).where(silence.c.ends_at > now)
        with limited_read(self._engine, _NARROW) as connection:
            silences = [silence_of(row) for row in connection.execute(holding)]
            alerts = [alert_of(row) for row in connection.execute(query)]
        return [ListedAlert(alert=listed, silence=silencing(silences, listed.matched, now)) for listed in alerts]
