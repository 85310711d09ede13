from __future__ import annotations

import os

import pytest
from pydantic import ValidationError

from monitor.alert.receivers import RECEIVERS, configured
from monitor.alert.receivers.alertmanager import Alertmanager
from monitor.alert.receivers.email import Email
from monitor.alert.receivers.pagerduty import PagerDuty
from monitor.alert.receivers.webhook import Webhook
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import Settings, load_settings
from tests.factories.alert.notifications import a_notification
from tests.servers.webhook import http_server

ALL = {
    "MONITOR_ALERTMANAGER__URLS": "http://a.example:9093, http://b.example:9093/prefix",
    "MONITOR_ALERTMANAGER__USERNAME": "ada",
    "MONITOR_ALERTMANAGER__PASSWORD": "TopSecretPassword",
    "MONITOR_PAGERDUTY__ROUTING_KEY": "TopSecretRoutingKey",
    "MONITOR_WEBHOOK__URL": "https://hooks.example/TopSecretHookPath",
    "MONITOR_WEBHOOK__SECRET": "TopSecretSigningKey",
    "MONITOR_WEBHOOK__BEARER_TOKEN": "TopSecretToken",
    "MONITOR_EMAIL__HOST": "mail.example",
    "MONITOR_EMAIL__SENDER": "monitor@quillmere.example",
    "MONITOR_EMAIL__RECIPIENTS": "ada@quillmere.example, team@quillmere.example",
    "MONITOR_EMAIL__USERNAME": "ada",
    "MONITOR_EMAIL__PASSWORD": "TopSecretMailPassword",
}


@pytest.fixture(autouse=True)
def _only_its_own_settings(tmp_path, monkeypatch):
    for name in list(os.environ):
        if name.upper().startswith("MONITOR_"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def test_only_the_console_is_configured_by_default():
    assert set(configured(Settings())) == {"console"}


def test_settings_choose_the_receivers(monkeypatch):
    for name, value in ALL.items():
        monkeypatch.setenv(name, value)
    found = configured(load_settings())
    kinds = {"alertmanager": Alertmanager, "pagerduty": PagerDuty, "webhook": Webhook, "email": Email}
    assert set(found) == {"console", *kinds} <= set(RECEIVERS)
    for name, kind in kinds.items():
        assert isinstance(found[name], kind)
        assert "TopSecret" not in f"{found[name]!r} {load_settings()!r}"
    assert [name for name, receiver in found.items() if receiver.resend is not None] == ["alertmanager"]


@pytest.mark.parametrize(
    ("login", "header"),
    [({"username": "ada", "password": "pass"}, "Basic YWRhOnBhc3M="), ({"bearer_token": "x"}, "Bearer x"), ({}, None)],
)
def test_alertmanager_is_logged_in_to(login, header):
    with http_server() as server:
        configured(Settings(alertmanager={"urls": [server.url], **login}))["alertmanager"].send(a_notification())
        assert server.requests[0].headers.get("authorization") == header


@pytest.mark.parametrize(
    ("section", "problem"),
    [
        ({"alertmanager": {"urls": "ftp://a.example"}}, "pattern"),
        ({"alertmanager": {"urls": "https://ada:pass@a.example"}}, "set username and password instead"),
        ({"alertmanager": {"urls": "https://a.example", "username": "ada"}}, "go together"),
        ({"alertmanager": {"username": "a", "password": "b", "bearer_token": "c"}}, "either"),
        ({"pagerduty": {"url": "events.pagerduty.com"}}, "pattern"),
        ({"email": {"host": "mail.example"}}, "go together"),
        ({"email": {"recipients": "ada@quillmere.example"}}, "go together"),
        ({"email": {"host": "a", "sender": "ada <a@b.example>", "recipients": "a@b.example"}}, "pattern"),
        ({"email": {"host": "a", "sender": "a@b\r\nBcc: c@d", "recipients": "a@b.example"}}, "pattern"),
        ({"email": {"username": "ada"}}, "go together"),
        ({"email": {"username": "a", "password": "b", "security": "none"}}, "starttls or tls"),
        ({"email": {"port": 0}}, "greater than 0"),
    ],
)
def test_wrong_settings_are_named(section, problem):
    with pytest.raises(ValidationError, match=problem):
        Settings(**section)


@pytest.mark.parametrize("half", [{"secret": "TopSecret"}, {"bearer_token": "TopSecret"}, {"url": "TopSecret"}])
def test_a_webhook_needs_a_url(half):
    with pytest.raises(WrongSettings, match="MONITOR_WEBHOOK__URL") as caught:
        configured(Settings(webhook=half))
    assert "TopSecret" not in str(caught.value)
