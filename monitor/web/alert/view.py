"""Words and figures of the alert pages: titles, states, the history in one order, and links to the answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import urlencode

from monitor.alert.mute import Muting
from monitor.alert.notification import Course, NotifiedAlert
from monitor.alert.notify.notified import notified_alert
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.rules.marked_yaml import InvalidYaml, parse_yaml
from monitor.alert.signal import SignalKind
from monitor.alert.silence import Silence
from monitor.alert.state import Alert, State
from monitor.alert.wording import amount, http_url, name_of, sent_words, signal_words
from monitor.core.duration import format_duration
from monitor.core.model import Reason, Verdict
from monitor.report.charts.drawing import course_svg

STATES: Mapping[State, tuple[str, str, str]] = {  # word, sign, colour
    State.FIRING: ("Firing", "▲", "bad"),
    State.NO_DATA: ("No data", "?", "bad"),
    State.ERROR: ("Error", "!", "bad"),
    State.PENDING: ("Pending", "…", "warn"),
    State.RESOLVED: ("Resolved", "✓", "good"),
    State.INACTIVE: ("Inactive", "–", ""),
}
AFTER_END = timedelta(minutes=30)  # how long the chart goes on after the alert has resolved
_SHORT = timedelta(minutes=5)  # shorter durations are shown to the second
Row: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryEntry:
    """A line of an alert's history; `more` may be foreign text."""

    at: datetime
    what: str
    more: str = ""
    bad: bool = False


def as_notified(alert: Alert, silence: Silence | None) -> NotifiedAlert:
    """The alert as messages describe it; a pending one as if it fired."""
    if alert.state in (State.PENDING, State.INACTIVE):
        alert = replace(alert, state=State.FIRING)
    return notified_alert(alert, silence)


def name(alert: Alert) -> str:
    """The name that messages use, such as `negative-rate, support-bot`."""
    return name_of(as_notified(alert, None))


def since(alert: Alert) -> datetime:
    """When the present state began."""
    return alert.resolved_at or alert.fired_at or alert.active_since


def duration(alert: Alert, now: datetime) -> str:
    """How long the episode has lasted, such as `1h3m`; to the second if it is short."""
    length = (alert.resolved_at or now) - alert.active_since
    return format_duration(length if length < _SHORT else length - length % timedelta(minutes=1))


def value(alert: Alert) -> str:
    """`38.2 %`, or `unknown`."""
    return "unknown" if alert.value is None else amount(alert.value, alert.unit)


def threshold(alert: Alert) -> str:
    """When the alert fires, such as `above 30.0 %`."""
    return f"{'below' if alert.below else 'above'} {amount(alert.bound, alert.unit)}"


def interval(alert: Alert) -> str:
    """The confidence interval, such as `33.0 % to 43.6 %`; empty for an exact or unknown value."""
    notified = as_notified(alert, None)
    if notified.value is None or notified.lower is None or notified.upper is None or notified.lower == notified.upper:
        return ""
    return f"{amount(notified.lower, notified.unit)} to {amount(notified.upper, notified.unit)}"


def muting(alert: Alert, rules: RuleSet | None, now: datetime) -> Muting | None:
    """What keeps the alert from being notified at this time of the day or the week."""
    goes_on = alert.state.active or alert.state is State.PENDING
    return rules.muting(alert.rule, now) if rules and goes_on else None


def runbook_link(alert: Alert) -> str | None:
    """The runbook if it is a link; otherwise the facts show it as text."""
    return http_url(alert.annotations.get("runbook"))


def signal(alert: Alert) -> str:
    """The signal in words, such as `Rate of negative answers`."""
    return signal_words(alert.signal)


def history(events: Sequence[Row], actions: Sequence[Row], notifications: Sequence[Row]) -> list[HistoryEntry]:
    """The changes of state, people's actions and notifications of an alert, newest first."""
    entries = [
        HistoryEntry(
            at=row["at"],
            what=f"{row['from_state']} → {row['to_state']}".replace("_", " "),
            more=" · ".join(filter(None, (f"{row['samples']:,} counted", row["note"]))),
        )
        for row in events
    ]
    entries += [
        HistoryEntry(
            at=row["at"], what=f"{_ACTIONS.get(row['action'], row['action'])} by {row['by']}", more=row["comment"]
        )
        for row in actions
    ]
    entries += [
        HistoryEntry(
            at=row["made_at"],
            what=sent_words(row["news"], row["receiver"], row["escalated_after"]),
            more=delivery(row),
            bad=row["given_up"] or (row["delivered_at"] is None and bool(row["last_error"])),
        )
        for row in notifications
    ]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)


def delivery(row: Row) -> str:
    """Whether a notification was delivered, and if not, why."""
    if row["delivered_at"]:
        return "delivered" + (f" after {row['attempts']} failures" if row["attempts"] else "")
    if row["given_up"]:
        return f"lost: {row['last_error']}"
    return f"waiting: {row['last_error']}" if row["last_error"] else "waiting"


def interactions_path(alert: Alert) -> str:
    """The list of the answers behind the alert: those with its labels, time and signal."""
    kind, _, counted = alert.signal.partition(" of ")
    query = [
        (label, alert.labels[label]) for label in ("app", "environment", "model", "topic") if alert.labels.get(label)
    ]
    if kind == "rate" and counted in {"negative", *Verdict}:
        query.append(("verdict", counted))
    elif kind == "rate" and counted in set(Reason):
        query.append(("reason", counted))
    query.append(("since", _minute(alert.active_since - alert.window)))
    if alert.resolved_at is not None:
        query.append(("until", _minute(alert.resolved_at + timedelta(minutes=1))))
    return f"/interactions?{urlencode(query, errors='replace')}"


def configured_rule(alert: Alert, rules: RuleSet | None) -> tuple[Rule | None, bool]:
    """The configured rule of the alert's name, and whether it still measures the same as for this alert."""
    rule = next((rule for rule in rules.rules if rule.name == alert.rule), None) if rules else None
    return rule, rule is not None and rule.digest == alert.rule_digest


def rule_text(source: str, rule: str) -> str | None:
    """The lines of a rules file that define the rule, with their comments; None when they cannot be found."""
    return rule_texts(source).get(rule)


@lru_cache(maxsize=20)
def rule_texts(source: str) -> Mapping[str, str]:
    """The lines of each rule of a rules file, by its name."""
    try:
        document = parse_yaml(source)
    except InvalidYaml:
        return {}
    rules = document.value.get("rules") if isinstance(document.value, dict) else None
    if not isinstance(rules, list):
        return {}
    lines = source.splitlines()
    texts: dict[str, str] = {}
    for place, entry in enumerate(rules):
        first = document.mark(("rules", place)).line - 1
        last = document.mark(("rules", place + 1)).line - 1 if place + 1 < len(rules) else len(lines)
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
            last -= 1  # comments before the next rule belong to it
        if isinstance(entry, dict):
            texts.setdefault(str(entry.get("name")), "\n".join(lines[first : max(last, first + 1)]))
    return texts


def target_words(rule: Rule) -> str:
    """The rule's target, such as `threshold above 0.3 over 5m, for 1m`."""
    over = "" if rule.signal.is_momentary else f" over {format_duration(rule.method.window)}"
    wait = f", for {format_duration(rule.for_)}" if rule.for_ else ""
    if rule.signal.kind is SignalKind.RANKS:
        return f"{rule.method.name}, without a target{wait}"
    return f"{rule.method.name} {'below' if rule.method.fires_below else 'above'} {rule.method.target}{over}{wait}"


@lru_cache(maxsize=64)
def course_drawing(course: Course) -> str:
    """The SVG of a course, cached."""
    return course_svg(course, description="")


def course_words(course: Course) -> str:
    """The chart in words, for people who cannot see it."""
    known = [point.value for point in course.points if point.value is not None]
    if not known:
        return f"{signal_words(course.name)}: nothing was counted"
    lowest, highest, last = min(known), max(known), known[-1]
    return (
        f"{signal_words(course.name)} over time: from {amount(lowest, course.unit)} to {amount(highest, course.unit)}, "
        f"last {amount(last, course.unit)}; the threshold is {amount(course.bound, course.unit)}"
    )


_ACTIONS = {"acknowledge": "acknowledged", "silence": "silenced", "unsilence": "silence ended"}


def _minute(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%MZ}"
