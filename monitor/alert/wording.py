"""Words an alert in the same way for every receiver, and makes text from outside harmless.

Questions, answers, names and labels come from anybody who writes to the chatbot. None of them may steer a terminal,
change the reading direction, or grow without limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from monitor.alert.mute import Muting
from monitor.alert.notification import Example, Notification, NotifiedAlert, Status, Unit
from monitor.core.duration import format_duration
from monitor.core.text.plain import moment, percent, plain, shortened

MAX_URL = 2_000
_HTTP_URL = re.compile(r"https?://[^\s<>|\"\\^`{}]+")


def http_url(text: str | None) -> str | None:
    """`text` if it is an http or https URL that is fully visible and cannot break out of markup; else None."""
    known = text and len(text) <= MAX_URL and _HTTP_URL.fullmatch(text) and plain(text) == text
    return text if known else None


_NAMING_LABELS = ("source", "app", "model", "topic")  # the environment is among the figures


def name_of(alert: NotifiedAlert) -> str:
    """`negative-rate, support-bot, refunds`: the rule and what it fires for; not yet made harmless."""
    return ", ".join([alert.rule, *(alert.labels[label] for label in _NAMING_LABELS if alert.labels.get(label))])


def title(notification: Notification) -> str:
    """`Firing: negative-rate, support-bot and 2 more`; not yet made harmless."""
    leading = notification.leading
    more = sum(1 for alert in notification.alerts if notification.over or alert.status != "resolved") - 1
    status = "Resolved" if notification.over else _STATUSES[leading.status]
    return f"{status}: {name_of(leading)}" + (f" and {more} more" if more > 0 else "")


def news_line(notification: Notification) -> str:
    """One sentence that says why the notification is sent, for a thread or a log; not yet made harmless."""
    lasted = format_duration(_end(notification) - notification.started_at)
    status = _STATUSES[notification.leading.status]
    match notification.news:
        case "firing":
            return f"{status} since {moment(notification.started_at)}{_escalated(notification)}"
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
    """Resolved alerts left; the alerts that fired last joined, if after the first one and after any that left."""
    left = [alert for alert in notification.alerts if alert.status == "resolved"]
    first = min(alert.fired_at for alert in notification.alerts)
    burning = [alert for alert in notification.alerts if alert.status != "resolved" and alert.fired_at > first]
    last = max((alert.fired_at for alert in burning), default=first)
    ended = min((alert.resolved_at for alert in left if alert.resolved_at), default=first)
    joined = [alert for alert in burning if alert.fired_at == last >= ended]
    parts = [f"{_list(alerts)} {verb}" for alerts, verb in ((joined, "joined"), (left, "resolved")) if alerts]
    return ("; ".join(parts) or f"{_STATUSES[notification.leading.status]}: changed") + _escalated(notification)


def muted_words(muting: Muting) -> str:
    """`muted by nights until 2026-11-24 07:00 UTC`."""
    by = muting.why if muting.why.startswith("outside ") else f"by {muting.why}"
    return f"muted {by}" + (f" until {moment(muting.until)}" if muting.until else "")


def escalated_words(after: timedelta) -> str:
    """`nobody acknowledged it for 15m`: why a further receiver is notified."""
    return f"nobody acknowledged it for {format_duration(after)}"


def _escalated(notification: Notification) -> str:
    length = notification.escalated_after
    return "" if length is None else f"; {escalated_words(length)}"


def _list(alerts: Sequence[NotifiedAlert]) -> str:
    named = [name_of(alert) for alert in alerts[:_MAX_NAMED]]
    more = len(alerts) - len(named)
    return " and ".join(named) + (f" and {more} more" if more else "")


def figure(alert: NotifiedAlert) -> str:
    """`rate of negative answers 38.2 %, threshold 30.0 %`: the alert in one phrase without text from outside."""
    measured = signal_words(alert.signal)
    phrase = f"{measured[:1].lower()}{measured[1:]} {_value(alert)}"
    if alert.status == "error":
        return phrase
    return f"{phrase}, {'usually' if alert.method == 'shift' else 'threshold'} {amount(alert.bound, alert.unit)}"


def facts(alert: NotifiedAlert) -> list[tuple[str, str]]:
    """The figures of the alert as name and value; harmless, each on one line."""
    failed = alert.status == "error"  # then there is no value to compare
    lines = [(signal_words(alert.signal), _value(alert) + _interval(alert))]
    if not failed:
        usual = alert.method == "shift"
        lines.append(("Usually", amount(alert.bound, alert.unit)) if usual else ("Threshold", _line(alert)))
    if alert.detail:
        lines.append(
            ("Detail" if failed else _DETAILS.get(alert.method, "Detail"), shortened(alert.detail, _MAX_DETAIL))
        )
    if alert.method == "shift":
        lines.append(("Answers since the change", f"{alert.samples:,}"))
    elif alert.window:
        counted = "Messages counted" if alert.signal == "dead_letters" else "Answers counted"
        lines += [("Window", format_duration(alert.window)), (counted, f"{alert.samples:,}")]
    lines.append(("Since", moment(alert.started_at)))
    if alert.resolved_at is not None:
        lasted = format_duration(alert.resolved_at - alert.started_at)
        lines.append(("Resolved", f"{moment(alert.resolved_at)}, after {lasted}"))
    return lines


def remarks(alert: NotifiedAlert) -> list[tuple[str, str]]:
    """What people did about the alert and why it ended, as name and value; the values are not yet made harmless."""
    escalated = escalated_words(alert.escalated_after) if alert.escalated_after else None
    found = [("Escalated", escalated), ("Acknowledged by", alert.acknowledged_by), ("Note", alert.note)]
    if alert.silenced_until is not None:
        found.insert(2, ("Silenced until", moment(alert.silenced_until)))
    return [(name, value) for name, value in found if value]


def labels_of(alert: NotifiedAlert) -> Mapping[str, str]:
    """The labels that have a value; not yet made harmless."""
    return {name: value for name, value in alert.labels.items() if value}


def why(example: Example) -> str:
    """`self-generated: answer off support, no documents`; not yet made harmless."""
    reasons = ", ".join(words(reason) for reason in example.reasons)
    verdict = "self-generated" if example.verdict == "self_generated" else words(example.verdict)
    return f"{verdict}: {reasons}" if reasons else verdict


def signal_words(signal: str) -> str:
    """The text of `str(Signal)` for people: `rate of negative` → `Rate of negative answers`."""
    kind, _, name = signal.partition(" of ")
    if kind == "rate" and name:
        return f"Rate of {words(name)}"
    if kind == "ranks" and name in _RANKED:
        return f"Answers among {_RANKED[name]}"
    if kind == "true_rate" and name:
        return f"True rate of {words(name)}, by labels"
    if kind == "mean" and name:
        return f"Mean {name.upper()}"
    return _STATES.get(signal) or plain(words(signal)).capitalize()


def words(identifier: str) -> str:
    """`answer_off_support` → `answer off support`, `negative` → `negative answers`."""
    return _SIGNALS.get(identifier, identifier.replace("_", " "))


def amount(value: float, unit: Unit) -> str:
    """`value` with its unit: `38.2 %`, `0.612`, `1h30m`."""
    match unit:
        case "share":
            return percent(value)
        case "seconds":
            return format_duration(timedelta(seconds=value))
        case "number":
            return f"{value:,.3f}".rstrip("0").rstrip(".")


def _value(alert: NotifiedAlert) -> str:
    return "unknown" if alert.value is None else amount(alert.value, alert.unit)


def _interval(alert: NotifiedAlert) -> str:
    """Empty for an exact or unknown value."""
    if alert.value is None or alert.lower is None or alert.upper is None or alert.lower == alert.upper:
        return ""
    return f" (95 % interval {amount(alert.lower, alert.unit)} to {amount(alert.upper, alert.unit)})"


def _line(alert: NotifiedAlert) -> str:
    return f"{'below' if alert.below else 'above'} {amount(alert.bound, alert.unit)}"


def _end(notification: Notification) -> datetime:
    ended = [alert.resolved_at for alert in notification.alerts if alert.resolved_at is not None]
    return max(ended) if notification.over and ended else notification.at


_MAX_NAMED = 3
_MAX_DETAIL = 300
_STATUSES: Mapping[Status, str] = {"firing": "Firing", "no_data": "No data", "error": "Error", "resolved": "Resolved"}
_DETAILS = {"sequential": "Evidence", "change": "Compared with", "shift": "Evidence", "rate": "Labels"}
_RANKED = {
    "score": "the worst tenth of the past by how made up they look",
    "refusal": "the worst tenth of the past by refusals",
    "sdq": "the tenth of the past whose support fits the question least",
    "qrd": "the tenth of the past whose retrieved documents fit the question least",
}
_SIGNALS = {
    "negative": "negative answers",
    "grounded": "grounded answers",
    "refusal": "refusals",
    "self_generated": "self-generated answers",
}
_STATES = {
    "no_data": "Answers",
    "dead_letters": "Rate of dead letters",
    "lag": "Consumer lag",
    "ledger_imbalance": "Partitions whose ledger does not balance",
}
UNWATCHED = timedelta(minutes=5)  # this long without an evaluation, and the list of alerts is out of date
