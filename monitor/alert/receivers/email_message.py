"""Builds a mail from a notification: plain text, HTML with the same content, and an inline chart.

Text from outside is always one harmless line, escaped in HTML; nothing is loaded from other servers. Later mails of an
episode refer to the first one, so that mail programs show them as one thread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime
from html import escape

from monitor.alert.notification import Example, Notification
from monitor.alert.receivers.text import MAX_ALERTS, heading, lines_of, render
from monitor.alert.wording import http_url, name_of, news_line, why
from monitor.core.text.plain import shortened

_MAX_NAME, _MAX_LINE, _MAX_QUESTION, _MAX_ANSWER, _MAX_CHANGES = 200, 1_000, 600, 1_500, 10
_COLOURS = {"critical": "#c62828", "warning": "#ef6c00", "info": "#1565c0"}
_OVER = "#2e7d32"


def message(notification: Notification, *, sender: str, recipients: Sequence[str], chart: bytes | None) -> EmailMessage:
    """The mail for `notification`; `chart` is a PNG."""
    domain = sender.rpartition("@")[2]
    mail = EmailMessage(policy=SMTP)
    mail["From"] = sender
    mail["To"] = ", ".join(recipients)
    calls = notification.pages and notification.number  # the subject of the first mail says it already
    mail["Subject"] = (
        f"{heading(notification)}: {shortened(news_line(notification), _MAX_NAME)}" if calls else heading(notification)
    )
    mail["Date"] = format_datetime(notification.at)
    mail["Message-ID"] = _id(notification, notification.number, domain)
    if notification.number:
        mail["In-Reply-To"] = mail["References"] = _id(notification, 0, domain)
    mail["Auto-Submitted"] = "auto-generated"  # RFC 3834: no out-of-office reply
    mail["X-Auto-Response-Suppress"] = "All"  # no out-of-office reply from Exchange
    mail.set_content(render(notification).rstrip("\n") + "\n")
    chart_id = f"chart.{notification.episode}.{notification.number}@{domain}"
    mail.add_alternative(html_of(notification, chart_id=chart_id if chart else None), subtype="html")
    html_part = mail.get_body(preferencelist=("html",))
    if chart is not None and html_part is not None:
        html_part.add_related(chart, "image", "png", cid=f"<{chart_id}>", filename="chart.png", disposition="inline")
    return mail


def html_of(notification: Notification, *, chart_id: str | None = None) -> str:
    """The HTML part."""
    colour = _OVER if notification.over else _COLOURS[notification.severity]
    parts = [
        f'<h2 style="margin:0;color:{colour}">{escape(heading(notification))}</h2>',
        f"<p>{_line(news_line(notification))}</p>",
        *_alerts(notification),
    ]
    if notification.instead_of:
        parts.insert(2, f"<p>Sent here instead of to {_line(notification.instead_of)}</p>")
    if notification.cause:
        conclusion, *more = map(_line, notification.cause)
        parts.insert(1, "<br>".join([f"<p><strong>{conclusion}</strong>", *more]) + "</p>")
    if chart_id is not None:
        parts.append(f'<p><img src="cid:{escape(chart_id)}" alt="The signal over time" style="max-width:100%"></p>')
    if notification.changes:
        changes = "".join(f"<li>{_line(change)}</li>" for change in notification.changes[:_MAX_CHANGES])
        parts.append(f"<h3>What changed</h3><ul>{changes}</ul>")
    if notification.examples:
        parts.append(f"<h3>Examples</h3><ol>{''.join(map(_example, notification.examples))}</ol>")
    if shown := [link for url, text in notification.links if (link := _link(url, text))]:
        parts.append(f"<p>{' · '.join(shown)}</p>")
    parts.append(f'<p style="color:#666">Episode {_line(notification.episode)}</p>')
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"></head>'
        f'<body style="font-family:sans-serif;color:#222">{"".join(parts)}</body></html>'
    )


def _alerts(notification: Notification) -> Iterable[str]:
    for alert in notification.alerts[:MAX_ALERTS]:
        if len(notification.alerts) > 1:
            yield f"<h3>{_line(name_of(alert), _MAX_NAME)}: {alert.status.replace('_', ' ')}</h3>"
        rows = "".join(
            f'<tr><th style="text-align:left;padding-right:1em">{escape(name)}</th><td>{escape(value)}</td></tr>'
            for name, value in lines_of(alert)
        )
        yield f"<table>{rows}</table>"
    if (more := len(notification.alerts) - MAX_ALERTS) > 0:
        yield f"<p>{more} more alerts not shown</p>"


def _example(example: Example) -> str:
    links = [_link(example.url, "Open this answer"), _link(example.trace_url, "Open its trace")]
    link = " · ".join(found for found in links if found)
    return (
        f"<li><strong>{_line(why(example), _MAX_NAME)}</strong><br>"
        f"Question: {_line(example.question, _MAX_QUESTION)}<br>Answer: {_line(example.answer, _MAX_ANSWER)}"
        + (f"<br>{link}" if link else "")
        + "</li>"
    )


def _line(text: str, limit: int = _MAX_LINE) -> str:
    return escape(shortened(text, limit))


def _link(url: str | None, text: str) -> str | None:
    known = http_url(url)
    return f'<a href="{escape(known)}">{text}</a>' if known is not None else None


def _id(notification: Notification, number: int, domain: str) -> str:
    return f"<{notification.episode}.{number}@{domain}>"
