from __future__ import annotations

import json
from dataclasses import replace

import pytest

from monitor.alert.receivers.pagerduty import PagerDuty, events_of
from monitor.core.errors import Fatal, Retriable
from tests.factories.alert.notifications import (
    a_notification,
    a_notified_alert,
    a_resolved_notification,
    an_example,
    at,
)
from tests.servers.pagerduty import KEY, pagerduty_server, problems
from tests.servers.webhook import BROKEN, HANG_UP, LOST, RATE_LIMITED, Answer

GROUP_EPISODE = "0123456789abcdef0123456789abcdef"
ALERT = f"{GROUP_EPISODE}/fedcba9876543210fedcba9876543210"


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    with pagerduty_server() as server:
        yield server


@pytest.fixture
def receiver(server):
    return PagerDuty(routing_key=KEY, url=server.http.url)


def test_an_alert_is_one_incident(server, receiver):
    acknowledged = a_notified_alert(acknowledged_by="ada")
    steps = [
        (a_notification(), "triggered"),
        (a_notification(number=1, news="repeated"), "triggered"),
        (a_notification(number=2, news="acknowledged", by="ada", alerts=(acknowledged,)), "acknowledged"),
        (a_notification(number=3, news="changed", alerts=(acknowledged,)), "acknowledged"),
        (a_resolved_notification(number=4), "resolved"),
    ]
    for notification, status in steps:
        receiver.send(notification)
        assert server.incidents == {ALERT: status}
    assert len(server.events) == 4


def test_what_joins_an_acknowledged_group_calls_somebody(server, receiver):
    warning = a_notified_alert(fingerprint="w", severity="warning")
    heard = replace(warning, acknowledged_by="ada")
    joined = a_notified_alert(fingerprint="c", rule="another")
    receiver.send(a_notification(alerts=(warning,)))
    receiver.send(a_notification(news="acknowledged", by="ada", alerts=(heard,)))
    receiver.send(a_notification(news="changed", alerts=(joined, heard)))
    warned, joint = f"{GROUP_EPISODE}/w", f"{GROUP_EPISODE}/c"
    assert server.incidents == {warned: "acknowledged", joint: "triggered"}
    event = server.events[-1]
    assert (event["dedup_key"], event["payload"]["severity"]) == (joint, "critical")
    receiver.send(a_notification(news="changed", alerts=(joined, replace(heard, status="resolved"))))
    assert server.incidents == {warned: "resolved", joint: "triggered"}


def test_an_alert_that_comes_back_between_notifications_is_the_same_incident(server, receiver):
    receiver.send(a_notification())
    receiver.send(a_resolved_notification(alerts=(a_notified_alert(episode="another", status="resolved"),)))
    assert server.incidents == {ALERT: "resolved"}


def test_what_is_silenced_stays_as_it_was_and_calls_again_after_it(server, receiver):
    receiver.send(a_notification())
    silenced = a_notified_alert(silenced_until=at(60))
    other = a_notified_alert(episode="other")
    receiver.send(a_notification(news="silenced", by="ada", alerts=(silenced, other)))
    receiver.send(a_notification(news="changed", alerts=(silenced,)))
    assert [event["event_action"] for event in server.events] == ["trigger"]
    receiver.send(a_notification(news="repeated"))
    assert server.events[-1]["event_action"] == "trigger"


def test_what_changed_is_shown_with_the_leading_alert():
    first, second = events_of(
        a_notification(
            alerts=(a_notified_alert(), a_notified_alert(episode="b", labels={"app": "bank"})), changes=("More.",)
        )
    )
    assert first["payload"]["custom_details"]["changes"] == ["More."]
    assert not {"changes", "examples"} & set(second["payload"]["custom_details"])
    assert first["payload"]["group"] == second["payload"]["group"] == GROUP_EPISODE
    assert second["payload"]["source"] == "bank"


def test_the_event_says_what_since_when_and_how_sure(server, receiver):
    receiver.send(
        a_notification(url="https://monitor.example/1", changes=("More about refunds.",), instead_of="slack: gone")
    )
    (event,) = server.events
    payload = event["payload"]
    assert payload["summary"] == ("Firing: negative-rate, support-bot (negative answers: 38.2 %, fires above 30.0 %)")
    assert (payload["source"], payload["severity"], payload["group"]) == ("support-bot", "critical", GROUP_EPISODE)
    assert payload["timestamp"] == "2025-11-21T12:02:00Z", "when it fired, as its page says"
    details = payload["custom_details"]
    assert details["figures"]["Negative answers"] == "38.2 %"
    assert details["figures"]["With 95 % confidence"] == "28.5 % to 48.9 %"
    assert details["summary"] == "Too many answers are not carried."
    assert details["labels"] == {"app": "support-bot", "environment": "production"}
    assert details["changes"] == ["More about refunds."]
    assert details["examples"][0]["verdict"] == "self-generated: the answer departs from its supporting documents"
    assert details["instead_of"] == "slack: gone"
    assert event["client_url"] == "https://monitor.example/1"
    assert event["links"] == [
        {"href": "https://monitor.example/1", "text": "Open in monitor"},
        {"href": "https://wiki.example/rag?a=1&b=2", "text": "Runbook"},
    ]


@pytest.mark.parametrize("severity", ["critical", "warning", "info"])
def test_severities_are_pagerdutys(severity):
    (event,) = events_of(a_notification(alerts=(a_notified_alert(severity=severity),)))
    assert event["payload"]["severity"] == severity


def test_the_largest_event_is_taken():
    for much in ("退" * 10_000, '"' * 10_000, "👩" * 10_000):
        alert = a_notified_alert(
            rule=much,
            labels={"app": much} | {f"{n}{much}": much for n in range(40)},
            annotations={f"{n}{much}": much for n in range(40)},
            note=much,
            detail=much,
        )
        example = an_example(question=much, answer=much, reasons=(much,), url="https://x/" + "x" * 1_900)
        largest = a_notification(
            alerts=(alert,), changes=(much,) * 30, examples=(example,) * 3, url="https://x/" + "x" * 1_900
        )
        (event,) = events_of(largest)
        body = json.dumps({"routing_key": KEY, **event}, ensure_ascii=False).encode()
        assert problems(body) == []


def test_a_wrong_key_is_fatal_and_not_shown(server):
    wrong = "TopSecretButWrong"
    with pytest.raises(Fatal, match="MONITOR_PAGERDUTY__ROUTING_KEY") as caught:
        PagerDuty(routing_key=wrong, url=server.http.url).send(a_notification())
    assert "Event object is invalid" in str(caught.value)
    assert "[key]" in str(caught.value)
    assert wrong not in str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        RATE_LIMITED,
        BROKEN,
        HANG_UP,
        LOST,
        Answer(status=503),
        Answer(status=200, body="<html>welcome to the hotel's network</html>"),
    ],
)
def test_trouble_that_may_pass_is_retriable(server, receiver, reply):
    server.http.script.append(reply)
    with pytest.raises(Retriable):
        receiver.send(a_notification())


def many(number):
    return a_notification(alerts=tuple(a_notified_alert(fingerprint=f"f{place}") for place in range(number)))


def test_a_group_larger_than_what_is_taken_in_a_minute_gets_through(server, receiver):
    for attempt in range(3):
        server.http.script += [*([None] * 2), RATE_LIMITED]
        with pytest.raises(Retriable):
            receiver.send(replace(many(7), attempts=attempt))
    receiver.send(replace(many(7), attempts=3))
    assert [event["dedup_key"] for event in server.events] == [f"{GROUP_EPISODE}/f{place}" for place in range(7)]
    receiver.send(replace(many(1), number=1, news="repeated"))
    assert len(server.events) == 8


def test_an_event_that_is_refused_holds_up_no_other(server, receiver):
    server.http.script += [None, Answer(status=400, body='{"message": "Event object is invalid"}')]
    with pytest.raises(Fatal, match="Event object is invalid"):
        receiver.send(many(4))
    assert [event["dedup_key"] for event in server.events] == [f"{GROUP_EPISODE}/f{place}" for place in (0, 2, 3)]


def test_what_was_lost_on_the_way_back_is_the_same_incident_again(server, receiver):
    server.http.script.append(LOST)
    with pytest.raises(Retriable):
        receiver.send(a_notification())
    receiver.send(a_notification(attempts=1, in_doubt=True))
    assert server.incidents == {ALERT: "triggered"}


@pytest.mark.parametrize("body", ["", "[]", "{}", '{"message": 1, "errors": 2}', "<html>", '"x"'])
def test_a_refusal_without_words_is_still_named(server, receiver, body):
    server.http.script.append(Answer(status=400, body=body))
    with pytest.raises(Fatal, match="HTTP 400"):
        receiver.send(a_notification())
