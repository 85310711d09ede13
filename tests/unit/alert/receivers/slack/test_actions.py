from __future__ import annotations

import pytest

from monitor.alert.receivers.slack.actions import click_of
from tests.servers.slack import CHANNEL, click

EPISODE = "0123456789abcdef0123456789abcdef"


def test_a_click_is_identified_by_person_button_and_time():
    payload = click("monitor_acknowledge", EPISODE, response_url="https://hooks.slack.example/actions/1")
    found = click_of(payload, channel=CHANNEL)
    assert found is not None
    assert (found.action, found.episode, found.by) == ("monitor_acknowledge", EPISODE, "slack:U0ADA (ada)")
    assert found.response_url == "https://hooks.slack.example/actions/1"
    assert click_of(payload, channel=CHANNEL) == found
    again = click_of(click("monitor_acknowledge", EPISODE), channel=CHANNEL)
    assert again is not None
    assert again.id != found.id


def test_a_channel_may_be_configured_by_its_name():
    assert click_of(click("monitor_acknowledge", EPISODE), channel="alerts") is not None


@pytest.mark.parametrize(
    "payload",
    [
        {},
        click("monitor_open", EPISODE),
        click("somebody_elses", EPISODE),
        click("monitor_acknowledge", EPISODE, type="view_submission"),
        click("monitor_acknowledge", EPISODE, channel={"id": "C0OTHER", "name": "other"}),
        click("monitor_acknowledge", EPISODE, channel=None),
        click("monitor_acknowledge", EPISODE, actions=[]),
        click("monitor_acknowledge", EPISODE, actions="x"),
        click("monitor_acknowledge", EPISODE, user="U1"),
        click("monitor_acknowledge", EPISODE, user={"id": 7}),
        click("monitor_acknowledge", None),
    ],
)
def test_what_is_not_ours_is_no_click(payload):
    assert click_of(payload, channel=CHANNEL) is None


def test_a_name_in_the_audit_trail_is_one_short_harmless_line():
    payload = click("monitor_acknowledge", EPISODE, user={"id": "U1", "username": "\u202e<!channel>\n" + "x" * 500})
    found = click_of(payload, channel=CHANNEL)
    assert found is not None
    assert found.by.startswith("slack:U1 (<!channel> xxx")
    assert len(found.by) < 100
    assert not set(found.by) & {"\u202e", "\n"}


def test_a_url_for_the_answer_that_is_none_is_not_used():
    found = click_of(click("monitor_acknowledge", EPISODE, response_url="file:///etc/passwd"), channel=CHANNEL)
    assert found is not None
    assert found.response_url is None
