"""Posts signed notifications to any HTTP server, in Alertmanager's webhook format (version 4) plus the key `monitor`.

Source of the format: https://prometheus.io/docs/alerting/latest/configuration/#webhook_config
"""

from __future__ import annotations

import hashlib
import hmac

from typing_extensions import override

from monitor.alert.notification import Example, Notification, NotifiedAlert
from monitor.alert.ports import Receiver
from monitor.alert.receivers.http import Endpoint
from monitor.alert.receivers.prometheus import annotation_set, common, label_set, named, timestamp
from monitor.alert.receivers.receiver import Clock, Draw, utc_now
from monitor.alert.wording import http_url, news_line, title
from monitor.core.assessment_json import encode
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.core.settings.load import Settings
from monitor.core.text.plain import plain, shortened

_MAX_ALERTS = 100
_LONG, _SHORT = 4_000, 1_000
_NEVER = "0001-01-01T00:00:00Z"  # how Go, and so Alertmanager, writes an unknown time
_SETTING = "MONITOR_WEBHOOK__URL"


def from_settings(settings: Settings, _draw: Draw | None) -> Receiver | None:
    """None if no webhook is set.

    Raises:
        WrongSettings: a secret or a token is set without a URL.
    """
    known = settings.webhook
    if known.url is None:
        if known.secret is not None or known.bearer_token is not None:
            raise WrongSettings(f"a webhook with a secret or a token needs {_SETTING}")
        return None
    return Webhook(
        url=known.url.get_secret_value(),
        secret=known.secret.get_secret_value() if known.secret is not None else None,
        bearer_token=known.bearer_token.get_secret_value() if known.bearer_token is not None else None,
        external_url=settings.public_url,
    )


class Webhook(Receiver):
    """Posts each notification. Returns no receipt."""

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

    @override
    def send(self, notification: Notification) -> None:
        """Posts once; any 2xx counts as delivered.

        Raises:
            Retriable: the server is out of reach or busy.
            Fatal: the server refuses; the message has the status.
        """
        body = encode(payload_of(notification, external_url=self._external_url)).encode()
        sent = str(int(self._clock().timestamp()))
        headers = {"X-Monitor-Delivery": f"{notification.episode}-{notification.number}", "X-Monitor-Timestamp": sent}
        if self._secret is not None:
            headers["X-Monitor-Signature"] = signature(self._secret, sent, body)
        answer = self._endpoint.post(body, headers)
        if not answer.done:
            raise self._endpoint.judged(answer)

    @override
    def check(self) -> str:
        return f"a webhook at {self._endpoint.host}, which cannot be tested without posting"


def signature(secret: bytes, sent: str, body: bytes) -> str:
    """`sha256=` and the HMAC-SHA256 of `<sent>.<body>` in hex; `sent` is the time of sending in seconds since 1970."""
    return "sha256=" + hmac.new(secret, sent.encode() + b"." + body, hashlib.sha256).hexdigest()


def payload_of(notification: Notification, *, external_url: str) -> dict[str, Json]:
    """Alertmanager's payload; the key `monitor` holds what Alertmanager's format has no place for."""
    shown = notification.alerts[:_MAX_ALERTS]
    url = http_url(notification.url)
    alerts: list[Json] = []
    all_labels = [label_set(alert) for alert in shown]
    all_annotations = [annotation_set(alert, notification) for alert in shown]
    for alert, labels, described in zip(shown, all_labels, all_annotations, strict=True):
        over = alert.status == "resolved"
        alerts.append(
            {
                "status": "resolved" if over else "firing",
                "labels": dict(labels),
                "annotations": dict(described),
                "startsAt": timestamp(alert.fired_at),
                "endsAt": timestamp(alert.resolved_at or notification.at) if over else _NEVER,
                "generatorURL": url or "",
                "fingerprint": alert.fingerprint,
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
    escalated = notification.escalated_after
    return {
        "episode": notification.episode,
        "number": notification.number,
        "news": notification.news,
        "pages": notification.pages,
        "by": shortened(notification.by, _SHORT) if notification.by else None,
        "escalated_after_seconds": escalated.total_seconds() if escalated else None,
        "instead_of": shortened(notification.instead_of, _SHORT) if notification.instead_of else None,
        "at": timestamp(notification.at),
        "severity": notification.severity,
        "title": shortened(title(notification), _SHORT),
        "line": shortened(news_line(notification), _SHORT),
        "url": http_url(notification.url),
        "run_url": http_url(notification.run_url),
        "owner": shortened(notification.owner, _SHORT) if notification.owner else None,
        "runbook": shortened(notification.runbook, _SHORT) if notification.runbook else None,
        "cause": [shortened(sentence, _SHORT) for sentence in notification.cause],
        "changes": [shortened(change, _SHORT) for change in notification.changes],
        "examples": [_example(example) for example in notification.examples],
        "alerts": [_measured(alert) for alert in shown],
    }


def _example(example: Example) -> Json:
    return {
        "id": shortened(example.id, _SHORT),
        "question": shortened(example.question, _LONG),
        "answer": shortened(example.answer, _LONG),
        "verdict": shortened(example.verdict, _SHORT),
        "reasons": [shortened(reason, _SHORT) for reason in example.reasons],
        "url": http_url(example.url),
        "trace_url": http_url(example.trace_url),
    }


def _measured(alert: NotifiedAlert) -> Json:
    return {
        "fingerprint": alert.fingerprint,
        "episode": alert.episode,
        "status": alert.status,
        "signal": alert.signal,
        "method": alert.method,
        "unit": alert.unit,
        "value": alert.value,
        "lower": alert.lower,
        "upper": alert.upper,
        "bound": alert.bound,
        "below": alert.below,
        "samples": alert.samples,
        "window_seconds": alert.window.total_seconds(),
        "detail": shortened(alert.detail, _SHORT) if alert.detail else None,
        "started_at": timestamp(alert.fired_at),
        "breaching_since": timestamp(alert.breaching_since),
        "acknowledged_by": shortened(alert.acknowledged_by, _SHORT) if alert.acknowledged_by else None,
        "silenced_until": timestamp(alert.silenced_until) if alert.silenced_until else None,
        "note": shortened(alert.note, _SHORT) if alert.note else None,
    }
