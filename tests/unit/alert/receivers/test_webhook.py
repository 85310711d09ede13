from __future__ import annotations

import hashlib
import hmac
from datetime import UTC, datetime

import pytest

from monitor.alert.receivers.webhook import Webhook, payload_of, signature
from monitor.core.errors import Fatal, Retriable
from tests.factories.alert.notifications import (
    a_notification,
    a_notified_alert,
    a_resolved_alert,
    a_resolved_notification,
    an_example,
    at,
)
from tests.servers.webhook import BROKEN, HANG_UP, PATH, RATE_LIMITED, SECRET, TOKEN, Answer, http_server, signed

V4 = {
    *("version", "groupKey", "truncatedAlerts", "status", "receiver", "groupLabels", "commonLabels"),
    *("commonAnnotations", "externalURL", "alerts"),
}


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    with http_server(signed) as server:
        yield server


@pytest.fixture
def receiver(server):
    return Webhook(url=server.url + PATH, secret=SECRET, bearer_token=TOKEN, clock=lambda: at(3))


def test_the_payload_is_alertmanagers():
    payload = payload_of(a_notification(url="https://monitor.example/1"), external_url="https://monitor.example")
    assert set(payload) == V4 | {"monitor"}
    assert (payload["version"], payload["status"], payload["receiver"], payload["truncatedAlerts"]) == (
        "4",
        "firing",
        "memory",
        0,
    )
    assert payload["groupKey"] == "1234567890abcdef1234567890abcdef"
    assert payload["groupLabels"] == {"alertname": "negative-rate", "app": "support-bot"}
    assert payload["externalURL"] == "https://monitor.example"
    (alert,) = payload["alerts"]
    assert payload["commonLabels"] == alert["labels"]
    assert payload["commonAnnotations"] == alert["annotations"]
    assert (alert["status"], alert["startsAt"], alert["endsAt"]) == (
        "firing",
        "2025-11-21T12:02:00Z",
        "0001-01-01T00:00:00Z",
    )
    assert alert["generatorURL"] == "https://monitor.example/1"
    assert alert["fingerprint"] == a_notified_alert().fingerprint


def test_fields_unknown_to_alertmanager_are_under_the_key_monitor():
    payload = payload_of(
        a_notification(
            number=2, news="acknowledged", by="ada", changes=("More about refunds.",), instead_of="slack: gone"
        ),
        external_url="",
    )
    ours = payload["monitor"]
    assert (ours["news"], ours["by"], ours["number"], ours["instead_of"]) == ("acknowledged", "ada", 2, "slack: gone")
    assert ours["pages"] is False
    assert ours["line"] == "Acknowledged by ada"
    assert ours["changes"] == ["More about refunds."]
    assert ours["examples"][0]["answer"].startswith("Refunds arrive")
    measured = ours["alerts"][0]
    assert (measured["value"], measured["lower"], measured["upper"], measured["bound"]) == (0.382, 0.285, 0.489, 0.3)
    assert (measured["unit"], measured["samples"], measured["window_seconds"]) == ("share", 84, 300.0)


def test_common_is_what_all_alerts_share():
    other = a_notified_alert(rule="b", severity="warning", annotations={})
    payload = payload_of(a_notification(alerts=(a_notified_alert(), other)), external_url="")
    assert payload["commonLabels"] == {"app": "support-bot", "environment": "production"}
    assert "runbook" not in payload["commonAnnotations"]


def test_a_group_is_resolved_when_all_of_it_is():
    over = a_resolved_alert(rule="b")
    partly = payload_of(a_notification(alerts=(a_notified_alert(), over)), external_url="")
    assert (partly["status"], [alert["status"] for alert in partly["alerts"]]) == ("firing", ["firing", "resolved"])
    assert partly["alerts"][1]["endsAt"] == "2025-11-21T12:20:00Z"
    assert payload_of(a_resolved_notification(), external_url="")["status"] == "resolved"


def test_alerts_beyond_a_hundred_are_counted():
    payload = payload_of(a_notification(alerts=(a_notified_alert(),) * 130), external_url="")
    assert (len(payload["alerts"]), payload["truncatedAlerts"]) == (100, 30)


def test_long_answers_are_cut():
    payload = payload_of(a_notification(examples=(an_example(answer="x" * 40_000),)), external_url="")
    assert len(payload["monitor"]["examples"][0]["answer"]) == 4_000


def test_it_is_signed_with_the_time_of_sending(server, receiver):
    receiver.send(a_notification(number=7))
    (request,) = server.requests  # the server takes nothing that is not signed
    sent = request.headers["x-monitor-timestamp"]
    assert datetime.fromtimestamp(int(sent), UTC) == at(3)
    assert request.headers["x-monitor-delivery"] == "0123456789abcdef0123456789abcdef-7"


def test_the_signature_is_what_the_page_says():
    body = b'{"a": 1}'
    mac = hmac.new(b"key", b"1763726400." + body, hashlib.sha256).hexdigest()
    assert signature(b"key", "1763726400", body) == f"sha256={mac}"


def test_without_a_secret_nothing_is_signed():
    with http_server() as server:
        Webhook(url=server.url).send(a_notification())
        assert "x-monitor-signature" not in server.requests[0].headers
        assert "authorization" not in server.requests[0].headers


def test_a_wrong_secret_is_refused_by_a_careful_owner(server):
    with pytest.raises(Fatal, match="HTTP 401"):
        Webhook(url=server.url + PATH, secret="wrong", bearer_token=TOKEN).send(a_notification())


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_every_2xx_is_fine(server, receiver, status):
    server.script.append(Answer(status=status))
    assert receiver.send(a_notification()) is None


@pytest.mark.parametrize("reply", [RATE_LIMITED, BROKEN, HANG_UP, Answer(status=408), Answer(status=425)])
def test_trouble_that_may_pass_is_retriable(server, receiver, reply):
    server.script.append(reply)
    with pytest.raises(Retriable) as caught:
        receiver.send(a_notification())
    assert caught.value.retry_after == (30 if reply is RATE_LIMITED else None)


@pytest.mark.parametrize("status", [301, 400, 404, 410])
def test_a_refusal_names_the_status_and_not_the_path(server, receiver, status):
    server.script.append(Answer(status=status))
    with pytest.raises(Fatal, match=f"HTTP {status}") as caught:
        receiver.send(a_notification())
    assert "TopSecret" not in str(caught.value)
