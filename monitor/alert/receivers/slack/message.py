"""Builds Block Kit messages from notifications, within Slack's limits for any text.

Limits (https://docs.slack.dev/reference/block-kit): 50 blocks; header 150; text object 3,000; 10 fields of 2,000 each;
10 context elements; alt text 2,000; button text 75, its value 2,000, its URL 3,000; 25 elements in an actions block,
of which 4 are used. All texts together stay below 10,000, since Slack refuses messages at an undocumented total of
about 13,000 (github.com/slackapi/bolt-js/issues/2509).
"""

from __future__ import annotations

from datetime import timedelta

from monitor.alert.figures import figure, signal_words
from monitor.alert.notification import MAX_EXAMPLES, Example, Notification, NotifiedAlert
from monitor.alert.receivers.slack.text import (
    SlackMessage,
    foreign,
    inert,
    link,
    mrkdwn,
    plain_text,
    section,
)
from monitor.alert.wording import (
    facts,
    http_url,
    labels_of,
    name_of,
    news_line,
    remarks,
    title,
    why,
    without_next_step,
)
from monitor.core.model import Json
from monitor.core.text.plain import units

ACKNOWLEDGE = "monitor_acknowledge"
OPEN = "monitor_open"
SILENCES = {"monitor_silence_1h": timedelta(hours=1), "monitor_silence_4h": timedelta(hours=4)}
_SILENCE_NAMES = {"monitor_silence_1h": "Silence 1 h", "monitor_silence_4h": "Silence 4 h"}

# In UTF-16 units after escaping. The sum over the largest message is below 10,000; a test checks it.
_HEADER, _ANNOTATION, _FACT, _LABEL_NAME, _LABEL_VALUE, _REMARK = 150, 400, 150, 40, 120, 200
_ALERT, _CAUSE, _CHANGE, _QUESTION, _ANSWER, _WHY = 150, 240, 180, 300, 600, 200
_RUNBOOK, _RUNBOOK_TEXT, _OWNER, _URL, _BUTTON_URL, _FALLBACK, _REPLY = 600, 300, 100, 300, 3_000, 500, 1_000
_MAX_FIELDS, _MAX_LABELS, _MAX_ALERTS, _MAX_CAUSE, _MAX_CHANGES = 10, 4, 6, 3, 5

_SIGN = {"critical": "🔴", "warning": "🟠", "info": "🔵"}
_SHOWN_ANNOTATIONS = ("summary", "description")


def root_message(notification: Notification, *, buttons: bool = False, chart: str | None = None) -> SlackMessage:
    """The message that represents the episode: posted when it fires, updated as it goes on.

    In the order of somebody who was woken: what is wrong, since when, how bad, what changed, what to do, examples.

    With `buttons`, a listener handles them. `chart` is the id of a picture that was uploaded to Slack.
    """
    leading = notification.leading
    blocks: list[Json] = [_header(notification)]
    conclusion, next_step = without_next_step(notification.cause[:_MAX_CAUSE])
    if conclusion:
        blocks.append(section(plain_text("\n".join(foreign(sentence, _CAUSE) for sentence in conclusion))))
    annotations = [leading.annotations[name] for name in _SHOWN_ANNOTATIONS if name in leading.annotations]
    if annotations:
        blocks.append(section(plain_text("\n".join(foreign(text, _ANNOTATION) for text in annotations))))
    blocks.append({"type": "section", "fields": _fields(leading)})
    lines = [f"{name}: {foreign(value, _REMARK)}" for name, value in remarks(leading)]
    if notification.instead_of:
        lines.append(f"Sent here instead of to {foreign(notification.instead_of, _REMARK)}")
    if lines:
        blocks.append(section(plain_text("\n".join(lines))))
    if others := notification.alerts[1:]:
        blocks.append(section(plain_text("\n".join(["Also:", *_lines(others)]))))
    if changes := notification.changes[:_MAX_CHANGES]:
        listed = "\n".join(f"• {foreign(change, _CHANGE)}" for change in changes)
        blocks += [section(mrkdwn("*What changed*")), section(plain_text(listed))]
    if next_step:
        blocks.append(section(plain_text(foreign(next_step, _CAUSE))))
    blocks += _examples(notification.examples[:MAX_EXAMPLES])
    if chart is not None:
        blocks.append({"type": "image", "slack_file": {"id": chart}, "alt_text": _alt_text(leading)})
    blocks.append({"type": "context", "elements": _context(notification, linked=not buttons)})
    if elements := _buttons(notification) if buttons else []:
        blocks.append({"type": "actions", "elements": elements})
    return SlackMessage(text=fallback(notification), blocks=blocks)


def thread_message(notification: Notification) -> SlackMessage:
    """The line in the thread that says what happened in the episode."""
    heading = f"{_sign(notification)} {foreign(news_line(notification), _FALLBACK)}"
    lines = [heading, *_lines(notification.alerts)]
    if note := notification.leading.note:
        lines.append(f"Note: {foreign(note, _REMARK)}")
    return SlackMessage(text=fallback(notification, news=True), blocks=[section(plain_text("\n".join(lines)))])


def reply_message(line: str) -> SlackMessage:
    """The result of a click, for the person who clicked."""
    return SlackMessage(text=inert(line, _REPLY), blocks=[section(plain_text(foreign(line, _REPLY)))])


def fallback(notification: Notification, *, news: bool = False) -> str:
    """One line for push notifications, without markup: figures and cause, or with `news` the reason for sending."""
    line = news_line(notification) if news else figure(notification.leading)
    said = f"{_sign(notification)} {inert(title(notification), _FALLBACK)} ({inert(line, _FALLBACK)})"
    return said if news or not notification.cause else f"{said} {inert(notification.cause[0], _CAUSE)}"


def _sign(notification: Notification) -> str:
    if notification.over:
        return "🟢"
    burning = [alert for alert in notification.alerts if alert.status != "resolved"]
    silenced = all(alert.silenced_until is not None and alert.silenced_until > notification.at for alert in burning)
    return "🔕" if silenced else _SIGN[notification.severity]


def _header(notification: Notification) -> Json:
    sign = f"{_sign(notification)} "
    return {"type": "header", "text": plain_text(sign + foreign(title(notification), _HEADER - 2 * len(sign)))}


def _fields(alert: NotifiedAlert) -> list[Json]:
    fields: list[Json] = [
        mrkdwn(f"*{inert(name, _FACT)}*\n{inert(value, _FACT)}") for name, value in facts(alert, brief=True)
    ]
    labels = list(labels_of(alert).items())
    room = min(_MAX_LABELS, _MAX_FIELDS - len(fields))
    if len(labels) > room:  # the last field says how many are left out
        labels[room - 1 :] = [("more labels", f"{len(labels) - room + 1} not shown")]
    return fields + [
        plain_text(f"{foreign(name, _LABEL_NAME)}\n{foreign(value, _LABEL_VALUE)}") for name, value in labels
    ]


def _lines(alerts: tuple[NotifiedAlert, ...]) -> list[str]:
    """One line per alert, for at most `_MAX_ALERTS` alerts."""
    lines = [f"{_of(alert)} {foreign(f'{name_of(alert)}: {figure(alert)}', _ALERT)}" for alert in alerts[:_MAX_ALERTS]]
    more = len(alerts) - len(lines)
    return [*lines, f"and {more} more"] if more else lines


def _of(alert: NotifiedAlert) -> str:
    return "🟢" if alert.status == "resolved" else _SIGN[alert.severity]


def _examples(examples: tuple[Example, ...]) -> list[Json]:
    if not examples:
        return []
    blocks: list[Json] = [{"type": "divider"}, section(mrkdwn("*Examples*"))]
    for number, example in enumerate(examples, start=1):
        lines = (
            f"{number}. {foreign(why(example), _WHY)}",
            f"Question: {foreign(example.question, _QUESTION)}",
            f"Answer: {foreign(example.answer, _ANSWER)}",
        )
        blocks.append(section(plain_text("\n".join(lines))))
    links: list[Json] = []
    for number, example in enumerate(examples, start=1):
        links += [link(example.url, f"Example {number}", _URL), link(example.trace_url, f"Trace {number}", _URL)]
    if any(links):
        blocks.append({"type": "context", "elements": [found for found in links if found]})
    return blocks


def _context(notification: Notification, *, linked: bool) -> list[Json]:
    """The links, then the owner, the severity and the start of the episode's id.

    `linked` adds the link to monitor here. A link button would make Slack warn the person who clicks if no listener
    handles buttons.
    """
    elements: list[Json] = []
    if linked and (opened := link(notification.url, "Open in monitor", _URL)):
        elements.append(opened)
    if run := link(notification.run_url, "Run of the probe", _URL):
        elements.append(run)
    if runbook := notification.runbook:
        text = plain_text(f"Runbook: {foreign(runbook, _RUNBOOK_TEXT)}")
        elements.append(link(runbook, "Runbook", _RUNBOOK) or text)
    if notification.owner:
        elements.append(plain_text(f"Owner: {foreign(notification.owner, _OWNER)}"))
    elements.append(plain_text(f"{notification.severity}, episode {foreign(notification.episode, 12)}"))
    return elements


def _buttons(notification: Notification) -> list[Json]:
    buttons: list[Json] = []
    if not notification.over:
        if not all(alert.acknowledged_by for alert in notification.alerts if alert.status != "resolved"):
            buttons.append(_button("Acknowledge", ACKNOWLEDGE, notification.episode) | {"style": "primary"})
        buttons += [_button(name, action, notification.episode) for action, name in _SILENCE_NAMES.items()]
    url = http_url(notification.url)
    if url is not None and units(url) <= _BUTTON_URL:
        buttons.append(_button("Open", OPEN, notification.episode) | {"url": url})
    return buttons


def _button(name: str, action: str, episode: str) -> dict[str, Json]:
    return {"type": "button", "text": plain_text(name), "action_id": action, "value": episode}


def _alt_text(alert: NotifiedAlert) -> str:
    return inert(f"Chart of the signal before and while the alert fired: {signal_words(alert.signal)}", _FACT)
