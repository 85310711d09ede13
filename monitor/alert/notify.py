"""Delivers what stands in the outbox, and owns the retries: a receiver sends once and says whether it may try again.

What can be repeated: a message that was sent, when this process is killed, or the store is lost, before the row is
marked as delivered; and one whose answer from the service was lost on the way (a timeout after it had arrived). Then
the receiver is handed the same notification again, marked `in_doubt`, so that one that can look whether it arrived does
so. Nothing else is sent twice, and nothing is dropped but what is given up, which keeps its error in the outbox.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from monitor.alert.notification import Notification
from monitor.errors import Fatal, Retriable
from monitor.ports import Outbox, Receiver

log = logging.getLogger(__name__)

DEADLINE = timedelta(hours=24)
FALLBACK_AFTER = timedelta(minutes=5)
_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=10)
_LONGEST_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one call of `deliver` did, in notifications."""

    delivered: int = 0
    postponed: int = 0
    given_up: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a receiver is tried, and who is told instead of one that fails.

    A notification is given up `deadline` after it was made. Once it has been failing for `fallback_after`, or is given
    up, `fallback` is told of it too.
    """

    deadline: timedelta = DEADLINE
    fallback: str | None = None
    fallback_after: timedelta = FALLBACK_AFTER


def deliver(
    outbox: Outbox,
    receivers: Mapping[str, Receiver],
    now: datetime,
    *,
    random: Random,
    patience: Patience = Patience(),
) -> Delivery:
    """Sends each notification that is due at `now` once.

    Of one group and receiver the outbox hands out only the first, so that `resolved` never overtakes `firing`. A
    failure that may pass is tried again after a pause that doubles from 10 s to 10 min, half of it drawn from `random`,
    and at the earliest when the service said. One that will not pass is given up at once. A receiver that failed is
    left alone for the rest of the call, and when it said for how long, so are its other notifications. Nothing is done
    when another replica is delivering.

    Raises:
        Retriable: the store is out of reach; what was sent but not marked is sent again.
    """
    with outbox.delivering() as ours:
        if not ours:
            return Delivery()
        delivered = postponed = given_up = 0
        resting: dict[str, datetime | None] = {}  # receivers that failed in this call: until when, if they said
        for notification in outbox.due(now):
            name = notification.receiver
            if name in resting:
                until = resting[name]
                if until is not None:
                    error = f"{name} asked to wait"
                    outbox.failed(notification, error, until, instead=_instead(notification, error, patience, now))
                    postponed += 1
                continue
            outbox.attempting(notification)
            try:
                receipt = _receiver(receivers, name).send(notification)
            except Exception as error:  # noqa: BLE001  a receiver's defect must not stop the others
                reason = _reason(error)
                retry_at = _retry_at(notification, error, now, random)
                if retry_at is None or retry_at > notification.at + patience.deadline:
                    log.critical("notification lost: %s for %s: %s", notification.news, name, reason)
                    instead = _instead(notification, reason, patience, now, lost=True)
                    outbox.failed(notification, reason, None, instead=instead)
                    given_up += 1
                else:
                    resting[name] = retry_at if getattr(error, "retry_after", None) is not None else None
                    log.warning("%s: %s; again at %s", name, reason, retry_at.isoformat())
                    outbox.failed(notification, reason, retry_at, instead=_instead(notification, reason, patience, now))
                    postponed += 1
            else:
                outbox.delivered(notification, receipt, now)
                delivered += 1
        return Delivery(delivered=delivered, postponed=postponed, given_up=given_up)


def _instead(
    notification: Notification, error: str, patience: Patience, now: datetime, *, lost: bool = False
) -> Notification | None:
    """What the fallback receiver is told, once it is time for that."""
    late = now - notification.at >= patience.fallback_after
    if patience.fallback in (None, notification.receiver) or not (lost or late) or notification.instead_of:
        return None
    reason = f"{notification.receiver} ({error})"
    return replace(
        notification, receiver=patience.fallback, instead_of=reason, id=None, attempts=0, in_doubt=False, previous=None
    )


def _receiver(receivers: Mapping[str, Receiver], name: str) -> Receiver:
    if name not in receivers:  # retriable: whoever dropped the setting by mistake has until the deadline
        raise Retriable(f"the receiver {name!r} is not configured any more")
    return receivers[name]


def _retry_at(notification: Notification, error: Exception, now: datetime, random: Random) -> datetime | None:
    """None: never."""
    if isinstance(error, Fatal):
        return None
    doublings = min(notification.attempts, 16)  # beyond any pause we allow; keeps the power small
    pause = min(_FIRST_PAUSE * (1 << doublings), _LONGEST_PAUSE)
    pause = pause * random.uniform(0.5, 1.0)
    if isinstance(error, Retriable) and error.retry_after is not None:
        # in seconds, since what a service says may be more than a timedelta holds, or no number
        pause = max(pause, timedelta(seconds=min(_LONGEST_RETRY_AFTER.total_seconds(), error.retry_after)))
    return now + pause


def _reason(error: Exception) -> str:
    # the text of an exception that we did not write ourselves may hold a secret
    return str(error) if isinstance(error, (Retriable, Fatal)) else f"defect in the receiver: {type(error).__name__}"
