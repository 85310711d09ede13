"""What the pages of alerts say: titles, the state in a word, history in one order, and where to look further. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import urlencode

from monitor.alert.notification import Course, NotifiedAlert
from monitor.alert.notify.dispatch import notified_alert
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.rules.marked_yaml import InvalidYaml, parse_yaml
from monitor.alert.silence import Silence
from monitor.alert.state import Alert, State
from monitor.alert.wording import amount, name_of, signal_words
from monitor.core.duration import format_duration
from monitor.core.model import Reason, Verdict
from monitor.report.charts.drawing import course_svg

STATES: Mapping[State, tuple[str, str, str]] = {  # its word, its sign, and its colour
    State.FIRING: ("Firing", "▲", "bad"),
    State.NO_DATA: ("No data", "?", "bad"),
    State.ERROR: ("Error", "!", "bad"),
    State.PENDING: ("Pending", "…", "warn"),
    State.RESOLVED: ("Resolved", "✓", "good"),
    State.INACTIVE: ("Inactive", "–", ""),
}
AFTERWARDS = timedelta(minutes=30)  # that the chart of an alert goes on for once it has resolved
_SHORT = timedelta(minutes=5)
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A line of an alert's history; `more` may be foreign."""

    at: datetime
    what: str
    more: str = ""
    bad: bool = False


def told(alert: Alert, silence: Silence | None) -> NotifiedAlert:
    """The alert as messages tell of it; one that pends as if it fired."""
    if alert.state in (State.PENDING, State.INACTIVE):
        alert = replace(alert, state=State.FIRING)
    return notified_alert(alert, silence)


def name(alert: Alert) -> str:
    """`negative-rate, support-bot`: as messages call it."""
    return name_of(told(alert, None))


def since(alert: Alert) -> datetime:
    """When its state began."""
    return alert.resolved_at or alert.fired_at or alert.active_since


def lasted(alert: Alert, now: datetime) -> str:
    """How long its episode has lasted, to the minute where it is not short."""
    length = (alert.resolved_at or now) - alert.active_since
    return format_duration(length if length < _SHORT else length - length % timedelta(minutes=1))


def value(alert: Alert) -> str:
    """`38.2 %`, or `unknown`."""
    return "unknown" if alert.value is None else amount(alert.value, alert.unit)


def line(alert: Alert) -> str:
    """`above 30.0 %`: when it fires."""
    return f"{'below' if alert.below else 'above'} {amount(alert.bound, alert.unit)}"


def interval(alert: Alert) -> str:
    """`33.0 % to 43.6 %`; empty for what is exact or not known."""
    shown = told(alert, None)
    if shown.value is None or shown.lower is None or shown.upper is None or shown.lower == shown.upper:
        return ""
    return f"{amount(shown.lower, shown.unit)} to {amount(shown.upper, shown.unit)}"


def signal(alert: Alert) -> str:
    """`Rate of negative answers`."""
    return signal_words(alert.signal)


def history(events: Sequence[Row], actions: Sequence[Row], notified: Sequence[Row]) -> list[Event]:
    """What became of an alert, newest first."""
    found = [
        Event(
            at=row["at"],
            what=f"{row['from_state']} → {row['to_state']}".replace("_", " "),
            more=" · ".join(filter(None, (f"{row['samples']:,} counted", row["note"]))),
        )
        for row in events
    ]
    found += [
        Event(at=row["at"], what=f"{_DONE.get(row['action'], row['action'])} by {row['by']}", more=row["comment"])
        for row in actions
    ]
    found += [
        Event(
            at=row["made_at"],
            what=f"{row['receiver']} told: {row['news']}",
            more=fate(row),
            bad=row["given_up"] or (row["delivered_at"] is None and bool(row["last_error"])),
        )
        for row in notified
    ]
    return sorted(found, key=lambda its: its.at, reverse=True)


def fate(row: Row) -> str:
    """What became of a notification."""
    if row["delivered_at"]:
        return "delivered" + (f" after {row['attempts']} failures" if row["attempts"] else "")
    if row["given_up"]:
        return f"lost: {row['last_error']}"
    return f"waiting: {row['last_error']}" if row["last_error"] else "waiting"


def interactions_path(alert: Alert) -> str:
    """The answers that it is about: those of its labels and time that show its signal."""
    kind, _, shown = alert.signal.partition(" of ")
    query = [
        (label, alert.labels[label]) for label in ("app", "environment", "model", "topic") if alert.labels.get(label)
    ]
    if kind == "rate" and shown in {"negative", *Verdict}:
        query.append(("verdict", shown))
    elif kind == "rate" and shown in set(Reason):
        query.append(("reason", shown))
    query.append(("since", _minute(alert.active_since - alert.window)))
    if alert.resolved_at is not None:
        query.append(("until", _minute(alert.resolved_at + timedelta(minutes=1))))
    return f"/interactions?{urlencode(query, errors='replace')}"


def rule_of(alert: Alert, rules: RuleSet | None) -> tuple[Rule | None, bool]:
    """The configured rule of that name, and whether it still measures what it did for this alert."""
    rule = next((rule for rule in rules.rules if rule.name == alert.rule), None) if rules else None
    return rule, rule is not None and rule.digest == alert.rule_digest


@lru_cache(maxsize=200)
def rule_text(source: str, rule: str) -> str | None:
    """The lines of a rules file that define the rule, comments and all; None where they cannot be told."""
    try:
        document = parse_yaml(source)
    except InvalidYaml:
        return None
    rules = document.value.get("rules") if isinstance(document.value, dict) else None
    if not isinstance(rules, list):
        return None
    names = [entry.get("name") if isinstance(entry, dict) else None for entry in rules]
    if rule not in names:
        return None
    place, lines = names.index(rule), source.splitlines()
    first = document.mark(("rules", place)).line - 1
    last = document.mark(("rules", place + 1)).line - 1 if place + 1 < len(names) else len(lines)
    while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
        last -= 1  # what stands before the next one is its own
    return "\n".join(lines[first : max(last, first + 1)])


def target_words(rule: Rule) -> str:
    """`threshold above 0.3 over 5m, for 1m`."""
    over = "" if rule.signal.is_momentary else f" over {format_duration(rule.method.window)}"
    wait = f", for {format_duration(rule.for_)}" if rule.for_ else ""
    return f"{rule.method.name} {'below' if rule.method.fires_below else 'above'} {rule.method.target}{over}{wait}"


@lru_cache(maxsize=64)
def course_drawing(course: Course) -> str:
    """The SVG of a course; drawn once for the same course."""
    return course_svg(course, description="")


def course_words(course: Course) -> str:
    """What the chart shows, for who does not see it."""
    known = [point.value for point in course.points if point.value is not None]
    if not known:
        return f"{signal_words(course.name)}: nothing was counted"
    lowest, highest, last = min(known), max(known), known[-1]
    return (
        f"{signal_words(course.name)} over time: from {amount(lowest, course.unit)} to {amount(highest, course.unit)}, "
        f"last {amount(last, course.unit)}; the threshold is {amount(course.bound, course.unit)}"
    )


_DONE = {"acknowledge": "acknowledged", "silence": "silenced", "unsilence": "silence ended"}


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
