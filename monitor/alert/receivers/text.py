"""Formats a notification as plain text, for terminals and mails."""

from __future__ import annotations

from monitor.alert.notification import Notification, NotifiedAlert
from monitor.alert.wording import facts, http_url, labels_of, name_of, news_line, remarks, title, why
from monitor.core.text.plain import shortened

MAX_ALERTS = 20
_MAX_NAME, _MAX_LABEL, _MAX_QUESTION, _MAX_ANSWER, _MAX_NOTE = 200, 200, 300, 600, 1_000
_MAX_LABELS = 20
_MAX_CHANGES = 10


def render(notification: Notification) -> str:
    """The notification as several lines of text, followed by an empty line; no line within is empty."""
    lines = [heading(notification), f"  {shortened(news_line(notification), _MAX_NOTE)}"]
    if notification.instead_of:
        lines.append(f"  Sent here instead of to {shortened(notification.instead_of, _MAX_NOTE)}")
    alone = len(notification.alerts) == 1
    lines[1:1] = [f"  {shortened(sentence, _MAX_NOTE)}" for sentence in notification.cause]
    for number, alert in enumerate(notification.alerts[:MAX_ALERTS], start=1):
        if not alone:
            lines.append(f"  Alert {number}: {shortened(name_of(alert), _MAX_NAME)}, {alert.status.replace('_', ' ')}")
        lines += [f"{'  ' if alone else '    '}{name}: {value}" for name, value in lines_of(alert)]
    if more := len(notification.alerts) - MAX_ALERTS:
        lines += [f"  {more} more alerts not shown"] if more > 0 else []
    if notification.changes:
        lines.append("  What changed")
        lines += [f"  - {shortened(change, _MAX_NOTE)}" for change in notification.changes[:_MAX_CHANGES]]
    for number, example in enumerate(notification.examples, start=1):
        lines += [
            f"  {number}. {shortened(why(example), _MAX_NAME)}",
            f"     Question: {shortened(example.question, _MAX_QUESTION)}",
            f"     Answer:   {shortened(example.answer, _MAX_ANSWER)}",
        ]
        lines += [f"     {url}" for target in (example.url, example.trace_url) if (url := http_url(target))]
    lines += [f"  {url}" for target in (notification.url, notification.run_url) if (url := http_url(target))]
    return "\n".join(lines) + "\n\n"


def heading(notification: Notification) -> str:
    """`[critical] Firing: negative-rate, support-bot`, on one line and harmless."""
    return f"[{notification.severity}] {shortened(title(notification), _MAX_NAME)}"


def lines_of(alert: NotifiedAlert) -> list[tuple[str, str]]:
    """All facts about one alert, as name and value, each on one line and harmless."""
    labels = list(labels_of(alert).items())
    foreign = [(name, value, _MAX_LABEL) for name, value in labels[:_MAX_LABELS]]
    foreign += [(name, value, _MAX_NOTE) for name, value in remarks(alert)]
    foreign += [(name.capitalize(), value, _MAX_NOTE) for name, value in list(alert.annotations.items())[:_MAX_LABELS]]
    return facts(alert) + [(shortened(name, _MAX_LABEL), shortened(value, limit)) for name, value, limit in foreign]
