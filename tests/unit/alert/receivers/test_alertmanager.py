from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.receivers.alertmanager import RESEND, Alertmanager
from monitor.core.errors import Fatal, Retriable
from tests.factories.alert.notifications import (
    a_notification,
    a_notified_alert,
    a_resolved_alert,
    a_resolved_notification,
    an_example,
    at,
)
from tests.servers.webhook import BROKEN, RATE_LIMITED, Answer, http_server


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    with http_server() as server:
        yield server


@pytest.fixture
def other():
    with http_server() as server:
        yield server


@pytest.fixture
def receiver(server):
    return Alertmanager([f"{server.url}/prefix/"], clock=lambda: at(2))


def test_a_firing_alert_is_kept_for_four_rounds(server, receiver):
    receiver.send(a_notification(url="https://monitor.example/alerts/1"))
    (request,) = server.requests
    (alert,) = request.json
    assert request.path == "/prefix/api/v2/alerts"
    assert alert["labels"] == {
        "alertname": "negative-rate",
        "severity": "critical",
        "app": "support-bot",
        "environment": "production",
    }
    assert alert["annotations"]["summary"] == "Too many answers are not carried."
    assert alert["annotations"]["runbook"] == alert["annotations"]["runbook_url"] == "https://wiki.example/rag?a=1&b=2"
    assert "38.2 %" in alert["annotations"]["figures"]
    assert "two hours" in alert["annotations"]["example_1"]
    assert (alert["startsAt"], alert["endsAt"]) == ("2025-11-21T12:02:00Z", "2025-11-21T12:06:00Z")
    assert alert["generatorURL"] == "https://monitor.example/alerts/1"
    assert receiver.resend == RESEND == timedelta(minutes=1)


def test_what_waited_for_a_retry_does_not_arrive_as_over(server):
    Alertmanager([server.url], clock=lambda: at(60)).send(a_notification())
    assert server.requests[0].json[0]["endsAt"] == "2025-11-21T13:04:00Z"


def test_a_resolved_alert_ends_when_it_did(server, receiver):
    receiver.send(a_resolved_notification(at=at(30)))
    assert server.requests[0].json[0]["endsAt"] == "2025-11-21T12:20:00Z"


def test_a_clock_that_was_set_back_since_it_fired_makes_no_alert_that_alertmanager_refuses(server, receiver):
    early = at(-60)
    receiver.send(a_notification(at=early, alerts=(a_notified_alert(fired_at=at(30)),)))
    receiver.send(a_resolved_notification(at=early, alerts=(a_resolved_alert(fired_at=at(30), resolved_at=early),)))
    (firing,), (over,) = (request.json for request in server.requests)
    assert (firing["startsAt"], firing["endsAt"]) == ("2025-11-21T12:02:00Z", "2025-11-21T12:06:00Z")
    assert over["startsAt"] == over["endsAt"] == "2025-11-21T11:00:00Z"


def test_a_group_is_sent_alert_by_alert(server, receiver):
    over = a_resolved_alert(rule="b")
    receiver.send(a_notification(alerts=(a_notified_alert(), over), changes=("More about refunds.",)))
    first, second = server.requests[0].json
    assert [first["labels"]["alertname"], second["labels"]["alertname"]] == ["negative-rate", "b"]
    assert (first["endsAt"], second["endsAt"]) == ("2025-11-21T12:06:00Z", "2025-11-21T12:20:00Z")
    assert first["annotations"]["changes"] == "More about refunds."
    assert "changes" not in second["annotations"]
    assert "example_1" not in second["annotations"]


def test_names_become_valid_and_our_own_labels_win(server, receiver):
    labels = {"prompt-version": "v1", "4xx": "b", "": "c", "empty": "", "severity": "x", "alertname": "y", "ä b": " z "}
    receiver.send(a_notification(alerts=(a_notified_alert(labels=labels, annotations={"run-book": "r", "none": ""}),)))
    alert = server.requests[0].json[0]
    assert alert["labels"] == {
        "prompt_version": "v1",
        "_4xx": "b",
        "_": "c",
        "__b": "z",
        "severity": "critical",
        "alertname": "negative-rate",
    }
    assert alert["annotations"]["run_book"] == "r"
    assert "none" not in alert["annotations"]


def test_a_rule_without_a_summary_gets_the_figures_as_one(server, receiver):
    receiver.send(a_notification(alerts=(a_notified_alert(annotations={}),), examples=(an_example(), an_example())))
    shown = server.requests[0].json[0]["annotations"]
    assert shown["summary"] == "negative answers: 38.2 %, fires above 30.0 %"
    assert "example_2" in shown


@pytest.mark.parametrize("news", ["acknowledged", "silenced"])
def test_what_alertmanager_does_not_know_is_not_sent(server, receiver, news):
    receiver.send(a_notification(news=news, by="ada"))
    assert server.requests == []


def test_one_of_a_cluster_is_enough(server, other, caplog):
    server.script.append(BROKEN)
    Alertmanager([server.url, other.url]).send(a_notification())
    assert (len(server.requests), len(other.requests)) == (0, 1)
    assert "another server of the cluster accepted the alerts" in caplog.text


def test_every_server_of_a_cluster_gets_the_alerts(server, other):
    Alertmanager([server.url, other.url], authorization="Bearer x").send(a_notification())
    assert server.requests[0].json == other.requests[0].json
    assert server.requests[0].headers["authorization"] == other.requests[0].headers["authorization"] == "Bearer x"


def test_when_none_takes_it_one_that_may_do_so_later_decides(server, other):
    server.script[:] = [Answer(status=400), Answer(status=400)]
    other.script.append(RATE_LIMITED)
    cluster = Alertmanager([server.url, other.url])
    with pytest.raises(Retriable, match="429") as caught:
        cluster.send(a_notification())
    assert caught.value.retry_after == 30
    other.script.append(Answer(status=401))
    with pytest.raises(Fatal, match="MONITOR_ALERTMANAGER__URLS"):
        cluster.send(a_notification())


def test_it_says_how_many_of_a_cluster_answer(server, other):
    other.script.append(BROKEN)
    shown = Alertmanager([server.url, other.url]).check()
    assert shown.endswith("(1 of 2 answer)")
    assert (server.requests[0].method, server.requests[0].path) == ("GET", "/api/v2/status")
