"""Turns an alert into what a notification says of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from monitor.alert.notification import NotifiedAlert, Status
from monitor.alert.silence import Silence
from monitor.alert.state import Alert, State

STATUSES: Mapping[State, Status] = {
    State.FIRING: "firing",
    State.NO_DATA: "no_data",
    State.ERROR: "error",
    State.RESOLVED: "resolved",
}


def described(alert: Alert, silence: Silence | None = None) -> NotifiedAlert:
    """The alert as messages describe it; a pending one as if it fired."""
    if alert.state in (State.PENDING, State.INACTIVE):
        alert = replace(alert, state=State.FIRING)
    return notified_alert(alert, silence)


def notified_alert(alert: Alert, silence: Silence | None) -> NotifiedAlert:
    """The alert as a notification sends it, under `silence` if one holds; it is active or resolved."""
    finite = (alert.lower > float("-inf"), alert.upper < float("inf"))
    return NotifiedAlert(
        fingerprint=alert.fingerprint,
        episode=alert.episode,
        rule=alert.rule,
        signal=alert.signal,
        method=alert.method,
        labels=alert.labels,
        annotations=alert.annotations,
        severity=alert.severity,
        status=STATUSES[alert.state],
        unit=alert.unit,
        value=alert.value,
        lower=alert.lower if finite[0] else None,
        upper=alert.upper if finite[1] else None,
        bound=alert.bound,
        below=alert.below,
        samples=alert.samples,
        window=alert.window,
        detail=alert.detail,
        breaching_since=alert.active_since,
        fired_at=alert.started_at,
        resolved_at=alert.resolved_at if alert.state is State.RESOLVED else None,
        acknowledged_by=alert.acknowledged_by,
        silenced_until=silence.ends_at if silence is not None and alert.state.active else None,
        note=alert.note,
        quiet_since=alert.quiet_since,
    )
