"""Turns planned notifications into rows of the outbox: the step between `dispatch.py` and `deliver.py`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from time import monotonic
from typing import TypeAlias

from monitor.alert.notification import SEVERITIES, Description, Notification, NotifiedAlert
from monitor.alert.notify.dispatch import Flush, plan
from monitor.alert.ports import Outbox
from monitor.alert.rule import RuleSet
from monitor.alert.state import Alert
from monitor.core.errors import Retriable

log = logging.getLogger(__name__)

DESCRIBING = 10.0  # seconds per round for explanations, so that the next round need not wait for them

Describe: TypeAlias = Callable[[NotifiedAlert, datetime], Description]
Link: TypeAlias = Callable[[NotifiedAlert], str | None]


def dispatch(
    rules: RuleSet,
    alerts: Sequence[Alert],
    outbox: Outbox,
    now: datetime,
    *,
    describe: Describe,
    link: Link,
    resend: Mapping[str, timedelta] | None = None,
    clock: Callable[[], float] = monotonic,
) -> list[Notification]:
    """Queues the notifications about the stored `alerts` that are due at `now`, and returns them.

    Pages come first, the worst of them before the others. `describe` says what changed, as long as `clock` shows less
    than `DESCRIBING` seconds for the round; later notifications go out without a description. `link` gives the page of
    an alert, and `resend` is as in `plan`.

    Each notification is written in one transaction with the group that remembers it. A process killed before the
    transaction makes the notification again in its next round; one killed after it finds it made. A notification that
    cannot be stored is logged and tried again in the next round; the others go on.

    Raises:
        Retriable: the store is out of reach, or another replica changed a group; rows already written stay.
    """
    flushes = plan(
        alerts,
        outbox.groups(),
        now,
        grouping=rules.grouping,
        silences=outbox.silences(now),
        inhibitions=rules.inhibitions,
        rules=rules.rules,
        resend=resend,
        backlog=outbox.backlog(),
    )
    described: dict[str, Description] = {}  # several receivers may get the same alert
    made: list[Notification] = []
    until = clock() + DESCRIBING
    for flush in sorted(flushes, key=_worst_first):
        complete = _with_description(flush, describe if clock() < until else _undescribed, described, now)
        try:
            notification = _notification(complete, link, now)
            outbox.enqueue(complete.group, notification, over=flush.over)
        except Retriable:
            raise
        except Exception:  # one group's notification must not hold up those of all others
            rule, receiver = flush.alerts[0].rule, flush.group.receiver
            log.exception(
                "the notification of alert %r for %s cannot be stored; the next round tries again",
                rule,
                receiver,
                extra={"rule": rule, "receiver": receiver},
            )
        else:
            made.append(notification)
    return made


def _worst_first(flush: Flush) -> tuple[bool, int]:
    return not flush.pages, min(SEVERITIES.index(alert.severity) for alert in flush.alerts)


def _undescribed(alert: NotifiedAlert, _now: datetime) -> Description:
    log.warning(
        "alert %r is sent without what changed: explaining other alerts took all the time",
        alert.rule,
        extra={"rule": alert.rule},
    )
    return Description()


def _with_description(flush: Flush, describe: Describe, described: dict[str, Description], now: datetime) -> Flush:
    if not flush.pages:
        return flush
    leading = flush.alerts[0]
    if leading.episode not in described:
        try:
            described[leading.episode] = describe(leading, now)
        except Exception:  # a page without a description beats no page
            log.exception(
                "alert %r is sent without what changed, because of an error", leading.rule, extra={"rule": leading.rule}
            )
            described[leading.episode] = flush.group.description or Description()
    return replace(flush, group=replace(flush.group, description=described[leading.episode]))


def _notification(flush: Flush, link: Link, now: datetime) -> Notification:
    group, description = flush.group, flush.group.description or Description()
    return Notification(
        receiver=group.receiver,
        group=group.key,
        episode=group.episode,
        number=group.number - 1,
        news=flush.news,
        group_labels=group.labels,
        alerts=flush.alerts,
        at=now,
        pages=flush.pages,
        escalated_after=flush.escalated_after,
        by=flush.by,
        cause=description.cause,
        changes=description.changes,
        examples=description.examples,
        course=description.course,
        url=link(flush.alerts[0]),
        run_url=description.run_url,
    )
