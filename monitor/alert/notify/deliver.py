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
from monitor.alert.ports import Outbox, Receiver
from monitor.core.errors import Fatal, Retriable

log = logging.getLogger(__name__)

DEADLINE = timedelta(hours=24)
FALLBACK_AFTER = timedelta(minutes=5)
KEPT = timedelta(days=30)  # what was told, once its episode is over
RESENT_KEPT = timedelta(hours=1)  # what was told again to a receiver that forgets
_PIECE, _PIECES = 1_000, 200  # rows of one transaction, transactions of one call
_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=10)
_LONGEST_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """What one call of `deliver` did, in notifications."""

    delivered: int = 0
    postponed: int = 0
    given_up: int = 0

    def __add__(self, other: Delivery) -> Delivery:
        return Delivery(
            delivered=self.delivered + other.delivered,
            postponed=self.postponed + other.postponed,
            given_up=self.given_up + other.given_up,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long a receiver is tried, and who is told instead of one that fails.

    A notification is given up `deadline` after it was made. Once it has waited for `fallback_after`, or is given up,
    `fallback` is told of it too, and of what else comes of its episode.
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
    """Delivers to one receiver after the other, see `deliver_to`; also for those that are not configured any more.

    Raises:
        Retriable: the store is out of reach; what was sent but not marked is sent again.
    """
    done = Delivery()
    for name in [*receivers, *(name for name in outbox.waiting() if name not in receivers)]:
        done += deliver_to(outbox, name, receivers.get(name), now, random=random, patience=patience)
    return done


def deliver_to(
    outbox: Outbox,
    name: str,
    receiver: Receiver | None,
    now: datetime,
    *,
    random: Random,
    patience: Patience = Patience(),
) -> Delivery:
    """Sends each notification that is due at `now` for the receiver `name` once.

    Of one group the outbox hands out only the first, so that `resolved` never overtakes `firing`. A failure that may
    pass is tried again after a pause that doubles from 10 s to 10 min, half of it drawn from `random`, and at the
    earliest when the service said. One that will not pass is given up at once. A receiver that failed is left alone for
    the rest of the call, and when it said for how long, so are its other notifications. Nothing is done when another
    replica is delivering to it. `receiver` None is not configured any more: it may come back before the deadline.

    Raises:
        Retriable: the store is out of reach; what was sent but not marked is sent again.
    """
    if name not in outbox.waiting():  # mostly; a lock costs a connection
        return Delivery()
    with outbox.delivering(name) as ours:
        if not ours:
            return Delivery()
        fallback = patience.fallback if patience.fallback != name else None
        due = outbox.due(now, name)
        if fallback is not None:  # before anything is sent: if we are killed after that, it must hear the end too
            outbox.copy_to_fallback(name, fallback)
        done, resting = Delivery(), None
        for notification in due:
            if resting is None:
                one, resting = _sent(outbox, notification, receiver, now, random=random, patience=patience)
            else:
                one = _left_alone(outbox, notification, resting, now, patience)
            done += one
        if fallback is not None:
            outbox.copy_to_fallback(name, fallback, made_before=now - patience.fallback_after)
        return done


def purge(outbox: Outbox, now: datetime) -> int:
    """Removes in small transactions what nobody needs any more; how many rows.

    Raises:
        Retriable: the store is out of reach; what was removed stays so.
    """
    removed = 0
    for _ in range(_PIECES):
        piece = outbox.purge(before=now - KEPT, resent_before=now - RESENT_KEPT, limit=_PIECE)
        removed += piece
        if piece < _PIECE:
            break
    return removed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resting:
    """A receiver that failed in this call: why, and until when it is to be left alone, if it said."""

    reason: str
    until: datetime | None


def _sent(
    outbox: Outbox,
    notification: Notification,
    receiver: Receiver | None,
    now: datetime,
    *,
    random: Random,
    patience: Patience,
) -> tuple[Delivery, _Resting | None]:
    name = notification.receiver
    outbox.mark_attempt(notification)
    try:
        receipt = _configured(receiver, name).send(notification)
    except Exception as error:  # noqa: BLE001  a receiver's defect must not stop the others
        reason = _reason(error)
        retry_at = _retry_at(notification, error, now, random)
        if retry_at is None:
            return _given_up(outbox, notification, reason, patience), None
        asked = getattr(error, "retry_after", None) is not None
        resting = _Resting(reason=reason, until=retry_at if asked else None)
        if retry_at > notification.at + patience.deadline:
            return _given_up(outbox, notification, reason, patience), resting
        log.warning("%s: %s; again at %s", name, reason, retry_at.isoformat())
        outbox.failed(notification, reason, retry_at)
        return Delivery(postponed=1), resting
    outbox.delivered(notification, receipt, now)
    return Delivery(delivered=1), None


def _left_alone(
    outbox: Outbox, notification: Notification, resting: _Resting, now: datetime, patience: Patience
) -> Delivery:
    """What becomes of one that is due while its receiver rests; that is no attempt."""
    if now > notification.at + patience.deadline:
        return _given_up(outbox, notification, resting.reason, patience, attempted=False)
    if resting.until is None:
        return Delivery()
    outbox.failed(notification, f"{notification.receiver} asked to wait", resting.until, attempted=False)
    return Delivery(postponed=1)


def _given_up(
    outbox: Outbox, notification: Notification, reason: str, patience: Patience, *, attempted: bool = True
) -> Delivery:
    name, fallback = notification.receiver, patience.fallback
    log.critical("notification lost: %s for %s: %s", notification.news, name, reason)
    instead = None
    if fallback not in (None, name) and notification.instead_of is None and not notification.resent:
        instead = replace(
            notification,
            receiver=fallback,
            instead_of=f"{name} ({reason})",
            id=None,
            attempts=0,
            in_doubt=False,
            previous=None,
        )
    outbox.failed(notification, reason, None, instead=instead, attempted=attempted)
    return Delivery(given_up=1)


def _configured(receiver: Receiver | None, name: str) -> Receiver:
    if receiver is None:  # retriable: whoever dropped the setting by mistake has until the deadline
        raise Retriable(f"the receiver {name!r} is not configured any more")
    return receiver


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
