"""Words and figures of the alert pages: titles, states, the history in one order, and links to the answers. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeAlias
from urllib.parse import urlencode

from monitor.alert.figures import amount, capital, figure, limit_of, signal_words, value_of
from monitor.alert.mute import Muting
from monitor.alert.notification import Course
from monitor.alert.notify.notified import described
from monitor.alert.probed import run_of_detail
from monitor.alert.rule import Rule, RuleSet
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.state import Alert, State
from monitor.alert.wording import escalated_words, http_url, name_of, reason_words
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason, Verdict
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import moment
from monitor.core.yaml.marked import InvalidYaml, MarkedYaml, parse_yaml
from monitor.privacy.masking import redact
from monitor.report.charts.drawing import COURSE_WIDTH, course_svg, for_every_width
from monitor.store.tables.interactions import OTHER

STATES: Mapping[State, tuple[str, str, str]] = {  # word, sign, colour
    State.FIRING: ("Firing", "▲", "bad"),
    State.NO_DATA: ("No data", "?", "bad"),
    State.ERROR: ("Error", "!", "bad"),
    State.PENDING: ("Pending", "…", "warn"),
    State.RESOLVED: ("Resolved", "✓", "good"),
    State.INACTIVE: ("Inactive", "–", ""),
}
_OF_SOURCES = frozenset({SignalKind.LAG, SignalKind.LEDGER})
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


def name(alert: Alert) -> str:
    """The name that messages use, such as `negative-rate, support-bot`."""
    return name_of(described(alert))


def duration(alert: Alert, now: datetime) -> str:
    """How long the alert has fired, or been pending, such as `1h3m`; to the second if it is short."""
    length = (alert.resolved_at or now) - alert.started_at
    return format_duration(length if length < _SHORT else length - length % timedelta(minutes=1))


def value(alert: Alert) -> str:
    """`38.2 %`, `none` for missing answers, or `unknown`."""
    return value_of(described(alert))


def limit(alert: Alert) -> str:
    """What the value is held against, such as `fires above 30.0 %`."""
    return " ".join(limit_of(described(alert)))


def headline(alert: Alert) -> str:
    """The sentence that messages have, such as `Negative answers: 38.2 %, fires above 30.0 %`."""
    return capital(figure(described(alert)))


def muting(alert: Alert, mutings: Mapping[str, Muting]) -> Muting | None:
    """Which of the rules' mutes keeps the alert from being notified now."""
    goes_on = alert.state.active or alert.state is State.PENDING
    return mutings.get(alert.rule) if goes_on else None


def runbook_link(alert: Alert) -> str | None:
    """The runbook if it is a link; otherwise the facts show it as text."""
    return http_url(alert.annotations.get("runbook"))


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
            what=f"escalated to {row['receiver']}: {escalated_words(row['escalated_after'])}"
            if row["escalated_after"]
            else f"notified {row['receiver']}: {row['news']}",
            more=delivery(row),
            bad=row["given_up"] or (row["delivered_at"] is None and bool(row["last_error"])),
        )
        for row in notifications
    ]
    return sorted(entries, key=lambda entry: entry.at, reverse=True)


def reasons(names: Sequence[str]) -> str:
    """Why an answer was judged so, in words."""
    return ", ".join(map(reason_words, names))


def delivery(row: Row) -> str:
    """Whether a notification was delivered, and if not, why."""
    if row["delivered_at"]:
        return "delivered" + (f" after {row['attempts']} failures" if row["attempts"] else "")
    if row["given_up"]:
        return f"lost: {row['last_error']}"
    return f"waiting: {row['last_error']}" if row["last_error"] else "waiting"


def probe_path(alert: Alert) -> str | None:
    """The run of a probe that the alert is about, or the runs that may be; None if it is about live answers."""
    run = run_of_detail(alert.detail)
    course = probe_course_path(alert)
    return course if course is None or run is None else f"/probes/{run}"


def probe_course_path(alert: Alert) -> str | None:
    """The page with the chart of the probe's runs; None if the alert is about live answers."""
    if not alert.signal.startswith(f"{SignalKind.PROBE} "):
        return None
    query = [(label, alert.labels[label]) for label in ("probe", "app") if alert.labels.get(label)]
    return f"/probes?{urlencode(query, errors='replace')}"


def ingest_link(alert: Alert) -> tuple[str, str] | None:
    """The page about the messages that the alert counts, and its name; None if it is about answers or turns."""
    if alert.signal == SignalKind.DEAD_LETTERS:
        query = {"topic": alert.labels.get("source", ""), "state": "all", **_span(alert, "%Y-%m-%dT%H:%M")}
        fields = {name: value for name, value in query.items() if value}
        return f"/dead-letters?{urlencode(fields, errors='replace')}", "The dead letters that it is about"
    return ("/#sources", "The sources, with lag and ledger") if alert.signal in _OF_SOURCES else None


def interactions_path(alert: Alert) -> str | None:
    """The list of the answers, or of the turns without scores, behind the alert: with its labels, time and signal.

    None if a label holds personal data, which must not stand in an address, or if it is the remainder of many values.
    """
    counted = _shown_by(alert.signal)
    query = [
        (label, alert.labels[label]) for label in ("app", "environment", "model", "topic") if alert.labels.get(label)
    ]
    if any(value == OTHER or redact(value) != value for _, value in query):
        return None
    if counted in {"negative", *Verdict}:
        query.append(("verdict", counted))
    elif counted in set(Reason):
        query.append(("reason", counted))
    elif counted in set(Diagnosis):
        query.append(("diagnosis", counted))
    elif alert.signal == SignalKind.UNSCORED:
        query.append(("unscored", "any"))
    query += _span(alert, "%Y-%m-%dT%H:%MZ").items()
    return f"/interactions?{urlencode(query, errors='replace')}"


def _shown_by(signal: str) -> str:
    """The verdict, reason or diagnosis of the answers that a signal counts; empty if there is none."""
    try:
        return Signal.parse(signal).shown_by or ""
    except ValueError:  # a later release has stored the alert
        return ""


def configured_rule(alert: Alert, rules: RuleSet | None) -> tuple[Rule | None, bool]:
    """The configured rule of the alert's name, and whether it still measures the same as for this alert."""
    rule = next((rule for rule in rules.rules if rule.name == alert.rule), None) if rules else None
    return rule, rule is not None and rule.digest == alert.rule_digest


def rule_text(source: str, rule: str) -> str | None:
    """The lines of a rules file that define the rule, with their comments; None when they cannot be found."""
    span = _rule_lines(source).get(rule)
    return None if span is None else "\n".join(source.split("\n")[span.start : span.stop])


def with_rule_text(source: str, rule: str, text: str) -> str | None:
    """The rules file with `text` in place of the rule's lines; None when they cannot be found.

    By place and not by content: the same lines may stand before the rule, in a comment or in a text of another rule.
    """
    span = _rule_lines(source).get(rule)
    if span is None:
        return None
    lines = source.split("\n")
    return "\n".join([*lines[: span.start], text, *lines[span.stop :]])


@lru_cache(maxsize=20)
def _rule_lines(source: str) -> Mapping[str, range]:
    """The lines of each rule of a rules file, counted from 0, by its name."""
    try:
        document = parse_yaml(source)
    except InvalidYaml:
        return {}
    rules = document.value.get("rules") if isinstance(document.value, dict) else None
    if not isinstance(rules, list):
        return {}
    lines = source.split("\n")  # as YAML counts them: other characters that end a line elsewhere do not end one here
    starts = [document.mark(("rules", place)).line - 1 for place in range(len(rules))]
    found: dict[str, range] = {}
    for entry, first, end in zip(rules, starts, [*starts[1:], _end_of_rules(document, lines)], strict=True):
        last = end
        while last > first + 1 and (not lines[last - 1].strip() or lines[last - 1].lstrip().startswith("#")):
            last -= 1  # comments before the next rule belong to it
        if isinstance(entry, dict):
            found.setdefault(str(entry.get("name")), range(first, max(last, first + 1)))
    return found


def _end_of_rules(document: MarkedYaml, lines: Sequence[str]) -> int:
    """The line of the first key after the rules, or the number of lines."""
    rules = document.mark(("rules",), of_key=True).line
    keys = (document.mark((key,), of_key=True).line for key in document.value)
    return min((key - 1 for key in keys if key > rules), default=len(lines))


@lru_cache(maxsize=64)
def course_drawing(course: Course) -> str:
    """The drawings of a course, cached."""
    return for_every_width(lambda width: course_svg(course, description="", width=width), COURSE_WIDTH)


def course_words(course: Course) -> str:
    """The chart in words, for people who cannot see it."""
    measured = capital(signal_words(course.name))
    known = [point.value for point in course.points if point.value is not None]
    if not known:
        return f"{measured}: nothing was counted"
    lowest, highest, last = (amount(number, course.unit) for number in (min(known), max(known), known[-1]))
    began = f"; the upright line is when it fired, {moment(course.started_at)}" if course.started_at else ""
    return (
        f"{measured}: from {lowest} to {highest}, last {last}; the dashed line is at "
        f"{amount(course.bound, course.unit)}{began}"
    )


_ACTIONS = {"acknowledge": "acknowledged", "silence": "silenced", "unsilence": "silence ended"}


def _span(alert: Alert, form: str) -> dict[str, str]:
    """The time that the alert has counted: from `since` up to `until`, if it has ended."""
    times = {"since": alert.active_since - alert.window}
    if alert.resolved_at is not None:
        times["until"] = alert.resolved_at + timedelta(minutes=1)
    return {name: at.astimezone(UTC).strftime(form) for name, at in times.items()}
