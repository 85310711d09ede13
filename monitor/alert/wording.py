"""How an alert is put into words, the same for every receiver, and how text from outside is made harmless.

Questions, answers, names and labels come from whoever writes to the chatbot: none of it may steer a terminal, change
the direction of reading, or grow without end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from monitor.alert.notification import Example, Notification, NotifiedAlert, Status, Unit
from monitor.core.duration import format_duration
from monitor.core.text.plain import moment, percent, plain, shortened

MAX_URL = 2_000
_HTTP_URL = re.compile(r"https?://[^\s<>|\"\\^`{}]+")


def http_url(text: str | None) -> str | None:
    """`text` if it is an http or https URL of which all is seen and that no markup can break out of; else None."""
    known = text and len(text) <= MAX_URL and _HTTP_URL.fullmatch(text) and plain(text) == text
    return text if known else None


_WHOSE = (
    "source",
    "app",
    "model",
    "topic",
)  # labels that name whose an alert is; the environment stands in the figures


def name_of(told: NotifiedAlert) -> str:
    """`negative-rate, support-bot, refunds`: the rule and whose alert it is; not yet made harmless."""
    return ", ".join([told.rule, *(told.labels[label] for label in _WHOSE if told.labels.get(label))])


def title(notification: Notification) -> str:
    """`Firing: negative-rate, support-bot and 2 more`; not yet made harmless."""
    leading = notification.leading
    more = sum(1 for alert in notification.alerts if notification.over or alert.status != "resolved") - 1
    status = "Resolved" if notification.over else _STATUSES[leading.status]
    return f"{status}: {name_of(leading)}" + (f" and {more} more" if more > 0 else "")


def news_line(notification: Notification) -> str:
    """One sentence that says why this notification is sent, for a thread or a log; not yet made harmless."""
    lasted = format_duration(_end(notification) - notification.started_at)
    status = _STATUSES[notification.leading.status]
    match notification.news:
        case "firing":
            return f"{status} since {moment(notification.started_at)}"
        case "changed":
            return _changed(notification)
        case "repeated":
            return f"Still {status.lower()} after {lasted}"
        case "acknowledged":
            return f"Acknowledged by {notification.by}" if notification.by else "Acknowledged"
        case "silenced":
            until = max((a.silenced_until for a in notification.alerts if a.silenced_until), default=None)
            by = f" by {notification.by}" if notification.by else ""
            return f"Silenced{by}" + (f" until {moment(until)}" if until else "")
        case "resolved":
            return f"Resolved after {lasted}"


def _changed(notification: Notification) -> str:
    """Who left is known by its status, who joined by having fired last: after the first, and after anyone left."""
    left = [alert for alert in notification.alerts if alert.status == "resolved"]
    first = min(alert.fired_at for alert in notification.alerts)
    burning = [alert for alert in notification.alerts if alert.status != "resolved" and alert.fired_at > first]
    last = max((alert.fired_at for alert in burning), default=first)
    ended = min((alert.resolved_at for alert in left if alert.resolved_at), default=first)
    joined = [alert for alert in burning if alert.fired_at == last >= ended]
    parts = [f"{_list(those)} {verb}" for those, verb in ((joined, "joined"), (left, "resolved")) if those]
    return "; ".join(parts) or f"{_STATUSES[notification.leading.status]}: changed"


def _list(alerts: Sequence[NotifiedAlert]) -> str:
    named = [name_of(alert) for alert in alerts[:_MAX_NAMED]]
    more = len(alerts) - len(named)
    return " and ".join(named) + (f" and {more} more" if more else "")


def figure(told: NotifiedAlert) -> str:
    """`rate of negative answers 38.2 %, threshold 30.0 %`: the alert in one phrase, in our own words and digits."""
    measured = signal_words(told.signal)
    said = f"{measured[:1].lower()}{measured[1:]} {_value(told)}"
    return said if told.status == "error" else f"{said}, threshold {amount(told.bound, told.unit)}"


def facts(told: NotifiedAlert) -> list[tuple[str, str]]:
    """What is known in figures, as name and value; harmless, each on one line."""
    failed = told.status == "error"  # then there is nothing to compare
    lines = [(signal_words(told.signal), _value(told) + _interval(told))]
    if not failed:
        lines.append(("Threshold", _line(told)))
    if told.detail:
        lines.append(("Detail" if failed else _DETAILS.get(told.method, "Detail"), shortened(told.detail, _MAX_DETAIL)))
    if told.window:
        counted = "Messages counted" if told.signal == "dead_letters" else "Answers counted"
        lines += [("Window", format_duration(told.window)), (counted, f"{told.samples:,}")]
    lines.append(("Since", moment(told.started_at)))
    if told.resolved_at is not None:
        lasted = format_duration(told.resolved_at - told.started_at)
        lines.append(("Resolved", f"{moment(told.resolved_at)}, after {lasted}"))
    return lines


def remarks(told: NotifiedAlert) -> list[tuple[str, str]]:
    """What people did about the alert, and why it ended, as name and value; the values are not yet made harmless."""
    found = [("Acknowledged by", told.acknowledged_by), ("Note", told.note)]
    if told.silenced_until is not None:
        found.insert(1, ("Silenced until", moment(told.silenced_until)))
    return [(name, value) for name, value in found if value]


def labels_of(told: NotifiedAlert) -> Mapping[str, str]:
    """The labels worth showing: those that have a value. Not yet made harmless."""
    return {name: value for name, value in told.labels.items() if value}


def why(example: Example) -> str:
    """`self-generated: answer off support, no documents`; not yet made harmless."""
    reasons = ", ".join(words(reason) for reason in example.reasons)
    verdict = "self-generated" if example.verdict == "self_generated" else words(example.verdict)
    return f"{verdict}: {reasons}" if reasons else verdict


def signal_words(signal: str) -> str:
    """A signal as `str(Signal)` says it, for people: `rate of negative` → `Rate of negative answers`."""
    kind, _, name = signal.partition(" of ")
    if kind == "rate" and name:
        return f"Rate of {words(name)}"
    if kind == "mean" and name:
        return f"Mean {name.upper()}"
    return _STATES.get(signal) or plain(words(signal)).capitalize()


def words(identifier: str) -> str:
    """`answer_off_support` → `answer off support`, `negative` → `negative answers`."""
    return _SIGNALS.get(identifier, identifier.replace("_", " "))


def amount(value: float, unit: Unit) -> str:
    """`value` as its unit reads: `38.2 %`, `0.612`, `1h30m`."""
    match unit:
        case "share":
            return percent(value)
        case "seconds":
            return format_duration(timedelta(seconds=value))
        case "number":
            return f"{value:,.3f}".rstrip("0").rstrip(".")


def _value(told: NotifiedAlert) -> str:
    return "unknown" if told.value is None else amount(told.value, told.unit)


def _interval(told: NotifiedAlert) -> str:
    """Empty for what is exact, or not known."""
    if told.value is None or told.lower is None or told.upper is None or told.lower == told.upper:
        return ""
    return f" (95 % interval {amount(told.lower, told.unit)} to {amount(told.upper, told.unit)})"


def _line(told: NotifiedAlert) -> str:
    return f"{'below' if told.below else 'above'} {amount(told.bound, told.unit)}"


def _end(notification: Notification) -> datetime:
    ended = [alert.resolved_at for alert in notification.alerts if alert.resolved_at is not None]
    return max(ended) if notification.over and ended else notification.at


_MAX_NAMED = 3
_MAX_DETAIL = 300
_STATUSES: Mapping[Status, str] = {"firing": "Firing", "no_data": "No data", "error": "Error", "resolved": "Resolved"}
_DETAILS = {"sequential": "Evidence", "change": "Compared with"}
_SIGNALS = {
    "negative": "negative answers",
    "grounded": "grounded answers",
    "refusal": "refusals",
    "self_generated": "self-generated answers",
}
_STATES = {
    "no_data": "Answers",
    "dead_letters": "Rate of dead letters",
    "lag": "Reading is behind by",
    "ledger_imbalance": "Partitions out of balance",
}
UNWATCHED = timedelta(minutes=5)  # without an evaluation, and the list is of the past
