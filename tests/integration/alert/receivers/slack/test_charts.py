"""Charts that go with a Slack message."""

from __future__ import annotations

import pytest

from monitor.alert.receivers.slack.bot import SlackBot
from tests.factories.alert.notifications import a_course, a_notification
from tests.rig.alert.slack_receipts import the_end
from tests.servers.slack import (
    BROKEN,
    CHANNEL,
    HANG_UP,
    RATE_LIMITED,
    TOKEN,
    picture,
    shown,
)
from tests.servers.slack.bench import PICTURE


@pytest.fixture
def drawn() -> list:
    return []


@pytest.fixture
def drawing_bot(new_bot, drawn) -> SlackBot:
    def draw(course):
        drawn.append(course)
        return PICTURE

    return new_bot(draw=draw)


def test_a_chart_comes_after_the_text_and_is_drawn_anew_at_the_end(server, drawing_bot, drawn):
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert next(path for path, _ in server.requests) == "/api/chat.postMessage"
    assert server.files == {receipt["chart"]: PICTURE}
    assert picture(server.roots()[0].payload) == receipt["chart"]
    same = drawing_bot.send(
        a_notification(number=1, news="acknowledged", by="ada", course=a_course(), previous=receipt)
    )
    assert (same, len(drawn)) == (receipt, 1)
    assert picture(server.roots()[0].payload) == receipt["chart"]
    over = drawing_bot.send(the_end(receipt, course=a_course()))
    assert over["chart"] != receipt["chart"]
    assert picture(server.roots()[0].payload) == over["chart"]
    assert "Resolved" in shown(server.roots()[0].payload)


def test_a_file_that_slack_looks_at_still_is_waited_for_a_little(server, drawing_bot, clock):
    server.unready = 2
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert picture(server.roots()[0].payload) == receipt["chart"]
    assert clock.slept == [0.5, 1.0]


def test_a_file_that_never_gets_ready_leaves_the_message_as_it_was(server, drawing_bot, caplog):
    server.unready = 99
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert "chart" not in receipt
    assert "Firing" in shown(server.roots()[0].payload)
    assert picture(server.roots()[0].payload) is None
    assert "without its chart" in caplog.text


def test_without_the_scope_it_goes_on_without_and_says_so_once(server, drawing_bot, caplog):
    server.scopes[TOKEN].discard("files:write")
    for number in range(2):
        drawing_bot.send(a_notification(episode=f"{number}" * 32, course=a_course()))
    assert len(server.roots()) == 2
    assert caplog.text.count("files:write") == 1
    assert len(server.called("files.getUploadURLExternal")) == 1


@pytest.mark.parametrize("method", ["files.getUploadURLExternal", "files.completeUploadExternal", "chat.update"])
@pytest.mark.parametrize("trouble", [BROKEN, HANG_UP, RATE_LIMITED])
def test_trouble_with_a_chart_is_no_trouble_of_the_page(server, drawing_bot, method, trouble):
    server.script_of[method] = [trouble]
    receipt = drawing_bot.send(a_notification(course=a_course()))
    assert receipt == {"channel": CHANNEL, "ts": server.roots()[0].ts}
    assert "chart" in drawing_bot.send(a_notification(episode="f" * 32, course=a_course()))


def test_a_drawing_that_fails_is_left_out(server, new_bot):
    def draw(_):
        raise ZeroDivisionError

    assert "chart" not in new_bot(draw=draw).send(a_notification(course=a_course()))
    assert len(server.roots()) == 1


def test_a_chart_that_was_deleted_is_left_out(server, drawing_bot):
    receipt = drawing_bot.send(a_notification(course=a_course()))
    server.complete.clear()
    drawing_bot.send(a_notification(number=1, news="acknowledged", by="ada", previous=receipt))
    (root,) = server.roots()
    assert "Also" not in shown(root.payload)
    assert picture(root.payload) is None
    assert root.payload["blocks"]
