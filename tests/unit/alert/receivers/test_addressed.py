"""Owner, runbook and escalation in the message of every receiver."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest

from monitor.alert.receivers.email_message import html_of
from monitor.alert.receivers.pagerduty import events_of
from monitor.alert.receivers.prometheus import annotation_set
from monitor.alert.receivers.slack.message import root_message
from monitor.alert.receivers.teams import message_of
from monitor.alert.receivers.text import render
from monitor.alert.receivers.webhook import payload_of
from tests.factories.alert.notifications import a_notification, a_notified_alert

QUARTER = timedelta(minutes=15)
MESSAGES = {
    "slack": lambda n: root_message(n).content,
    "email": html_of,
    "console and mail as text": render,
    "pagerduty": events_of,
    "alertmanager": lambda n: annotation_set(n.leading, n),
    "webhook": lambda n: payload_of(n, external_url=""),
    "teams": lambda n: json.loads(message_of(n)),
}


@pytest.mark.parametrize("receiver", MESSAGES)
def test_every_receiver_names_the_owner_the_runbook_and_that_nobody_acknowledged(receiver):
    described = {"owner": "team-search", "runbook": "https://wiki.example/rag"}
    alert = a_notified_alert(annotations=described, escalated_after=QUARTER)
    text = str(MESSAGES[receiver](a_notification(alerts=(alert,), escalated_after=QUARTER)))
    assert "team-search" in text
    assert "https://wiki.example/rag" in text
    assert "nobody acknowledged it for 15m" in text


@pytest.mark.parametrize("receiver", MESSAGES)
def test_a_runbook_that_is_no_url_is_text_everywhere(receiver):
    described = {"runbook": "docs/on-call/runbooks.md#negative-rate"}
    notification = a_notification(alerts=(a_notified_alert(annotations=described),), url=None, examples=())
    text = str(MESSAGES[receiver](notification))
    assert "docs/on-call/runbooks.md#negative-rate" in text
    assert "runbook_url" not in text
    assert not {'<a href="docs', "<docs/", "'href': 'docs", "'url': 'docs"} & set(text.split(" "))


@pytest.mark.parametrize("receiver", MESSAGES)
def test_every_receiver_leads_to_the_run_of_the_probe(receiver):
    page = "https://monitor.example/probes/7"
    assert page in str(MESSAGES[receiver](a_notification(run_url=page)))
    assert "javascript:" not in str(MESSAGES[receiver](a_notification(run_url="javascript:alert(1)")))
