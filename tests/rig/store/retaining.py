"""Times, policies and rounds of retention that tests share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from threading import Event

from monitor.app.privacy.retention import remove
from monitor.core.model import Verdict
from monitor.core.retry import Retry
from monitor.privacy.retention import Keeping, Policy
from monitor.store.privacy.retention import Retention
from tests.factories.answers import NOON

DAY = timedelta(days=1)
AUGUST, SEPTEMBER, NOVEMBER = (datetime(2025, month, 15, tzinfo=UTC) for month in (8, 9, 11))
MONTHS = Policy(others=Keeping(keep=75 * DAY))  # NOON less that is 7 September


def removed(
    retention: Retention, policy: Policy, now: datetime = NOON
) -> dict[tuple[str, Verdict | None, date | None], int]:
    """Removes what is due; says how much, by app, verdict and month."""
    parts = remove(retention, policy, by="eve", now=now, again=Retry(stop=Event(), patience=0.0))
    return {(one.app, one.verdict, one.month): one.due for one in parts if one.due}


def ids(rows: Callable[..., list[tuple]]) -> list[str]:
    """The ids of the interactions that are left."""
    return [id_ for (id_,) in rows("SELECT id FROM interaction ORDER BY id")]
