"""Words an alert in the same way for every receiver, and makes text from outside harmless.

Questions, answers, names and labels come from anybody who writes to the chatbot. None of them may steer a terminal,
change the reading direction, or grow without limit.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta

from monitor.alert.figures import capital, counted, interval_of, limit_of, signal_words, value_of
from monitor.alert.mute import Muting
from monitor.alert.notification import Example, Notification, NotifiedAlert, Status
from monitor.core.model import Reason
from monitor.core.reason_words import REASON_WORDS
from monitor.core.text.duration import format_duration
from monitor.core.text.plain import moment, plain, shortened

MAX_URL = 2_000
_HTTP_URL = re.compile(r"https?://[^\s<>|\"\\^`{}]+")


def http_url(text: str | None) -> str | None:
    """`text` if it is an http or https URL that is fully visible and cannot break out of markup; else None."""
    known = text and len(text) <= MAX_URL and _HTTP_URL.fullmatch(text) and plain(text) == text
    return text if known else None


_NAMING_LABELS = ("source", "app", "model", "topic", "probe")  # the environment is among the figures


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
    lasted = format_duration(_end(notification) - notification.fired_at)
    status = notification.leading.status
    match notification.news:
        case "firing":
            return f"{_SINCE[status]} since {moment(notification.fired_at)}{_escalated(notification)}"
        case "changed":
            return _changed(notification)
        case "repeated":
            quiet = notification.leading.quiet_since
            silent = f"; no {counted(notification.leading)} since {moment(quiet)}" if quiet else ""
            return f"Still {_SINCE[status].lower()} after {lasted}{silent}"
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
    return ("; ".join(parts) or f"Now {_SINCE[notification.leading.status].lower()}") + _escalated(notification)


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


def facts(alert: NotifiedAlert, *, brief: bool = False) -> list[tuple[str, str]]:
    """Since when and how bad, as name and value, one figure each; harmless, each on one line.

    `brief`: what somebody who was woken has to know, without the interval and the time before the alert fired.
    """
    failed = alert.status == "error"  # then there is no value to compare
    lines = [("Started", moment(alert.fired_at))]
    if not brief and moment(alert.breaching_since) != moment(alert.fired_at):
        lines.append(("Breaching since", moment(alert.breaching_since)))
    if alert.resolved_at is not None:
        lasted = format_duration(alert.resolved_at - alert.fired_at)
        lines.append(("Resolved", f"{moment(alert.resolved_at)}, after {lasted}"))
    if not failed:
        lines.append((capital(signal_words(alert.signal)), value_of(alert)))
        if not brief and (interval := interval_of(alert)):
            lines.append(("With 95 % confidence", interval))
        limit, bound = limit_of(alert)
        lines.append((capital(limit), bound))
    if alert.detail:
        name = "Why" if failed else _DETAILS.get(alert.method, "Remark")
        lines.append((name, shortened(capital(alert.detail), _MAX_DETAIL)))
    if failed:
        pass
    elif alert.quiet_since is not None:
        lines.append((f"No {counted(alert)} since", moment(alert.quiet_since)))
    elif alert.method == "shift":
        lines.append(("Answers since the change", f"{alert.samples:,}"))
    elif alert.window and alert.method != "absence":
        lines.append(("Counted", f"{alert.samples:,} {counted(alert)} in {format_duration(alert.window)}"))
    return lines


def without_next_step(cause: Sequence[str]) -> tuple[Sequence[str], str]:
    """The sentences of a cause that say what broke and how sure that is; and the last one, what to do next."""
    last = max(len(cause) - 1, 1)
    return cause[:last], "".join(cause[last:])


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
    """`self-generated: the answer departs from its supporting documents`; not yet made harmless."""
    reasons = ", ".join(map(reason_words, example.reasons[:_MAX_REASONS]))
    more = len(example.reasons) - _MAX_REASONS
    reasons += f" and {more} more" if more > 0 else ""
    verdict = example.verdict.replace("_", "-")
    return f"{verdict}: {reasons}" if reasons else verdict


def reason_words(reason: str) -> str:
    """A reason in words; the name itself if a later release has given it."""
    known = reason in set(Reason)
    return REASON_WORDS[Reason(reason)] if known else reason.replace("_", " ")


def _end(notification: Notification) -> datetime:
    ended = [alert.resolved_at for alert in notification.alerts if alert.resolved_at is not None]
    return max(ended) if notification.over and ended else notification.at


_MAX_NAMED, _MAX_REASONS = 3, 2
_MAX_DETAIL = 300
_STATUSES: Mapping[Status, str] = {
    "firing": "Firing",
    "no_data": "No data",
    "error": "Cannot be evaluated",
    "resolved": "Resolved",
}
_SINCE: Mapping[Status, str] = {**_STATUSES, "no_data": "Without data", "error": "Not evaluated"}
_DETAILS = {
    "sequential": "Evidence",
    "change": "Compared with",
    "shift": "Evidence",
    "rate": "Labels",
    "decline": "Compared",
    "burn_rate": "Against what is allowed",
}
UNWATCHED = timedelta(minutes=5)  # this long without an evaluation, and the list of alerts is out of date
