"""A notification as Slack's Block Kit, within Slack's limits whatever the texts are.

Text from outside stands in `plain_text` objects only, where no formatting, link or mention is parsed, with `&`, `<` and
`>` as entities. `mrkdwn` holds our own words, figures and the links of the rule's author.

Limits (https://docs.slack.dev/reference/block-kit): 50 blocks; header 150; text object 3,000; field 2,000, 10 of them;
context 10 elements. All texts together stay below 10,000, since Slack refuses messages at an undocumented total of
about 13,000 (github.com/slackapi/bolt-js/issues/2509).
"""

from __future__ import annotations

from dataclasses import dataclass

from monitor.alert.notification import MAX_EXAMPLES, Example, Notification
from monitor.alert.wording import facts, http_url, labels_of, percent, shortened, title, units, why, words
from monitor.model import Json

# In UTF-16 units after escaping. The sum over the largest message is below 10,000; a test holds it there.
_HEADER, _ANNOTATION, _LABEL_NAME, _LABEL_VALUE = 150, 500, 60, 200
_QUESTION, _ANSWER, _WHY, _NOTE, _RUNBOOK, _URL, _FALLBACK = 400, 900, 200, 300, 300, 600, 500
_MAX_FIELDS, _MAX_LABELS = 10, 4

_SIGN = {"critical": "🔴", "warning": "🟠", "info": "🔵"}
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# The fallback text is parsed as mrkdwn where a client ignores our flags: look-alikes for the signs of formatting, and
# a word joiner after the signs of names, so that @here and #channel stay words.
_LOOKALIKES = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ", "@": "@\u2060", "#": "#\u2060"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SlackMessage:
    """The content of one message: `text` is what notifications and clients without blocks show."""

    text: str
    blocks: list[Json]


def root_message(notification: Notification) -> SlackMessage:
    """The message that stands for the episode: posted when it fires, replaced as it goes on."""
    blocks: list[Json] = [_header(notification)]
    if told := [_foreign(notification.annotations[n], _ANNOTATION) for n in _TOLD if n in notification.annotations]:
        blocks.append(_section(_plain_text("\n".join(told))))
    blocks.append({"type": "section", "fields": _fields(notification)})
    if notification.note:
        blocks.append(_section(_plain_text("Note: " + _foreign(notification.note, _NOTE))))
    examples = notification.examples[:MAX_EXAMPLES]
    if examples:
        blocks += [{"type": "divider"}, _section(_mrkdwn("*Examples*"))]
        blocks += [_example(number, example) for number, example in enumerate(examples, start=1)]
    blocks.append({"type": "context", "elements": _context(notification)})
    return SlackMessage(text=fallback(notification), blocks=blocks)


def thread_message(notification: Notification) -> SlackMessage:
    """The line in the thread that says what became of the episode."""
    lines = [f"{name}: {value}" for name, value in facts(notification)]
    if notification.note:
        lines.append("Note: " + _foreign(notification.note, _NOTE))
    heading = _foreign(title(notification), _HEADER)
    return SlackMessage(
        text=fallback(notification),
        blocks=[_section(_plain_text("\n".join([f"{_sign(notification)} {heading}", *lines])))],
    )


def fallback(notification: Notification) -> str:
    """One line for push notifications: no blocks, nothing that can be parsed."""
    value = "unknown" if notification.value is None else percent(notification.value)
    said = f"{words(notification.signal)} {value}, threshold {percent(notification.threshold)}"
    return f"{_sign(notification)} {shortened(title(notification), _FALLBACK, _inert)} ({said})"


def escape(text: str) -> str:
    """`&`, `<` and `>` as the entities that Slack asks for."""
    return "".join(_ENTITIES.get(character, character) for character in text)


def _inert(character: str) -> str:
    return _LOOKALIKES.get(character, escape(character))


def _foreign(text: str, limit: int) -> str:
    return shortened(text, limit, escape)


def _sign(notification: Notification) -> str:
    return "🟢" if notification.status == "resolved" else _SIGN[notification.severity]


def _header(notification: Notification) -> Json:
    sign = f"{_sign(notification)} "
    return {"type": "header", "text": _plain_text(sign + _foreign(title(notification), _HEADER - 2 * len(sign)))}


def _fields(notification: Notification) -> list[Json]:
    labels = list(labels_of(notification).items())
    fields: list[Json] = [_mrkdwn(f"*{name}*\n{value}") for name, value in facts(notification)]
    room = min(_MAX_LABELS, _MAX_FIELDS - len(fields))
    if len(labels) > room:  # say that there are more, in the last place
        labels[room - 1 :] = [("more labels", f"{len(labels) - room + 1}, not shown here")]
    fields += [_plain_text(f"{_foreign(name, _LABEL_NAME)}\n{_foreign(value, _LABEL_VALUE)}") for name, value in labels]
    return fields


def _example(number: int, example: Example) -> Json:
    lines = (
        f"{number}. {_foreign(why(example), _WHY)}",
        f"Question: {_foreign(example.question, _QUESTION)}",
        f"Answer: {_foreign(example.answer, _ANSWER)}",
    )
    return _section(_plain_text("\n".join(lines)))


def _context(notification: Notification) -> list[Json]:
    """Links first, then what one needs to find the episode again."""
    elements: list[Json] = []
    if link := _link(notification.url, "Open in monitor"):
        elements.append(link)
    if runbook := notification.annotations.get("runbook"):
        elements.append(_link(runbook, "Runbook") or _plain_text("Runbook: " + _foreign(runbook, _RUNBOOK)))
    elements.append(_plain_text(f"{notification.severity}, episode {_foreign(notification.episode, 12)}"))
    return elements


def _link(url: str | None, name: str) -> Json:
    """None where `url` is no URL, or so long that it is no use to anybody."""
    known = escape(http_url(url) or "")
    return _mrkdwn(f"<{known}|{name}>") if 0 < units(known) <= _URL else None


def _section(text: Json) -> Json:
    return {"type": "section", "text": text}


def _plain_text(text: str) -> Json:
    return {"type": "plain_text", "text": text, "emoji": False}


def _mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text, "verbatim": True}


_TOLD = ("summary", "description")
