"""Formats the figures of a report for people."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from operator import itemgetter

from monitor.alert.figures import amount
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import moment, percent, plural
from monitor.report.weekly.elements import Columns, Item

NOTHING = "–"
SIDES = {"negative": "Negative", "grounded": "Grounded", "refusal": "Refusals", "self_generated": "Self-generated"}
_SMALLEST = 0.001
_WEEK = 7  # days


def share(found: Item) -> str:
    """`8.1 % (7.6 to 8.6)`: a share with its interval."""
    if found["share"] is None:
        return NOTHING
    lower, upper = (percent(found[name]).removesuffix(" %") for name in ("lower", "upper"))
    return f"{percent(found['share'])} ({lower} to {upper})"


def counted(found: Item) -> str:
    """`812 of 10,011`."""
    return f"{found['count']:,} of {found['of']:,}"


def change(found: Item | None) -> str:
    """`+1.2 points (0.3 to 2.1), p = 0.012`."""
    if found is None:
        return NOTHING
    lower, upper = (_signed(found[name]) for name in ("lower", "upper"))
    return f"{points(found['difference'])} ({lower} to {upper}), {chance('p', found['p'])}"


def points(difference: float) -> str:
    """`+1.2 points`: a difference of two shares in percentage points."""
    return f"{_signed(difference)} points"


def _signed(difference: float) -> str:
    return f"{100 * difference:+.1f}".replace("-", "−")


def chance(name: str, value: float | None) -> str:
    """`p = 0.012`, `q < 0.001`."""
    if value is None:
        return "too few"
    return f"{name} < {_SMALLEST}" if value < _SMALLEST else f"{name} = {value:.2g}"


def length(seconds: int | None) -> str:
    """`1h30m`."""
    return NOTHING if seconds is None else format_duration(timedelta(seconds=seconds))


def seconds(value: float | None) -> str:
    """`840ms`, `3.4s`, `2m5s`."""
    return NOTHING if value is None else amount(value, "seconds")


def when(at: str | None) -> str:
    """A time in UTC to the minute."""
    return NOTHING if at is None else moment(datetime.fromisoformat(at))


def number(value: float | None, decimals: int = 3) -> str:
    return NOTHING if value is None else f"{value:,.{decimals}f}"


def text(name: str) -> Callable[[Item], str]:
    """A column that shows the text `name` of an item."""
    return itemgetter(name)


def thousands(name: str) -> Callable[[Item], str]:
    """A column that shows the whole number `name` of an item, as `10,011`."""
    return lambda item: f"{item[name]:,}"


def watched(alerts: Item) -> str:
    """What to say of a week without an alert; reports of earlier releases do not know whether rules ran."""
    days = alerts.get("watched_days", _WEEK)
    if not days:
        return "Not watched: no alert rule ran in this week"
    return "No alert fired" if days >= _WEEK else f"No alert fired on the {plural(days, 'day')} on which rules ran"


TWO_WEEKS: Columns = {
    "Answers": lambda rate: f"{rate['this']['count']:,}",
    "This week": lambda rate: share(rate["this"]),
    "Week before": lambda rate: share(rate["before"]),
    "Change": lambda rate: change(rate["change"]),
}
