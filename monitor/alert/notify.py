"""Delivers what stands in the outbox, and owns the retries: a receiver sends once and says whether it may try again.

What can be repeated: a message that was sent, when this process is killed, or the store is lost, before the row is
marked as delivered; and one whose answer from the service was lost on the way (a timeout after it had arrived). In
these cases the receiver is handed the same notification again. Nothing else is sent twice, and nothing is dropped but
what is given up, which keeps its error in the outbox.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from monitor.alert.notification import Notification
from monitor.errors import Fatal, Retriable
from monitor.ports import AlertStore, Receiver

log = logging.getLogger(__name__)

DEADLINE = timedelta(hours=24)
_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=10)
_LONGEST_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one call of `deliver` did, in notifications."""

    delivered: int = 0
    postponed: int = 0
    given_up: int = 0


def deliver(
    store: AlertStore,
    receivers: Mapping[str, Receiver],
    now: datetime,
    *,
    random: Random,
    deadline: timedelta = DEADLINE,
) -> Delivery:
    """Sends each notification that is due at `now` once.

    Of one alert and receiver the store hands out only the first, so that `resolved` never overtakes `firing`. A failure
    that may pass is tried again after a pause that doubles from 10 s to 10 min, half of it drawn from `random`, and at
    the earliest when the service said; `deadline` after the notification was made it is given up. One that will not
    pass is given up at once. A receiver that failed is left alone for the rest of the call, and when it said for how
    long, so are its other notifications. Nothing is done when another replica is delivering.

    Raises:
        Retriable: the store is out of reach; what was sent but not marked is sent again.
    """
    with store.delivering() as ours:
        if not ours:
            return Delivery()
        delivered = postponed = given_up = 0
        resting: dict[str, datetime | None] = {}  # receivers that failed in this call: until when, if they said
        for notification in store.due(now):
            name = notification.receiver
            if name in resting:
                until = resting[name]
                if until is not None:
                    store.failed(notification, f"{name} asked to wait", until)
                    postponed += 1
                continue
            try:
                receipt = _receiver(receivers, name).send(notification)
            except Fatal as error:
                log.critical("notification lost: %s for %s: %s", notification.status, notification.rule, error)
                store.failed(notification, str(error), None)
                given_up += 1
            except Exception as error:  # noqa: BLE001  a receiver's defect must not stop the others
                retry_at = _retry_at(notification, error, now, random)
                resting[name] = retry_at if getattr(error, "retry_after", None) is not None else None
                if retry_at > notification.at + deadline:
                    log.critical("notification lost after %s: %s: %s", deadline, notification.rule, _reason(error))
                    store.failed(notification, f"given up after {deadline}: {_reason(error)}", None)
                    given_up += 1
                else:
                    log.warning("%s: %s; again at %s", name, _reason(error), retry_at.isoformat())
                    store.failed(notification, _reason(error), retry_at)
                    postponed += 1
            else:
                store.delivered(notification, receipt, now)
                delivered += 1
        return Delivery(delivered=delivered, postponed=postponed, given_up=given_up)


def _receiver(receivers: Mapping[str, Receiver], name: str) -> Receiver:
    if name not in receivers:  # retriable: whoever dropped the setting by mistake has until the deadline
        raise Retriable(f"the receiver {name!r} is not configured any more")
    return receivers[name]


def _retry_at(notification: Notification, error: Exception, now: datetime, random: Random) -> datetime:
    doublings = min(notification.attempts, 16)  # beyond any pause we allow; keeps the power small
    pause = min(_FIRST_PAUSE * (1 << doublings), _LONGEST_PAUSE)
    pause = pause * random.uniform(0.5, 1.0)
    if isinstance(error, Retriable) and error.retry_after is not None:
        pause = max(pause, min(timedelta(seconds=error.retry_after), _LONGEST_RETRY_AFTER))
    return now + pause


def _reason(error: Exception) -> str:
    # the text of an exception that we did not write ourselves may hold a secret
    return str(error) if isinstance(error, Retriable) else f"defect in the receiver: {type(error).__name__}"
