from __future__ import annotations

import json
from datetime import timedelta

import pytest

from monitor.alert.receivers.sample_alert import trial
from monitor.alert.receivers.teams import Teams, message_of
from monitor.core.errors import Fatal, Retriable, WrongSettings
from tests.factories.alert.notifications import a_notification, a_notified_alert, an_example, at
from tests.servers.teams import problems, refusal, teams_server, texts
from tests.servers.webhook import BROKEN, HANG_UP, RATE_LIMITED, Answer


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def server():
    with teams_server() as server:
        yield server


def card_of(notification):
    (attachment,) = json.loads(message_of(notification))["attachments"]
    return attachment["content"]


def test_the_sample_is_taken_and_can_be_read(server):
    for notification in trial("teams", at(0), url="https://monitor.example"):
        Teams(server.url).send(notification)
    firing, resolved = server.cards
    assert texts(firing)[0] == "[info] Firing: monitor-test, test"
    assert "What changed" in texts(firing)
    assert firing["actions"] == [
        {"type": "Action.OpenUrl", "title": "Open in monitor", "url": "https://monitor.example"}
    ]
    assert firing["body"][0]["inlines"][0]["color"] == "Accent"
    assert resolved["body"][0]["inlines"][0]["color"] == "Good"


def test_owner_and_runbook_are_shown_and_only_a_url_is_a_link():
    described = {"owner": "team-search", "runbook": "https://wiki.example/rag"}
    card = card_of(a_notification(alerts=(a_notified_alert(annotations=described),)))
    assert {"Owner: team-search", "Runbook: https://wiki.example/rag"} <= set(texts(card))
    assert [action["title"] for action in card["actions"]].count("Runbook") == 1
    described["runbook"] = "docs/on-call/runbooks.md#lag"
    card = card_of(a_notification(alerts=(a_notified_alert(annotations=described),)))
    assert "Runbook: docs/on-call/runbooks.md#lag" in texts(card)
    assert "Runbook" not in [action["title"] for action in card["actions"]]


def test_an_escalation_says_that_nobody_acknowledged_it():
    card = card_of(a_notification(escalated_after=timedelta(minutes=15)))
    assert texts(card)[1].endswith("; nobody acknowledged it for 15m")


def test_an_acknowledgement_is_a_short_card():
    card = card_of(a_notification(news="acknowledged", by="ada", changes=("much",)))
    assert "Acknowledged by ada" in texts(card)
    assert not {"What changed", "Example 1"} & set(texts(card))


def test_the_largest_message_is_below_the_limit_of_teams():
    """At three bytes per unit, the most that a text can take."""
    much = "多" * 5_000
    alert = a_notified_alert(
        rule=much, labels={f"l{n}{much}": much for n in range(30)}, annotations={f"a{n}{much}": much for n in range(30)}
    )
    example = an_example(question=much, answer=much, url="https://a.example/" + "x" * 1_900)
    notification = a_notification(
        alerts=(alert,) * 40,
        changes=(much,) * 20,
        examples=(example,) * 3,
        url=example.url,
        instead_of=much,
        by=much,
    )
    message = message_of(notification)
    assert len(message) <= 24_000
    assert list(problems(json.loads(message)["attachments"][0]["content"])) == []


@pytest.mark.parametrize(("trouble", "wait"), [(RATE_LIMITED, 30), (BROKEN, None), (HANG_UP, None)])
def test_trouble_that_may_pass_is_tried_again(server, trouble, wait):
    server.http.script.append(trouble)
    with pytest.raises(Retriable) as caught:
        Teams(server.url).send(a_notification())
    assert caught.value.retry_after == wait


@pytest.mark.parametrize("status", [400, 401, 403, 404, 410, 413])
def test_a_refusal_names_its_code_and_the_setting_but_not_the_url(server, status):
    server.http.script.append(refusal(status, "WorkflowTriggerIsNotEnabled"))
    with pytest.raises(Fatal, match=f"HTTP {status} .WorkflowTriggerIsNotEnabled.: check MONITOR_TEAMS__URL") as caught:
        Teams(server.url).send(a_notification())
    assert "TopSecret" not in str(caught.value)


def test_an_answer_that_explains_nothing_is_a_refusal_too(server):
    server.http.script.append(Answer(status=404, body="[]"))
    with pytest.raises(Fatal, match="HTTP 404: check"):
        Teams(server.url).send(a_notification())


def test_the_url_of_a_retired_connector_is_refused():
    with pytest.raises(WrongSettings, match="retired"):
        Teams("https://quillmere.webhook.office.com/webhookb2/1@2/IncomingWebhook/3/4")


def test_the_traces_of_examples_are_in_the_menu_and_a_hostile_address_is_left_out():
    examples = (
        an_example(trace_url="https://traces.example/t/4bf9"),
        an_example(trace_url="javascript:alert(1)"),
    )
    actions = card_of(a_notification(examples=examples))["actions"]
    assert [action for action in actions if action["title"].startswith("Trace")] == [
        {
            "type": "Action.OpenUrl",
            "title": "Trace 1",
            "url": "https://traces.example/t/4bf9",
            "mode": "secondary",
        }
    ]
