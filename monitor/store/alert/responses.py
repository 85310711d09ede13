"""The `Responses` port on PostgreSQL: acknowledgements and silences, each with who did it and when."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, update
from typing_extensions import override

from monitor.alert.ports import Responses
from monitor.alert.silence import Silence
from monitor.alert.state import Alert, State
from monitor.audit.record import portable
from monitor.store.alert.alerts import alert_of
from monitor.store.audit_queue import Act, Kind, queue_act
from monitor.store.database import retriable
from monitor.store.tables.alerts import alert, alert_action, alert_group, silence

_ACTIVE = [state for state in State if state.active]
_a = alert.c


class PostgresResponses(Responses):
    """Safe to use from several threads."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @override
    def active_alerts(self, episode: str) -> tuple[Mapping[str, str], list[Alert]]:
        query = select(alert_group.c.labels, alert_group.c.said).where(alert_group.c.episode == episode).limit(1)
        with retriable(), self._engine.connect() as connection:
            group = connection.execute(query).one_or_none()
            if group is None:
                return {}, []
            active = select(alert).where(_a.fingerprint.in_(group.said), _a.state.in_(_ACTIVE))
            return group.labels, [alert_of(row) for row in connection.execute(active)]

    @override
    def acknowledge(self, alerts: Sequence[Alert], *, by: str, now: datetime, comment: str = "") -> int:
        done = 0
        with retriable(), self._engine.begin() as connection:
            for alert_ in sorted(alerts, key=lambda alert_: alert_.fingerprint):
                same = (_a.fingerprint == alert_.fingerprint, _a.episode == alert_.episode, _a.state.in_(_ACTIVE))
                write = update(alert).where(*same, _a.acknowledged_by.is_(None))
                who = f"{by} ({comment})" if comment else by  # the comment tells the next person why
                if connection.execute(write.values(acknowledged_by=who, acknowledged_at=now)).rowcount:
                    done += 1
                    _keep(
                        connection,
                        "acknowledge",
                        by,
                        now,
                        comment,
                        fingerprint=alert_.fingerprint,
                        episode=alert_.episode,
                    )
                    queue_act(connection, acknowledge_act(alert_.fingerprint, alert_.episode, by=by, now=now))
        return done

    @override
    def silence(self, silence: Silence, *, now: datetime) -> None:
        values = {
            "id": silence.id,
            "matchers": [str(matcher) for matcher in silence.matchers],
            "starts_at": silence.starts_at,
            "ends_at": silence.ends_at,
            "created_by": silence.created_by,
            "comment": silence.comment,
        }
        with retriable(), self._engine.begin() as connection:
            connection.execute(insert(_silence).values(**values))
            queue_act(connection, silence_act(values, now))
            _keep(connection, "silence", silence.created_by, now, silence.comment, silence_id=silence.id)

    @override
    def unsilence(self, silence_id: str, *, by: str, now: datetime) -> bool:
        s = _silence.c
        write = update(_silence).where(s.id == silence_id, s.ends_at > now).values(ends_at=now)
        with retriable(), self._engine.begin() as connection:
            ended = connection.execute(write).rowcount == 1
            if ended:
                _keep(connection, "unsilence", by, now, "", silence_id=silence_id)
                queue_act(connection, unsilence_act(silence_id, by=by, now=now))
        return ended


def silence_act(row: Mapping[str, Any], now: datetime) -> Act:
    """The act to seal for a row of `silence`, without the comment, which is free text."""
    times = {name: portable(row[name]) for name in ("starts_at", "ends_at")}
    body = {"matchers": row["matchers"], **times}
    return Act(kind=Kind.SILENCE, by=row["created_by"], at=now, subject=row["id"], body=body)


def unsilence_act(silence_id: str, *, by: str, now: datetime) -> Act:
    """The act to seal when a silence is ended."""
    return Act(kind=Kind.UNSILENCE, by=by, at=now, subject=silence_id, body={"ends_at": portable(now)})


def acknowledge_act(fingerprint: str, episode: str, *, by: str, now: datetime) -> Act:
    """The act to seal when an alert is acknowledged."""
    return Act(kind=Kind.ACKNOWLEDGE, by=by, at=now, subject=fingerprint, body={"episode": episode})


_silence = silence  # for the class, which has a method of that name


def _keep(connection: Connection, action: str, by: str, now: datetime, comment: str, **of: Any) -> None:
    connection.execute(insert(alert_action).values(at=now, by=by, action=action, comment=comment, **of))
