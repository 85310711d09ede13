"""Weekly reports sent to Slack."""

from __future__ import annotations

import pytest

from monitor.app.report import Format
from monitor.app.wiring.application import Application
from monitor.core.errors import Retriable, WrongSettings
from monitor.core.settings.load import load_settings
from tests.factories.report.weekly_traffic import APP, WEEK
from tests.rig.store.weekly_textbook import MONDAY_SIX, its
from tests.servers.slack.blocks import shown
from tests.servers.slack.server import BROKEN, CHANNEL, HOOK_PATH, SCOPES, TOKEN
from tests.servers.slack.serving import slack_server


@pytest.fixture
def slack(monkeypatch):
    with slack_server() as server:
        monkeypatch.setenv("MONITOR_SLACK__BOT_TOKEN", TOKEN)
        monkeypatch.setenv("MONITOR_SLACK__CHANNEL", CHANNEL)
        monkeypatch.setenv("MONITOR_SLACK__API_URL", server.url)
        yield server


def test_slack_gets_a_summary_once_with_the_page_in_its_thread(slack, application):
    reporting = its(application, slack=True, apps=(APP,))
    slack.script.append(BROKEN)
    assert reporting.write_due(MONDAY_SIX) == 0  # Slack's trouble: written, and sent in a later round
    assert reporting.write_due(MONDAY_SIX) == 0
    assert reporting.write_due(MONDAY_SIX) == 0
    (message,) = slack.roots()
    said = shown(message.payload)
    assert "Weekly report: support-bot, 2025-W46" in said
    assert "Worse: refunds" in said
    (upload,) = slack.called("files.completeUploadExternal")
    assert (upload["channel_id"], upload["thread_ts"]) == (CHANNEL, message.ts)
    (page,) = slack.files.values()
    written = reporting.written(APP, WEEK)
    assert page == reporting.rendered(written, Format.HTML)
    assert slack.called("files.getUploadURLExternal")[0]["filename"] == "support-bot-2025-W46.html"
    assert written.sent_at == MONDAY_SIX


def test_a_file_that_slack_does_not_take_leaves_the_message(slack, application, caplog):
    slack.scopes[TOKEN] = SCOPES[TOKEN] - {"files:write"}
    reporting = its(application)
    reporting.send(reporting.written(APP, WEEK))
    assert len(slack.roots()) == 1
    assert "files:write" in caplog.text
    slack.script.append(BROKEN)
    with pytest.raises(Retriable):
        reporting.send(reporting.written(APP, WEEK))


def test_a_webhook_gets_the_summary_alone(application, monkeypatch):
    with slack_server() as server:
        monkeypatch.setenv("MONITOR_SLACK__WEBHOOK_URL", server.hook)
        with Application(load_settings(), now=lambda: MONDAY_SIX) as hooked:
            reporting = its(hooked)
            reporting.send(reporting.written(APP, WEEK))
        assert [path for path, _ in server.requests] == [HOOK_PATH]
    with pytest.raises(WrongSettings, match="Slack is not set up"):
        its(application).send(its(application).written(APP, WEEK))
