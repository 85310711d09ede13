"""Escalation: who else is notified of an alert that nobody acknowledges.

Nothing about it is stored but what each receiver was notified of, and when. So it goes on after a restart where it was,
and the receivers of a step join in the same transaction as every other one: once.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta

from monitor.alert.notification import NotifiedAlert
from monitor.alert.rule import Rule
from monitor.alert.state import Alert
from monitor.alert.window import gone_by


def escalated(
    alert: Alert, rule: Rule | None, told: Mapping[str, NotifiedAlert], now: datetime
) -> dict[str, timedelta]:
    """The receivers of the steps that are reached at `now`, with how long nobody had acknowledged the alert by then.

    `told` has the alert as each receiver was last notified of it. A receiver of a step stays until the alert is over,
    so that it hears of the acknowledgement and of the end, whatever becomes of the rule. A step is reached once the one
    before it was notified long enough ago: one step at a time, even if the clock jumps or nothing ran for hours. The
    time begins anew after a silence or a mute, since nobody was called meanwhile.
    """
    reached = {name: sent.escalated_after for name, sent in told.items() if sent.escalated_after is not None}
    silenced = any(sent.silenced_until is not None for sent in told.values())  # its end is still to be sent
    if rule is None or silenced or not alert.state.active or alert.acknowledged_by is not None:
        return reached
    since = _notified(alert, [sent for name, sent in told.items() if name not in reached])
    waited = timedelta()
    for step in rule.escalation:
        wait = step.after - waited
        if not reached.keys() >= set(step.receivers) and (
            since is None or gone_by(since, now) < wait or rule.mute.quiet_within(wait, now)
        ):
            break
        reached |= {name: step.after for name in step.receivers if name not in reached}
        since = _notified(alert, [told[name] for name in step.receivers if name in told])
        waited = step.after
    return reached


def notified_since(before: NotifiedAlert, alert: NotifiedAlert, now: datetime) -> datetime | None:
    """When the receiver that knows the alert as `before` was first notified of it, or again after a silence."""
    return now if before.silenced_until is not None and alert.silenced_until is None else before.notified_at


def unacknowledged_for(alerts: Iterable[NotifiedAlert]) -> timedelta | None:
    """How long nobody acknowledged the alerts that come by escalation; None if none does."""
    return max((alert.escalated_after for alert in alerts if alert.escalated_after is not None), default=None)


def _notified(alert: Alert, sent: Collection[NotifiedAlert]) -> datetime | None:
    """When the first of the receivers was notified of this episode; None if none was."""
    times = [each.notified_at or each.fired_at for each in sent]
    return max(min(times), alert.started_at) if times else None
