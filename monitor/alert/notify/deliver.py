"""Delivers the notifications in the outbox and owns the retries; a receiver sends once and names the kind of failure.

A message can be sent twice in two cases: this process is killed, or the store is lost, after the message was sent and
before the row is marked as delivered; or the answer of the service is lost after the message arrived. The receiver then
gets the same notification again, marked `in_doubt`, and may check whether it arrived. Nothing else is sent twice, and
nothing is dropped except what is given up, whose error stays in the outbox.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from random import Random

from monitor.alert.notification import SEVERITIES, Notification
from monitor.alert.ports import Outbox, Receiver
from monitor.core.errors import Fatal, Retriable
from monitor.core.stage import stage

log = logging.getLogger(__name__)

DEADLINE = timedelta(hours=24)
FALLBACK_AFTER = timedelta(minutes=5)
AT_ONCE = 100  # notifications that are sent in one call
KEPT = timedelta(days=30)  # how long notifications are kept once their episode is over
RESENT_KEPT = timedelta(hours=1)  # how long repetitions for receivers that forget are kept
_ROWS, _TRANSACTIONS = 1_000, 200  # rows per transaction and transactions per call of `purge`
_FIRST_PAUSE = timedelta(seconds=10)
_LONGEST_PAUSE = timedelta(minutes=10)
_LONGEST_RETRY_AFTER = timedelta(hours=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """How many notifications one call of `deliver` handled, by outcome."""

    delivered: int = 0
    postponed: int = 0
    given_up: int = 0

    @property
    def sent(self) -> int:
        """How many were tried and are off the queue."""
        return self.delivered + self.given_up

    def __add__(self, other: Delivery) -> Delivery:
        return Delivery(
            delivered=self.delivered + other.delivered,
            postponed=self.postponed + other.postponed,
            given_up=self.given_up + other.given_up,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How long delivery to a receiver is tried, and which receiver takes over when it fails.

    A notification is given up `deadline` after it was made. Once it has waited for `fallback_after`, or is given up,
    the receiver `fallback` gets it too, and the rest of its episode.
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
    """Delivers to one receiver after the other with `deliver_to`; also handles receivers that are no longer configured.

    Raises:
        Retriable: the store is out of reach; notifications that were sent but not marked are sent again.
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
    """Sends the notifications that are due at `now` for the receiver `name` once each, at most `AT_ONCE` of them.

    Those that page come first, the worst before the others; the rest follows in later calls, so that a new page need
    not wait for a storm of messages. The outbox hands out only the first notification of each group, so that
    `resolved` never overtakes `firing`. After a temporary failure the next attempt comes after a pause that doubles
    from 10 s to 10 min, half of it random, and no earlier than the service asks. After a permanent failure the
    notification is given up at once. A receiver that failed gets nothing more in this call; if it asked for a pause,
    its other notifications wait as long. Does nothing if another replica delivers to the receiver. `receiver` None is
    no longer configured, and may come back before the deadline.

    Raises:
        Retriable: the store is out of reach; notifications that were sent but not marked are sent again.
    """
    if name not in outbox.waiting():  # the usual case; a lock costs a connection
        return Delivery()
    with outbox.delivering(name) as ours:
        if not ours:
            return Delivery()
        fallback = patience.fallback if patience.fallback != name else None
        due = outbox.due(now, name)
        if fallback is not None:  # before sending: if this process is killed later, the fallback must hear the end too
            outbox.copy_to_fallback(name, fallback)
        done, resting = Delivery(), None
        for notification in sorted(due, key=_urgency):
            if resting is None:
                if done.sent >= AT_ONCE:
                    break
                outcome, resting = _sent(outbox, notification, receiver, now, random=random, patience=patience)
            else:
                outcome = _left_alone(outbox, notification, resting, now, patience)
            done += outcome
        if fallback is not None:
            outbox.copy_to_fallback(name, fallback, made_before=now - patience.fallback_after)
        return done


def _urgency(notification: Notification) -> tuple[bool, int]:
    return not notification.pages, SEVERITIES.index(notification.severity)


def purge(outbox: Outbox, now: datetime) -> int:
    """Removes old notifications in small transactions; returns how many.

    Raises:
        Retriable: the store is out of reach; rows already removed stay removed.
    """
    removed = 0
    for _ in range(_TRANSACTIONS):
        batch = outbox.purge(before=now - KEPT, resent_before=now - RESENT_KEPT, limit=_ROWS)
        removed += batch
        if batch < _ROWS:
            break
    return removed


@dataclass(frozen=True, slots=True, kw_only=True)
class _Resting:
    """A receiver that failed in this call: the reason, and the time until which it asked to wait, if it did."""

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
        with stage("notify", receiver=name, rule=notification.alerts[0].rule, news=notification.news):
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
        log.warning("%s: %s; next attempt at %s", name, reason, retry_at.isoformat(), extra=_named(notification))
        outbox.failed(notification, reason, retry_at)
        return Delivery(postponed=1), resting
    outbox.delivered(notification, receipt, now)
    return Delivery(delivered=1), None


def _left_alone(
    outbox: Outbox, notification: Notification, resting: _Resting, now: datetime, patience: Patience
) -> Delivery:
    """Handles a notification that is due while its receiver rests; this does not count as an attempt."""
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
    log.critical("notification lost: %s for %s: %s", notification.news, name, reason, extra=_named(notification))
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


def _named(notification: Notification) -> dict[str, str]:
    return {"receiver": notification.receiver, "rule": notification.alerts[0].rule}


def _configured(receiver: Receiver | None, name: str) -> Receiver:
    if receiver is None:  # retriable: a setting removed by mistake can come back before the deadline
        raise Retriable(f"the receiver {name!r} is no longer configured")
    return receiver


def _retry_at(notification: Notification, error: Exception, now: datetime, random: Random) -> datetime | None:
    """The time of the next attempt; None after a permanent failure."""
    if isinstance(error, Fatal):
        return None
    doublings = min(notification.attempts, 16)  # already beyond the longest pause; keeps the power small
    pause = min(_FIRST_PAUSE * (1 << doublings), _LONGEST_PAUSE)
    pause = pause * random.uniform(0.5, 1.0)
    if isinstance(error, Retriable) and error.retry_after is not None:
        # in seconds, since the service may ask for more than a timedelta holds
        pause = max(pause, timedelta(seconds=min(_LONGEST_RETRY_AFTER.total_seconds(), error.retry_after)))
    return now + pause


def _reason(error: Exception) -> str:
    # the text of a foreign exception may hold a secret
    return str(error) if isinstance(error, (Retriable, Fatal)) else f"defect in the receiver: {type(error).__name__}"
