"""Every receiver that shows an explanation leads with the cause, before figures and examples.

Slack keeps what to do next for the end, before the examples that it is about.
"""

from __future__ import annotations

import json

import pytest

from monitor.alert.receivers.email_message import html_of
from monitor.alert.receivers.pagerduty import events_of
from monitor.alert.receivers.prometheus import annotation_set
from monitor.alert.receivers.slack.message import root_message
from monitor.alert.receivers.teams import message_of
from monitor.alert.receivers.text import render
from tests.factories.alert.notifications import a_notification
from tests.servers.teams import texts

CAUSE = (
    "Retriever, topic billing: documents are off the question in 71 % of the bad answers (6 % before).",
    "How sure: 58 of 96 answers are bad.",
    "Next: `monitor explain --app shop q-1` shows what was retrieved.",
)
SHOWN = a_notification(cause=CAUSE, changes=("model m-2: 80 % negative.",))


def slack(notification):
    return "\n".join(block["text"]["text"] for block in root_message(notification).blocks if "text" in block)


def teams(notification):
    return "\n".join(texts(json.loads(message_of(notification))["attachments"][0]["content"]))


@pytest.mark.parametrize("shown", [render, html_of, slack, teams], ids=["text", "mail", "slack", "teams"])
def test_the_cause_comes_right_after_the_heading(shown):
    text = shown(SHOWN)
    cause, sure, tell = (text.index(sentence) for sentence in CAUSE)
    heading = text.index("negative-rate")
    changes = text.index("model m-2")
    assert heading < cause < sure < changes
    assert changes < tell if shown is slack else sure < tell < changes
    assert text.find("38.2 %", 0, cause) == -1, "no figure comes before it"


def test_the_push_notification_ends_with_the_conclusion():
    assert root_message(SHOWN).text.endswith(f") {CAUSE[0]}")


def test_an_update_keeps_the_cause():
    assert CAUSE[0] in slack(a_notification(cause=CAUSE, news="acknowledged", by="ada"))


def test_pagerduty_and_alertmanager_have_it_as_a_field():
    (event, *_) = events_of(SHOWN)
    details = event["payload"]["custom_details"]
    assert (next(iter(details)), details["cause"]) == ("cause", list(CAUSE))
    assert annotation_set(SHOWN.leading, SHOWN)["cause"].startswith(CAUSE[0])


def test_without_a_cause_nothing_is_said_of_one():
    bare = a_notification()
    assert "cause" not in json.dumps(events_of(bare))
    assert "cause" not in annotation_set(bare.leading, bare)
