"""PagerDuty, by its Events API v2: one incident for each episode.

Source: https://developer.pagerduty.com/docs/events-api-v2/overview/ (limits: summary 1,024 characters, dedup_key 255,
the whole event 512 kB; answers: 202 taken, 400 invalid, 429 and 5xx later).
"""

from __future__ import annotations

import json
from datetime import timedelta
from http import HTTPStatus
from typing import ClassVar

from monitor.alert.notification import Notification, Told
from monitor.alert.receivers.builder import Draw
from monitor.alert.receivers.http import Answer, Endpoint
from monitor.alert.receivers.prometheus import timestamp
from monitor.alert.wording import facts, figure, http_url, labels_of, name_of, remarks, shortened, title, why
from monitor.model import Json
from monitor.ports import Receiver
from monitor.settings import Settings
from monitor.wire import encode

# With these the largest event stays below 512,000 bytes, at three bytes a UTF-16 unit; a test holds it there.
_SUMMARY, _SHORT, _LONG, _ANSWER = 1_024, 200, 500, 1_500
_MAX_ALERTS, _MAX_LABELS, _MAX_CHANGES = 10, 10, 10
_KEY = 255
_SETTING = "MONITOR_PAGERDUTY__ROUTING_KEY"


def from_settings(settings: Settings, draw: Draw | None) -> Receiver | None:  # noqa: ARG001  it shows no charts
    """None without a routing key."""
    known = settings.pagerduty
    if known.routing_key is None:
        return None
    return PagerDuty(routing_key=known.routing_key.get_secret_value(), url=known.url)


class PagerDuty:
    """Triggers, acknowledges and resolves. Gives no receipt: the episode's name is the key of its incident."""

    resend: ClassVar[timedelta | None] = None

    def __init__(self, *, routing_key: str, url: str) -> None:
        self._key = routing_key
        self._events = Endpoint(f"{url.rstrip('/')}/v2/enqueue", name="pagerduty", setting=_SETTING)

    def send(self, notification: Notification) -> None:
        """Sends one event.

        Raises:
            Retriable: PagerDuty is out of reach or busy.
            Fatal: it refuses the event, most likely for its routing key.
        """
        event = {"routing_key": self._key, **event_of(notification)}
        answer = self._events.post(encode(event).encode())
        if answer.status != HTTPStatus.ACCEPTED:
            raise self._events.judged(answer, self._said(answer))

    def check(self) -> str:
        """As the port says."""
        return f"PagerDuty at {self._events.host}, which cannot be tried without an event"

    def _said(self, answer: Answer) -> str:
        """PagerDuty's own words, without the key that they may repeat."""
        try:
            said = json.loads(answer.body)
            words = [str(said["message"]), *map(str, said.get("errors", ()))]
        except (ValueError, KeyError, TypeError, AttributeError):
            return ""
        return ": ".join(words).replace(self._key, "[key]")


def event_of(notification: Notification) -> dict[str, Json]:
    """The event without its routing key. Whoever silences an episode has seen it: that acknowledges the incident."""
    event: dict[str, Json] = {"dedup_key": notification.episode[:_KEY]}
    if notification.over:
        return {"event_action": "resolve", **event}
    if notification.news in ("acknowledged", "silenced"):
        return {"event_action": "acknowledge", **event}
    leading = notification.leading
    payload: dict[str, Json] = {
        "summary": shortened(f"{title(notification)} ({figure(leading)})", _SUMMARY),
        "source": shortened(leading.labels.get("app") or leading.labels.get("source") or "monitor", _SHORT),
        "severity": notification.severity,  # PagerDuty has these three, and `error`
        "timestamp": timestamp(notification.started_at),
        "class": leading.signal,
        "group": shortened(leading.rule, _SHORT),
        "custom_details": _details(notification),
    }
    event |= {"event_action": "trigger", "payload": payload, "client": "monitor", "links": _links(notification)}
    if url := http_url(notification.url):
        event["client_url"] = url
    return event


def _details(notification: Notification) -> dict[str, Json]:
    details: dict[str, Json] = {"alerts": [_alert(told) for told in notification.alerts[:_MAX_ALERTS]]}
    if (more := len(notification.alerts) - _MAX_ALERTS) > 0:
        details["more_alerts"] = more
    if notification.instead_of:
        details["instead_of"] = shortened(notification.instead_of, _LONG)
    if notification.changes:
        details["changes"] = [shortened(change, _LONG) for change in notification.changes[:_MAX_CHANGES]]
    if notification.examples:
        details["examples"] = [
            {
                "verdict": shortened(why(example), _SHORT),
                "question": shortened(example.question, _LONG),
                "answer": shortened(example.answer, _ANSWER),
            }
            for example in notification.examples
        ]
    return details


def _alert(told: Told) -> Json:
    said = dict(facts(told)) | {name: shortened(value, _LONG) for name, value in remarks(told)}
    labels = {shortened(n, _SHORT): shortened(v, _SHORT) for n, v in list(labels_of(told).items())[:_MAX_LABELS]}
    annotations = list(told.annotations.items())[:_MAX_LABELS]
    return {
        "alert": shortened(name_of(told), _SHORT),
        "status": told.status,
        **{shortened(name, _SHORT): shortened(value, _LONG) for name, value in annotations},
        "labels": dict[str, Json](labels),
        "figures": dict[str, Json](said),
    }


def _links(notification: Notification) -> list[Json]:
    links = [(notification.url, "Open in monitor"), (notification.leading.annotations.get("runbook"), "Runbook")]
    links += [(example.url, f"Example {n}") for n, example in enumerate(notification.examples, start=1)]
    return [{"href": url, "text": text} for told, text in links if (url := http_url(told))]
