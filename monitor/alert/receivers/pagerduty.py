"""PagerDuty, by its Events API v2: one incident for each alert that a group tells of.

Not one for the group: an incident that somebody acknowledged, with us or in PagerDuty, calls nobody when it is
triggered again, so what joins the group later would go unheard. PagerDuty groups by `group` where it is set up to.

Source: https://developer.pagerduty.com/docs/events-api-v2/overview/ (limits: summary 1,024 characters, dedup_key 255,
the whole event 512 kB; answers: 202 taken, 400 invalid, 429 and 5xx later).
"""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from http import HTTPStatus
from typing import ClassVar

from monitor.alert.notification import Notification, NotifiedAlert
from monitor.alert.ports import Receiver
from monitor.alert.receivers.builder import Draw
from monitor.alert.receivers.http import Answer, Endpoint
from monitor.alert.receivers.prometheus import timestamp
from monitor.alert.wording import facts, figure, http_url, labels_of, name_of, remarks, title, why
from monitor.core.assessment_json import encode
from monitor.core.model import Json
from monitor.core.settings.load import Settings
from monitor.core.text.plain import shortened

# With these the largest event stays below 512,000 bytes, at three bytes a UTF-16 unit; a test holds it there.
_SUMMARY, _SHORT, _LONG, _ANSWER = 1_024, 200, 500, 1_500
_MAX_LABELS, _MAX_CHANGES = 10, 10
_KEY = 255
_SETTING = "MONITOR_PAGERDUTY__ROUTING_KEY"


def from_settings(settings: Settings, draw: Draw | None) -> Receiver | None:  # noqa: ARG001  it shows no charts
    """None without a routing key."""
    known = settings.pagerduty
    if known.routing_key is None:
        return None
    return PagerDuty(routing_key=known.routing_key.get_secret_value(), url=known.url)


class PagerDuty:
    """Triggers, acknowledges and resolves. Gives no receipt: the group's episode and the alert are the key."""

    resend: ClassVar[timedelta | None] = None

    def __init__(self, *, routing_key: str, url: str) -> None:
        self._key = routing_key
        self._events = Endpoint(f"{url.rstrip('/')}/v2/enqueue", name="pagerduty", setting=_SETTING)

    def send(self, notification: Notification) -> None:
        """Sends the events of its alerts, the worst first. Those sent before one that failed may be sent again.

        Raises:
            Retriable: PagerDuty is out of reach or busy.
            Fatal: it refuses the event, most likely for its routing key.
        """
        for event in events_of(notification):
            answer = self._events.post(encode({"routing_key": self._key, **event}).encode())
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


def events_of(notification: Notification) -> list[dict[str, Json]]:
    """The events without their routing key, one at most for each alert.

    Nothing comes of an alert that is silenced, or that goes on acknowledged. The alert's own episode is no part of the
    key: one that comes back before anybody was told that it ended is the same incident.
    """
    events: list[dict[str, Json]] = []
    for told in notification.alerts:
        event: dict[str, Json] = {"dedup_key": f"{notification.episode}/{told.fingerprint}"[:_KEY]}
        if told.status == "resolved":
            events.append({"event_action": "resolve", **event})
        elif told.acknowledged_by is not None:
            if notification.news == "acknowledged":
                events.append({"event_action": "acknowledge", **event})
        elif notification.news not in ("acknowledged", "silenced") and told.silenced_until is None:
            events.append({"event_action": "trigger", **event, **_trigger(notification, told)})
    return events


def _trigger(notification: Notification, told: NotifiedAlert) -> dict[str, Json]:
    if told != notification.leading:  # what changed and the examples are about the leading one
        notification = replace(notification, changes=(), examples=(), url=None)
    notification = replace(notification, alerts=(told,))
    payload: dict[str, Json] = {
        "summary": shortened(f"{title(notification)} ({figure(told)})", _SUMMARY),
        "source": shortened(told.labels.get("app") or told.labels.get("source") or "monitor", _SHORT),
        "severity": told.severity,  # PagerDuty has these three, and `error`
        "timestamp": timestamp(told.started_at),
        "class": told.signal,
        "group": notification.episode,
        "custom_details": _details(notification),
    }
    event: dict[str, Json] = {"payload": payload, "client": "monitor", "links": _links(notification)}
    if url := http_url(notification.url):
        event["client_url"] = url
    return event


def _details(notification: Notification) -> dict[str, Json]:
    details = _alert(notification.leading)
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


def _alert(told: NotifiedAlert) -> dict[str, Json]:
    said = dict(facts(told)) | {name: shortened(value, _LONG) for name, value in remarks(told)}
    labels = {shortened(n, _SHORT): shortened(v, _SHORT) for n, v in list(labels_of(told).items())[:_MAX_LABELS]}
    annotations = list(told.annotations.items())[:_MAX_LABELS]
    return {
        **{shortened(name, _SHORT): shortened(value, _LONG) for name, value in annotations},
        "alert": shortened(name_of(told), _SHORT),
        "status": told.status,
        "labels": dict[str, Json](labels),
        "figures": dict[str, Json](said),
    }


def _links(notification: Notification) -> list[Json]:
    links = [(notification.url, "Open in monitor"), (notification.leading.annotations.get("runbook"), "Runbook")]
    links += [(example.url, f"Example {n}") for n, example in enumerate(notification.examples, start=1)]
    return [{"href": url, "text": text} for told, text in links if (url := http_url(told))]
