"""Sends alerts to Prometheus's Alertmanager by its API v2, which then groups, silences and notifies.

Source: https://github.com/prometheus/alertmanager/blob/main/api/v2/openapi.yaml
"""

from __future__ import annotations

import logging
from base64 import b64encode
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import ClassVar

from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.http import Answer, Endpoint
from monitor.alert.receivers.prometheus import annotation_set, label_set, timestamp
from monitor.alert.receivers.receiver import Clock, Draw, utc_now
from monitor.alert.wording import http_url
from monitor.core.assessment_json import encode
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Json
from monitor.core.settings.alert import AlertmanagerSettings
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)

RESEND = timedelta(minutes=1)
_KEPT = 4 * RESEND  # an alert that is not repeated ends after this time, as with Prometheus
_SETTING = "MONITOR_ALERTMANAGER__URLS"
_NOT_SENT = ("acknowledged", "silenced")  # Alertmanager accepts neither from outside; it has its own silences


def from_settings(settings: Settings, _draw: Draw | None) -> Receiver | None:
    """None without URLs."""
    known = settings.alertmanager
    return Alertmanager(known.urls, authorization=_authorization(known)) if known.urls else None


def _authorization(known: AlertmanagerSettings) -> str | None:
    if known.bearer_token is not None:
        return f"Bearer {known.bearer_token.get_secret_value()}"
    if known.username is not None and known.password is not None:
        login = f"{known.username}:{known.password.get_secret_value()}"
        return f"Basic {b64encode(login.encode()).decode()}"
    return None


class Alertmanager(Receiver):
    """Posts alerts to every URL of a cluster; one that accepts them is enough. Returns no receipt.

    Alertmanager forgets an alert that is not repeated, so firing alerts are sent again every `resend`.
    """

    resend: ClassVar[timedelta | None] = RESEND

    def __init__(self, urls: Sequence[str], *, authorization: str | None = None, clock: Clock = utc_now) -> None:
        headers = {"Authorization": authorization} if authorization else {}
        roots = [url.rstrip("/") for url in urls]

        def endpoints(path: str) -> list[Endpoint]:
            return [Endpoint(r + path, name="alertmanager", setting=_SETTING, headers=headers) for r in roots]

        self._alerts = endpoints("/api/v2/alerts")
        self._status = endpoints("/api/v2/status")
        self._clock = clock

    @override
    def send(self, notification: Notification) -> None:
        """Sends once to each URL.

        Raises:
            Retriable: no URL accepted it, and at least one may do so later.
            Fatal: all refuse for good.
        """
        if notification.news in _NOT_SENT:
            return
        body = encode(self._payload(notification)).encode()
        _reached(self._alerts, lambda endpoint: endpoint.post(body))

    @override
    def check(self) -> str:
        """Says which URLs answer, and how many of them."""
        answering = _reached(self._status, Endpoint.get)
        return (
            f"Alertmanager at {', '.join(e.host for e in answering)} ({len(answering)} of {len(self._status)} answer)"
        )

    def _payload(self, notification: Notification) -> list[Json]:
        alerts: list[Json] = []
        for alert in notification.alerts:
            # from the time of sending, not of the decision: an alert that waited for a retry must not arrive as over
            now = max(notification.at, self._clock())
            seen, ends = now, now + _KEPT
            if alert.status == "resolved":
                seen = ends = alert.resolved_at or notification.at
            entry: dict[str, Json] = {
                "labels": dict(label_set(alert)),
                "annotations": dict(annotation_set(alert, notification)),
                # Alertmanager refuses an end before the start, as it comes of a clock that was set back meanwhile
                "startsAt": timestamp(min(alert.fired_at, seen)),
                "endsAt": timestamp(ends),
            }
            if url := http_url(notification.url):
                entry["generatorURL"] = url
            alerts.append(entry)
        return alerts


def _reached(endpoints: Sequence[Endpoint], ask: Callable[[Endpoint], Answer]) -> list[Endpoint]:
    """The endpoints that accepted the request, at least one; the failures of the others are logged."""
    reached: list[Endpoint] = []
    failures: list[Retriable | Fatal] = []
    for endpoint in endpoints:
        try:
            answer = ask(endpoint)
        except Retriable as error:
            failures.append(error)
            continue
        if answer.done:
            reached.append(endpoint)
        else:
            failures.append(endpoint.judged(answer))
    if not reached:
        raise next((failure for failure in failures if isinstance(failure, Retriable)), failures[0])
    for failure in failures:
        log.warning("%s; another server of the cluster accepted the alerts", failure)
    return reached
