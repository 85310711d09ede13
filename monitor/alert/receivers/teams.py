"""Posts Adaptive Cards to a Microsoft Teams channel or chat, through a workflow's webhook.

The workflow has the trigger "When a Teams webhook request is received"; Office 365 connectors, which had webhooks of
their own, are retired. Sources: https://learn.microsoft.com/en-us/connectors/teams/ (the request: a message whose
attachments are cards), https://adaptivecards.io/explorer/ (the elements). A message has at most 28 KB; more than four
requests a second are answered with 429. A workflow answers 202 before it posts, so a failure within it is seen only in
its run history.

Text from outside only appears in the runs of a `RichTextBlock`, where nothing is parsed as Markdown; a `TextBlock` or
a `FactSet` would.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from urllib.parse import urlsplit

from typing_extensions import override

from monitor.alert.figures import figure
from monitor.alert.notification import Example, Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.http import Answer, Endpoint
from monitor.alert.receivers.receiver import Draw
from monitor.alert.receivers.text import heading, lines_of
from monitor.alert.wording import http_url, name_of, news_line, why
from monitor.core.assessment_json import encode
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.core.settings.load import Settings
from monitor.core.text.plain import shortened

_SETTING = "MONITOR_TEAMS__URL"
_RETIRED = (".webhook.office.com", "outlook.office.com", "outlook.office365.com")
_LARGEST = 24_000  # bytes; the workflow adds to the message, and 28 KB are the limit
# From the fullest card to the smallest: how many lines, other alerts, changes and examples, and how long a text is.
_FORMS = ((24, 8, 5, 3, 600), (16, 4, 3, 3, 300), (12, 2, 2, 1, 200), (8, 1, 0, 0, 100))
_MAX_LABEL = 60
_COLOURS = {"critical": "Attention", "warning": "Warning", "info": "Accent"}
# The news that get a full card; for the others a line is enough.
_IN_FULL = frozenset({"firing", "repeated", "resolved"})


def from_settings(settings: Settings, _draw: Draw | None) -> Receiver | None:
    """None without a URL.

    Raises:
        WrongSettings: the URL is that of a retired connector.
    """
    return Teams(settings.teams.url.get_secret_value()) if settings.teams.url is not None else None


class Teams(Receiver):
    """Posts a card for each notification. Returns no receipt: a workflow tells nothing about its message."""

    def __init__(self, url: str) -> None:
        self._endpoint = Endpoint(url, name="teams", setting=_SETTING)
        host = urlsplit(url).hostname or ""
        if host.endswith(_RETIRED):
            raise WrongSettings(
                f"{_SETTING} is that of an Office 365 connector, which Microsoft has retired: "
                "make a workflow with the trigger 'When a Teams webhook request is received' and take its URL"
            )

    @override
    def send(self, notification: Notification) -> None:
        """Posts once; any 2xx counts as delivered.

        Raises:
            Retriable: Teams is out of reach or busy.
            Fatal: it refuses, most likely because the workflow was switched off or deleted.
        """
        answer = self._endpoint.post(message_of(notification))
        if not answer.done:
            raise self._endpoint.judged(answer, _explanation(answer))

    @override
    def check(self) -> str:
        return f"a workflow of Microsoft Teams at {self._endpoint.host}, which cannot be tested without posting"


def message_of(notification: Notification) -> bytes:
    """The body of the request: the fullest card that Teams takes."""
    messages = (_message(notification, form) for form in _FORMS)
    return next((message for message in messages if len(message) <= _LARGEST), _message(notification, _FORMS[-1]))


def _message(notification: Notification, form: tuple[int, int, int, int, int]) -> bytes:
    lines, alerts, changes, examples, length = form
    body = [*_head(notification, length), *(_line(sentence, length) for sentence in notification.cause)]
    full = notification.news in _IN_FULL or notification.pages
    if full:
        body += _figures(notification, lines, length)
    body += _listed("Also", _others(notification, alerts), length)
    if full:
        body += _listed("What changed", [f"• {change}" for change in notification.changes[:changes]], length)
        body += _examples(notification.examples[:examples], length)
    body.append(_line(f"{notification.severity}, episode {notification.episode[:12]}", length, isSubtle=True))
    card: Json = {
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.2",
        "fallbackText": shortened(heading(notification), length),
        "msteams": {"width": "Full"},
        "body": body,
        "actions": _actions(notification, examples if full else 0),
    }
    kind = "application/vnd.microsoft.card.adaptive"
    attachment: Json = {"contentType": kind, "contentUrl": None, "content": card}
    return encode({"type": "message", "attachments": [attachment]}).encode()


def _head(notification: Notification, length: int) -> list[Json]:
    colour = "Good" if notification.over else _COLOURS[notification.severity]
    lines = [
        _line(heading(notification), length, weight="Bolder", size="Medium", color=colour),
        _line(news_line(notification), length),
    ]
    if notification.instead_of:
        lines.append(_line(f"Sent here instead of to {notification.instead_of}", length))
    return lines


def _figures(notification: Notification, most: int, length: int) -> list[Json]:
    found = [(shortened(name, _MAX_LABEL), value) for name, value in lines_of(notification.leading)[:most]]
    return [_block(_run(f"{name}: ", weight="Bolder"), _text(value, length)) for name, value in found]


def _others(notification: Notification, most: int) -> list[str]:
    others = notification.alerts[1:]
    words = [f"{name_of(alert)}, {alert.status.replace('_', ' ')}: {figure(alert)}" for alert in others[:most]]
    more = len(others) - len(words)
    return [*words, f"and {more} more"] if more > 0 else words


def _listed(title: str, texts: list[str], length: int) -> list[Json]:
    return [_line(title, length, weight="Bolder"), *(_line(text, length) for text in texts)] if texts else []


def _examples(examples: tuple[Example, ...], length: int) -> list[Json]:
    lines: list[Json] = []
    for number, example in enumerate(examples, start=1):
        lines += [
            _line(f"Example {number}: {why(example)}", length, weight="Bolder"),
            _line(f"Question: {example.question}", length),
            _line(f"Answer: {example.answer}", length),
        ]
    return lines


def _actions(notification: Notification, examples: int) -> list[Json]:
    links = [*notification.links]
    shown = list(enumerate(notification.examples[:examples], start=1))
    links += [(example.url, f"Example {n}") for n, example in shown]
    traces = [(example.trace_url, f"Trace {n}") for n, example in shown]
    # Teams shows six actions, and those that are secondary in a menu
    return [*_opened(links), *({**action, "mode": "secondary"} for action in _opened(traces))]


def _opened(links: Sequence[tuple[str | None, str]]) -> list[dict[str, Json]]:
    return [
        {"type": "Action.OpenUrl", "title": name, "url": url} for target, name in links if (url := http_url(target))
    ]


def _line(text: str, length: int, **style: Json) -> Json:
    return _block(_text(text, length, **style))


def _text(text: str, length: int, **style: Json) -> Json:
    return _run(shortened(text, length), **style)


def _run(text: str, **style: Json) -> Json:
    return {"type": "TextRun", "text": text or " ", **style}


def _block(*runs: Json) -> Json:
    return {"type": "RichTextBlock", "inlines": list(runs), "spacing": "Small"}


def _explanation(answer: Answer) -> str:
    """The code of the error, such as `WorkflowTriggerIsNotEnabled`; its message may hold the URL."""
    try:
        return str(json.loads(answer.body)["error"]["code"])
    except (ValueError, KeyError, TypeError):
        return ""
