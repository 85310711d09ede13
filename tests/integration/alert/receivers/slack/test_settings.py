"""Settings of Slack's receivers."""

from __future__ import annotations

import os

import pytest

from monitor.alert.receivers.slack.bot import SlackBot, from_settings
from monitor.alert.receivers.slack.webhook import SlackWebhook
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings
from tests.servers.slack import (
    APP_TOKEN,
    CHANNEL,
    TOKEN,
)


def test_what_is_no_url_is_a_wrong_setting():
    with pytest.raises(WrongSettings) as caught:
        SlackWebhook(url="file:///etc/TopSecret")
    assert "TopSecret" not in str(caught.value)


def test_settings_choose_between_bot_and_webhook(monkeypatch):
    for name in [name for name in os.environ if name.startswith("MONITOR_")]:
        monkeypatch.delenv(name)
    slack = {"bot_token": TOKEN, "channel": CHANNEL, "webhook_url": "https://hooks.example/x"}

    def chosen(**settings):
        return from_settings(Settings(slack=settings), None)

    assert chosen() is None
    assert isinstance(chosen(**slack), SlackBot)
    assert isinstance(chosen(webhook_url=slack["webhook_url"]), SlackWebhook)
    for half in ({"bot_token": TOKEN}, {"channel": CHANNEL}):
        with pytest.raises(WrongSettings, match="MONITOR_SLACK__CHANNEL"):
            chosen(**half)
    with pytest.raises(WrongSettings, match="MONITOR_SLACK__APP_TOKEN"):
        chosen(webhook_url=slack["webhook_url"], app_token=APP_TOKEN)


def test_responders_are_ids_with_commas_between_them(monkeypatch):
    monkeypatch.setenv("MONITOR_SLACK__RESPONDERS", "U0ADA, S0ONCALL")
    assert Settings().slack.responders == ("U0ADA", "S0ONCALL")
    monkeypatch.setenv("MONITOR_SLACK__RESPONDERS", "@ada")
    with pytest.raises(ValueError, match="responders"):
        Settings()
