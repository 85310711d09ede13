"""Sends events to PagerDuty by its Events API v2: one incident for each alert of a group.

One incident for the whole group would not do: once somebody acknowledges an incident, triggering it again calls nobody,
so alerts that join the group later would go unnoticed. PagerDuty can group incidents by the field `group`.

Source: https://developer.pagerduty.com/docs/events-api-v2/overview/ (limits: summary 1,024 characters, dedup_key 255,
the whole event 512 kB; answers: 202 accepted, 400 invalid, 429 and 5xx later).
"""

from __future__ import annotations

import json
from collections import OrderedDict
from dataclasses import replace
from http import HTTPStatus

from typing_extensions import override

from monitor.alert.figures import figure
from monitor.alert.notification import Notification, NotifiedAlert
from monitor.alert.ports import Receiver
from monitor.alert.receivers.http import Answer, Endpoint
from monitor.alert.receivers.prometheus import timestamp
from monitor.alert.receivers.receiver import Draw
from monitor.alert.wording import facts, http_url, labels_of, name_of, remarks, title, why
from monitor.core.assessment_json import encode
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Json
from monitor.core.settings.load import Settings
from monitor.core.text.plain import shortened

# With these limits the largest event stays below 512,000 bytes, at three bytes per UTF-16 unit; a test checks it.
_SUMMARY, _SHORT, _LONG, _ANSWER = 1_024, 200, 500, 1_500
_MAX_LABELS, _MAX_CHANGES = 10, 10
_KEY = 255
_REMEMBERED = 100  # notifications that failed
_SETTING = "MONITOR_PAGERDUTY__ROUTING_KEY"


def from_settings(settings: Settings, _draw: Draw | None) -> Receiver | None:
    """None without a routing key."""
    known = settings.pagerduty
    if known.routing_key is None:
        return None
    return PagerDuty(routing_key=known.routing_key.get_secret_value(), url=known.url)


class PagerDuty(Receiver):
    """Triggers, acknowledges and resolves. Returns no receipt: the group's episode and the alert form the key."""

    def __init__(self, *, routing_key: str, url: str) -> None:
        self._key = routing_key
        self._events = Endpoint(f"{url.rstrip('/')}/v2/enqueue", name="pagerduty", setting=_SETTING)
        self._taken: OrderedDict[tuple[str, int], set[str]] = OrderedDict()  # keys, by notifications that failed

    @override
    def send(self, notification: Notification) -> None:
        """Sends one event per alert, the worst first; one that is refused holds up no other.

        After a failure it goes on where it was, or a group of more alerts than PagerDuty takes in a minute would never
        be through. Another process begins again with the first: PagerDuty knows the incidents by their keys.

        Raises:
            Retriable: PagerDuty is out of reach or busy.
            Fatal: PagerDuty refuses an event, most likely because of the routing key.
        """
        of = notification.episode, notification.number
        taken = self._taken.pop(of, set[str]())
        refusal: Fatal | None = None
        try:
            for event in events_of(notification):
                key = str(event["dedup_key"])
                if key in taken:
                    continue
                try:
                    self._post(event)
                except Fatal as error:
                    refusal = refusal or error
                else:
                    taken.add(key)
        except Retriable:
            self._taken[of] = taken
            while len(self._taken) > _REMEMBERED:
                self._taken.popitem(last=False)
            raise
        if refusal is not None:
            raise refusal

    def _post(self, event: dict[str, Json]) -> None:
        answer = self._events.post(encode({"routing_key": self._key, **event}).encode())
        if answer.status != HTTPStatus.ACCEPTED:
            raise self._events.judged(answer, self._explanation(answer))

    @override
    def check(self) -> str:
        return f"PagerDuty at {self._events.host}, which cannot be tested without sending an event"

    def _explanation(self, answer: Answer) -> str:
        """PagerDuty's explanation, without the key that it may repeat."""
        try:
            body = json.loads(answer.body)
            words = [str(body["message"]), *map(str, body.get("errors", ()))]
        except (ValueError, KeyError, TypeError, AttributeError):
            return ""
        return ": ".join(words).replace(self._key, "[key]")


def events_of(notification: Notification) -> list[dict[str, Json]]:
    """The events without their routing key, at most one for each alert.

    An alert that is silenced, or that goes on after its acknowledgement, makes no event. The alert's own episode is not
    part of the key: an alert that ends and comes back between two notifications is the same incident.
    """
    events: list[dict[str, Json]] = []
    for alert in notification.alerts:
        event: dict[str, Json] = {"dedup_key": f"{notification.episode}/{alert.fingerprint}"[:_KEY]}
        if alert.status == "resolved":
            events.append({"event_action": "resolve", **event})
        elif alert.acknowledged_by is not None:
            if notification.news == "acknowledged":
                events.append({"event_action": "acknowledge", **event})
        elif notification.news not in ("acknowledged", "silenced") and alert.silenced_until is None:
            events.append({"event_action": "trigger", **event, **_trigger(notification, alert)})
    return events


def _trigger(notification: Notification, alert: NotifiedAlert) -> dict[str, Json]:
    if alert != notification.leading:  # what changed and the examples belong to the leading alert
        notification = replace(notification, cause=(), changes=(), examples=(), url=None, run_url=None)
    notification = replace(notification, alerts=(alert,))
    payload: dict[str, Json] = {
        "summary": shortened(f"{title(notification)} ({figure(alert)})", _SUMMARY),
        "source": shortened(alert.labels.get("app") or alert.labels.get("source") or "monitor", _SHORT),
        "severity": alert.severity,  # PagerDuty has these three, and `error`
        "timestamp": timestamp(alert.fired_at),
        "class": alert.signal,
        "group": notification.episode,
        "custom_details": _details(notification),
    }
    event: dict[str, Json] = {"payload": payload, "client": "monitor", "links": _links(notification)}
    if url := http_url(notification.url):
        event["client_url"] = url
    return event


def _details(notification: Notification) -> dict[str, Json]:
    lead: dict[str, Json] = {"cause": [shortened(sentence, _LONG) for sentence in notification.cause]}
    details = {**(lead if notification.cause else {}), **_alert(notification.leading)}
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


def _alert(alert: NotifiedAlert) -> dict[str, Json]:
    figures = dict(facts(alert)) | {name: shortened(value, _LONG) for name, value in remarks(alert)}
    labels = {shortened(n, _SHORT): shortened(v, _SHORT) for n, v in list(labels_of(alert).items())[:_MAX_LABELS]}
    annotations = list(alert.annotations.items())[:_MAX_LABELS]
    return {
        **{shortened(name, _SHORT): shortened(value, _LONG) for name, value in annotations},
        "alert": shortened(name_of(alert), _SHORT),
        "status": alert.status,
        "labels": dict[str, Json](labels),
        "figures": dict[str, Json](figures),
    }


def _links(notification: Notification) -> list[Json]:
    links = [*notification.links]
    links += [(example.url, f"Example {n}") for n, example in enumerate(notification.examples, start=1)]
    return [{"href": url, "text": text} for target, text in links if (url := http_url(target))]
