"""From what is to be told to rows of the outbox: the one step between `dispatch.py` and `notify.py`."""

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

log = logging.getLogger(__name__)

DESCRIBING = 10.0  # seconds of a round: the next one must not wait for explanations

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
    """Puts into the outbox what is to be told at `now` of `alerts`, as the store holds them; returns it.

    Pages come first, the worst before the others; what changed is looked for as long as `DESCRIBING` allows, by
    `clock`, after which they go out without.

    Each notification is written in one transaction with what is remembered as told. A process killed before that makes
    it again in its next round, one killed after it finds it told. `describe` says what changed, `link` where people
    look at an alert, `resend` as in `plan`.

    Raises:
        Retriable: the store is out of reach, or another replica was at it; what was written before stays.
    """
    flushes = plan(
        alerts, outbox.groups(), now,
        grouping=rules.grouping, silences=outbox.silences(now), inhibitions=rules.inhibitions, resend=resend,
        backlog=outbox.backlog(),
    )  # fmt: skip
    described: dict[str, Description] = {}  # several receivers are told of the same alert
    made = []
    until = clock() + DESCRIBING
    for flush in sorted(flushes, key=_worst_first):
        described_group = _with_description(flush, describe if clock() < until else _nothing, described, now)
        notification = _notification(described_group, link, now)
        outbox.enqueue(described_group.group, notification, over=flush.over)
        made.append(notification)
    return made


def _worst_first(flush: Flush) -> tuple[bool, int]:
    return not flush.pages, min(SEVERITIES.index(told.severity) for told in flush.alerts)


def _nothing(told: NotifiedAlert, now: datetime) -> Description:
    del now
    log.warning("alert %r: what changed is not looked for, since others took all the time for that", told.rule)
    return Description()


def _with_description(flush: Flush, describe: Describe, described: dict[str, Description], now: datetime) -> Flush:
    if not flush.pages:
        return flush
    leading = flush.alerts[0]
    if leading.episode not in described:
        try:
            described[leading.episode] = describe(leading, now)
        except Exception:  # a page without a description beats no page
            log.exception("alert %r: what changed could not be found out", leading.rule)
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
        by=flush.by,
        changes=description.changes,
        examples=description.examples,
        course=description.course,
        url=link(flush.alerts[0]),
    )
