"""Groups and notifications put into an outbox, and what is due there."""

from __future__ import annotations

from monitor.alert.notification import Notification
from monitor.alert.notify.dispatch import AlertGroup
from tests.factories.alert.notifications import a_notification, a_notified_alert, at

TOLD = a_notified_alert(
    labels={"app": "shop", "topic": ""}, lower=None, upper=None, acknowledged_by="ada", silenced_until=at(9)
)


def a_group(**over) -> AlertGroup:
    """One that its first notification is told of."""
    known = {
        "key": "g1",
        "receiver": "slack",
        "labels": {"app": "shop"},
        "episode": "e1",
        "number": 1,
        "told_at": at(1),
        "paged_at": at(1),
        "said": {"f" * 32: TOLD},
    }
    return AlertGroup(**known | over)


def tell(outbox, group: AlertGroup, *, over=False, **changes) -> Notification:
    known = {
        "receiver": group.receiver,
        "group": group.key,
        "episode": group.episode,
        "number": group.number - 1,
        "news": "resolved" if over else "changed",
        "at": group.told_at,
    }
    notification = a_notification(**known | changes)
    outbox.enqueue(group, notification, over=over)
    return notification


def tell_all(outbox, numbers=2, **over) -> None:
    """As many notifications of one group, the last of them its end."""
    for number in range(1, numbers + 1):
        tell(outbox, a_group(number=number, **over), over=number == numbers)


def all_due(outbox, moment):
    return sorted((n for name in outbox.waiting() for n in outbox.due(moment, name)), key=lambda n: n.id)


def due(outbox, minute=60.0):
    return [(n.receiver, n.group, n.episode, n.number) for n in all_due(outbox, at(minute))]
