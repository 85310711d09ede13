"""`monitor retention`, and the same once a day beside the events: what is not to be kept any longer is removed."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime
from threading import Event
from typing import Any

from rich.table import Table

from monitor.app.background.schedule import repeated
from monitor.app.wiring.application import Application
from monitor.cli.terminal import literal
from monitor.core.retry import Interrupted, Retry
from monitor.privacy.retention import CutOff, Policy, policy_of
from monitor.store.privacy.retention import Due, Retention

log = logging.getLogger(__name__)
PATIENCE = 300.0  # seconds of waiting for a database before giving up
BY = "retention"  # who removes by the clock
_DAY = 86_400.0


def due(retention: Retention, policy: Policy, now: datetime) -> list[Due]:
    """What would be removed now."""
    cut_offs = policy.cut_offs(retention.apps(), now)
    return [one for month in retention.parts(cut_offs) for one in _gone(retention.due(month, cut_offs))]


def remove(retention: Retention, policy: Policy, *, by: str, now: datetime, again: Retry) -> list[Due]:
    """Removes it, month by month, and says what it has removed; `again.stop` ends it after the batch in flight.

    Raises:
        OutOfReach, Fatal: the database stayed away or refused; what was removed stays so.
    """
    cut_offs = again(lambda: policy.cut_offs(retention.apps(), now))
    removed: list[Due] = []
    for month in again(lambda: retention.parts(cut_offs)):
        if not again.stop.is_set():
            removed += _of_part(retention, month, cut_offs, by=by, now=now, again=again)
    again(retention.blank_quotations)  # also of what was removed in a run that did not come this far
    return removed


@contextmanager
def retained_beside(application: Application) -> Iterator[None]:
    """Removes what is due once a day while the block runs, in one of all replicas; where anything is to be removed.

    Raises:
        WrongSettings: the retention is set wrongly.
    """
    policy = policy_of(application.settings.retention)
    if not policy.limited:
        yield
        return
    stop = Event()
    retention = Retention(application.engine)

    def once(now: datetime) -> None:
        with retention.holding() as ours, suppress(Interrupted):
            if ours:
                removed = remove(retention, policy, by=BY, now=now, again=Retry(stop=stop, patience=PATIENCE))
                if removed:
                    log.info("retention removed %d interactions", sum(one.due for one in removed))

    with repeated(once, interval=_DAY, now=application.now):
        try:
            yield
        finally:
            stop.set()


def retention_json(parts: Sequence[Due], *, dry_run: bool) -> dict[str, Any]:
    """`{dry_run, interactions, parts: [{app, verdict, month, before, interactions, of, whole_month}]}`."""
    whole = whole_months(parts)
    return {
        "dry_run": dry_run,
        "interactions": sum(one.due for one in parts),
        "parts": [
            {
                "app": one.app, "verdict": one.verdict, "month": None if one.month is None else f"{one.month:%Y-%m}",
                "before": one.before, "interactions": one.due, "of": one.stored, "whole_month": one.month in whole,
            }
            for one in parts
            if one.due
        ],
    }  # fmt: skip


def retention_table(parts: Sequence[Due]) -> Table:
    """The same for people."""
    whole = whole_months(parts)
    table = Table("month", "app", "verdict", "before (UTC)", box=None)
    for heading in ("goes", "of"):
        table.add_column(heading, justify="right")
    table.add_column("how")
    for one in (one for one in parts if one.due):
        table.add_row(
            "other times" if one.month is None else f"{one.month:%Y-%m}", literal(one.app),
            "not assessed" if one.verdict is None else one.verdict.replace("_", "-"),
            f"{one.before:%Y-%m-%d %H:%M}", str(one.due), str(one.stored),
            "the whole month" if one.month in whole else "rows",
        )  # fmt: skip
    return table


def whole_months(parts: Sequence[Due]) -> set[date]:
    """The months of which nothing is kept; `parts` has all that is stored of a month of which something goes."""
    kept: Mapping[date | None, int] = Counter()
    for one in parts:
        kept[one.month] += one.stored - one.due  # type: ignore[index]
    return {month for month, number in kept.items() if month is not None and not number}


def _gone(found: Sequence[Due]) -> list[Due]:
    """All of a part of which something goes: what is kept of it too."""
    return list(found) if any(one.due for one in found) else []


def _of_part(
    retention: Retention, month: date | None, cut_offs: Sequence[CutOff], *, by: str, now: datetime, again: Retry
) -> list[Due]:
    found = _gone(again(lambda: retention.due(month, cut_offs)))
    if not found:
        return []
    if month is not None and month in whole_months(found):
        dropped = again(lambda: retention.drop(month, cut_offs, by=by, now=now))
        if dropped:
            return dropped
    numbers: Counter[tuple[str, str | None]] = Counter()
    after = ("", "")
    while not again.stop.is_set():
        removed, after = again(lambda after=after: retention.remove(month, cut_offs, after, by=by, now=now))  # type: ignore[misc]
        if not removed:
            break
        for one in removed:
            numbers[one.app, one.verdict] += one.due
    return [replace(one, due=numbers[one.app, one.verdict]) for one in found]
