"""Rounds of planning, one after the other, without an outbox."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from monitor.alert.notify.dispatch import AlertGroup, Flush, plan
from monitor.alert.rule import Grouping
from monitor.alert.state import Alert
from tests.factories.alert.alerts import statuses
from tests.factories.alert.notifications import at

GROUPING = Grouping(by=("app",), wait=timedelta(seconds=30), interval=timedelta(minutes=1), repeat=timedelta(hours=4))


class Dispatching:
    """Plans rounds one after the other, and remembers the groups as an outbox does."""

    def __init__(self, **options: Any) -> None:
        self.groups: dict[tuple[str, str], AlertGroup] = {}
        self.options = {"grouping": GROUPING, **options}
        self.flushes: list[Flush] = []

    def round(self, minute: float, *alerts: Alert, **options: Any) -> list[tuple[str, list[tuple[str, str]]]]:
        made = plan(alerts, self.groups.values(), at(minute), **self.options | options)
        for flush in made:
            key = flush.group.receiver, flush.group.key
            if flush.over:
                del self.groups[key]
            else:
                self.groups[key] = flush.group
        self.flushes += made
        return [(flush.news, statuses(flush.alerts)) for flush in made]
