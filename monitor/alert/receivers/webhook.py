"""Any HTTP server, in the form that Alertmanager's webhooks have (version 4), with our own under `monitor`, signed.

Source of the form: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

from __future__ import annotations

import hashlib
import hmac
from datetime import timedelta
from typing import ClassVar

from monitor.alert.notification import Example, Notification, NotifiedAlert
from monitor.alert.ports import Receiver
from monitor.alert.receivers.builder import Clock, Draw, utc_now
from monitor.alert.receivers.http import Endpoint
from monitor.alert.receivers.prometheus import annotation_set, common, label_set, named, timestamp
from monitor.alert.wording import http_url, news_line, title
from monitor.core.assessment_json import encode
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.core.settings.load import Settings
from monitor.core.text.plain import plain, shortened

_MAX_ALERTS = 100
_LONG, _SHORT = 4_000, 1_000
_NEVER = "0001-01-01T00:00:00Z"  # how Go, and so Alertmanager, writes a time that is not known
_SETTING = "MONITOR_WEBHOOK__URL"


def from_settings(settings: Settings, draw: Draw | None) -> Receiver | None:  # noqa: ARG001  it shows no charts
    """None where nothing of it is set.

    Raises:
        WrongSettings: a secret or a token without a URL.
    """
    known = settings.webhook
    if known.url is None:
        if known.secret is not None or known.bearer_token is not None:
            raise WrongSettings(f"a webhook needs {_SETTING}")
        return None
    return Webhook(
        url=known.url.get_secret_value(),
        secret=known.secret.get_secret_value() if known.secret is not None else None,
        bearer_token=known.bearer_token.get_secret_value() if known.bearer_token is not None else None,
        external_url=settings.public_url,
    )


class Webhook:
    """Posts each notification. Gives no receipt."""

    resend: ClassVar[timedelta | None] = None

    def __init__(
        self,
        *,
        url: str,
        secret: str | None = None,
        bearer_token: str | None = None,
        external_url: str | None = None,
        clock: Clock = utc_now,
    ) -> None:
        headers = {"Authorization": f"Bearer {bearer_token}"} if bearer_token else {}
        self._endpoint = Endpoint(url, name="webhook", setting=_SETTING, headers=headers)
        self._secret = secret.encode() if secret else None
        self._external_url = http_url(external_url) or ""
        self._clock = clock

    def send(self, notification: Notification) -> None:
        """Posts once; any 2xx is fine.

        Raises:
            Retriable: the server is out of reach or busy.
            Fatal: it refuses; the message names the status.
        """
        body = encode(payload_of(notification, external_url=self._external_url)).encode()
        sent = str(int(self._clock().timestamp()))
        headers = {"X-Monitor-Delivery": f"{notification.episode}-{notification.number}", "X-Monitor-Timestamp": sent}
        if self._secret is not None:
            headers["X-Monitor-Signature"] = signature(self._secret, sent, body)
        answer = self._endpoint.post(body, headers)
        if not answer.done:
            raise self._endpoint.judged(answer)

    def check(self) -> str:
        """As the port says."""
        return f"a webhook at {self._endpoint.host}, which cannot be tried without posting"


def signature(secret: bytes, sent: str, body: bytes) -> str:
    """`sha256=` and HMAC-SHA256 of `<sent>.<body>` in hex; `sent` is the time of sending in seconds since 1970."""
    return "sha256=" + hmac.new(secret, sent.encode() + b"." + body, hashlib.sha256).hexdigest()


def payload_of(notification: Notification, *, external_url: str) -> dict[str, Json]:
    """Alertmanager's payload, with what it has no place for under `monitor`."""
    shown = notification.alerts[:_MAX_ALERTS]
    url = http_url(notification.url)
    alerts: list[Json] = []
    all_labels = [label_set(told) for told in shown]
    all_annotations = [annotation_set(told, notification) for told in shown]
    for told, those, said in zip(shown, all_labels, all_annotations, strict=True):
        over = told.status == "resolved"
        alerts.append(
            {
                "status": "resolved" if over else "firing",
                "labels": dict(those),
                "annotations": dict(said),
                "startsAt": timestamp(told.fired_at),
                "endsAt": timestamp(told.resolved_at or notification.at) if over else _NEVER,
                "generatorURL": url or "",
                "fingerprint": told.fingerprint,
            }
        )
    return {
        "version": "4",
        "groupKey": plain(notification.group),
        "truncatedAlerts": len(notification.alerts) - len(shown),
        "status": "resolved" if notification.over else "firing",
        "receiver": notification.receiver,
        "groupLabels": dict[str, Json](named(notification.group_labels)),
        "commonLabels": dict[str, Json](common(all_labels)),
        "commonAnnotations": dict[str, Json](common(all_annotations)),
        "externalURL": external_url,
        "alerts": alerts,
        "monitor": _ours(notification, shown),
    }


def _ours(notification: Notification, shown: tuple[NotifiedAlert, ...]) -> dict[str, Json]:
    return {
        "episode": notification.episode,
        "number": notification.number,
        "news": notification.news,
        "pages": notification.pages,
        "by": shortened(notification.by, _SHORT) if notification.by else None,
        "instead_of": shortened(notification.instead_of, _SHORT) if notification.instead_of else None,
        "at": timestamp(notification.at),
        "severity": notification.severity,
        "title": shortened(title(notification), _SHORT),
        "line": shortened(news_line(notification), _SHORT),
        "url": http_url(notification.url),
        "changes": [shortened(change, _SHORT) for change in notification.changes],
        "examples": [_example(example) for example in notification.examples],
        "alerts": [_measured(told) for told in shown],
    }


def _example(example: Example) -> Json:
    return {
        "id": shortened(example.id, _SHORT),
        "question": shortened(example.question, _LONG),
        "answer": shortened(example.answer, _LONG),
        "verdict": shortened(example.verdict, _SHORT),
        "reasons": [shortened(reason, _SHORT) for reason in example.reasons],
        "url": http_url(example.url),
    }


def _measured(told: NotifiedAlert) -> Json:
    return {
        "fingerprint": told.fingerprint,
        "episode": told.episode,
        "status": told.status,
        "signal": told.signal,
        "method": told.method,
        "unit": told.unit,
        "value": told.value,
        "lower": told.lower,
        "upper": told.upper,
        "bound": told.bound,
        "below": told.below,
        "samples": told.samples,
        "window_seconds": told.window.total_seconds(),
        "detail": shortened(told.detail, _SHORT) if told.detail else None,
        "started_at": timestamp(told.started_at),
        "acknowledged_by": shortened(told.acknowledged_by, _SHORT) if told.acknowledged_by else None,
        "silenced_until": timestamp(told.silenced_until) if told.silenced_until else None,
        "note": shortened(told.note, _SHORT) if told.note else None,
    }
