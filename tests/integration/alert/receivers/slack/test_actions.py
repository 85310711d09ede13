"""The buttons over a real WebSocket: who may, what comes of a click, and a link that is lost."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from threading import Event

import pytest

from monitor.alert.receivers.slack.actions import SlackActions, actions_from_settings
from monitor.core.errors import Retriable
from monitor.core.settings.load import Settings
from tests.rig.waiting import until
from tests.servers.slack import APP_TOKEN, CHANNEL, TOKEN, SlackServer, Trouble, click, shown
from tests.servers.slack.bench import Stepping

EPISODE = "0123456789abcdef0123456789abcdef"
ACKNOWLEDGE, SILENCE = "monitor_acknowledge", "monitor_silence_4h"


class Responses:
    """What `Actions` promises, kept in memory."""

    def __init__(self) -> None:
        self.done: list[tuple] = []
        self.failures: list[Exception] = []
        self.gate: Event | None = None

    def acknowledge(self, episode: str, *, by: str) -> str:
        return self._note("acknowledge", episode, by)

    def silence(self, episode: str, length: timedelta, *, by: str) -> str:
        return self._note("silence", episode, length, by)

    def _note(self, *what) -> str:
        if self.gate is not None:
            self.gate.wait(30)
        if self.failures:
            raise self.failures.pop()
        self.done.append(what)
        return f"{what[0]}d for <!channel>"


@pytest.fixture
def responses() -> Responses:
    return Responses()


@pytest.fixture
def listen(server: SlackServer, responses: Responses, clock: Stepping) -> Iterator[Callable[..., SlackActions]]:
    started: list[SlackActions] = []

    def start(*, connected: bool = True, **settings) -> SlackActions:
        known = {"app_token": APP_TOKEN, "bot_token": TOKEN, "channel": CHANNEL, "api_url": server.url}
        listener = SlackActions(**known | {"actions": responses, "clock": clock} | settings)
        started.append(listener)
        listener.start()
        if connected:
            until("the link stands", lambda: server.socket.connected)
        return listener

    yield start
    for listener in started:
        listener.stop()
    until("the link is gone", lambda: not server.socket.connected)


def a_click(server, action=ACKNOWLEDGE, **changes):
    return click(action, EPISODE, response_url=server.response_url, **changes)


def replied(server, count=1):
    until("the one who clicked was told", lambda: len(server.replies) >= count)
    return [shown(reply) for reply in server.replies]


def test_a_click_is_acknowledged_carried_out_and_answered(server, responses, listen, caplog):
    caplog.set_level(logging.INFO)
    listen()
    envelope = server.socket.send(a_click(server))
    assert replied(server) == ["acknowledged for <!channel>"]
    server.socket.send(a_click(server, SILENCE))
    replied(server, 2)
    assert responses.done == [
        ("acknowledge", EPISODE, "slack:U0ADA (ada)"),
        ("silence", EPISODE, timedelta(hours=4), "slack:U0ADA (ada)"),
    ]
    assert envelope in server.socket.acks
    reply = server.replies[0]
    assert (reply["response_type"], reply["replace_original"]) == ("ephemeral", False)
    assert "&lt;!channel&gt;" in reply["blocks"][0]["text"]["text"]
    assert "<" not in reply["text"]
    assert "monitor_acknowledge by slack:U0ADA (ada) on episode 0123456789abcdef" in caplog.text


def test_slack_is_acknowledged_while_the_work_is_still_going_on(server, responses, listen):
    responses.gate = Event()
    listen()
    envelopes = [server.socket.send(a_click(server)) for _ in range(20)]
    until("all are acknowledged", lambda: set(envelopes) <= set(server.socket.acks))
    assert responses.done == []
    responses.gate.set()
    replied(server, 20)


def test_a_second_delivery_does_nothing(server, responses, listen):
    listen()
    once = a_click(server)
    server.socket.send(once, envelope="same")
    server.socket.send(once, envelope="same")
    server.socket.send(once)
    last = server.socket.send(a_click(server, SILENCE))
    until("all are acknowledged", lambda: last in server.socket.acks and server.socket.acks.count("same") == 2)
    replied(server, 2)
    assert [what for what, *_ in responses.done] == ["acknowledge", "silence"]


def test_what_is_not_ours_is_acknowledged_and_left_alone(server, responses, listen):
    listen()
    sent = [
        server.socket.send(a_click(server, "monitor_open")),
        server.socket.send(a_click(server, "somebody_elses")),
        server.socket.send(a_click(server, channel={"id": "C0OTHER", "name": "other"})),
        server.socket.send({"type": "message"}, kind="events_api"),
    ]
    until("all are acknowledged", lambda: set(sent) <= set(server.socket.acks))
    server.socket.send(a_click(server))
    replied(server)
    assert len(responses.done) == 1


def test_only_responders_may(server, responses, listen):
    listen(allowed=("U0GRACE", "U0LIN"))
    server.socket.send(a_click(server))
    assert "not in the list of responders" in replied(server)[0]
    server.socket.send(a_click(server, user={"id": "U0LIN", "username": "lin"}))
    assert replied(server, 2)[1].startswith("acknowledged")
    assert [by for *_, by in responses.done] == ["slack:U0LIN (lin)"]


def test_members_of_a_user_group_may_and_are_asked_for_every_five_minutes(server, responses, listen, clock):
    server.groups["S0ONCALL"] = ["U0ADA"]
    listen(allowed=("S0ONCALL",))
    for count in (1, 2):
        server.socket.send(a_click(server))
        replied(server, count)
    assert len(server.called("usergroups.users.list")) == 1
    server.groups["S0ONCALL"] = ["U0LIN"]
    clock.now += 301
    server.socket.send(a_click(server))
    assert "not in the list of responders" in replied(server, 3)[2]
    assert len(responses.done) == 2


@pytest.mark.parametrize("unable", [Trouble(status=500, body="x"), Trouble(error="missing_scope")])
def test_nobody_is_let_in_because_slack_cannot_be_asked(server, responses, listen, unable, caplog):
    server.groups["S0ONCALL"] = ["U0ADA"]
    server.script_of["usergroups.users.list"] = [unable]
    listen(allowed=("S0ONCALL",))
    server.socket.send(a_click(server))
    assert replied(server)[0].startswith("Not done")
    assert responses.done == []
    assert ("usergroups:read" in caplog.text) == (unable.error == "missing_scope")


def test_a_click_that_cannot_be_carried_out_now_gets_a_reply_and_can_be_repeated(server, responses, listen):
    listen()
    responses.failures = [RuntimeError("a defect"), Retriable("the database is gone")]
    for count, told in enumerate(("Try again in a minute", "an internal error", "acknowledged"), start=1):
        server.socket.send(a_click(server))
        assert told in replied(server, count)[-1]


def test_without_a_url_for_the_answer_the_bot_tells_the_person_alone(server, listen):
    listen()
    server.socket.send(click(ACKNOWLEDGE, EPISODE))
    until("the one who clicked was told", lambda: server.ephemeral)
    told = server.ephemeral[0]
    assert (told["channel"], told["user"]) == (CHANNEL, "U0ADA")
    server.socket.send(click(ACKNOWLEDGE, EPISODE, response_url=f"{server.response_url}/used-up"))
    until("the one who clicked was told", lambda: len(server.ephemeral) == 2)


@pytest.mark.parametrize("way", ["close", "drop", "refresh"])
def test_a_lost_link_is_made_anew(server, responses, listen, way):
    listen()
    before = server.socket.opened
    getattr(server.socket, way)()
    until("another link stands", lambda: server.socket.opened > before and server.socket.connected)
    server.socket.send(a_click(server))
    replied(server)
    assert len(responses.done) == 1


def test_a_failed_connection_is_logged_once_and_retried(server, listen, caplog):
    server.script_of["apps.connections.open"] = [Trouble(error="invalid_auth"), Trouble(status=500, body="x")]
    listen()
    assert caplog.text.count("buttons do not work for now") == 1
    assert "MONITOR_SLACK__APP_TOKEN" in caplog.text
    server.socket.send(a_click(server))
    replied(server)


def test_no_secret_is_shown(server, listen, caplog):
    caplog.set_level(logging.DEBUG)
    server.script_of["apps.connections.open"] = [Trouble(error="invalid_auth")]
    listen()
    before = server.socket.opened
    server.socket.drop()
    until("another link stands", lambda: server.socket.opened > before and server.socket.connected)
    server.socket.send(a_click(server))
    replied(server)
    assert "TopSecret" not in caplog.text


def test_it_stops_also_without_a_link(server, listen):
    server.scopes.pop(APP_TOKEN)
    listener = listen(connected=False)
    until("it tried", lambda: server.called("apps.connections.open"))
    listener.stop()
    assert not server.socket.connected


def test_a_listener_that_was_never_started_stops(server, responses):
    SlackActions(app_token=APP_TOKEN, bot_token=TOKEN, channel=CHANNEL, actions=responses, api_url=server.url).stop()


def test_settings_say_whether_anybody_listens(responses):
    slack = {"bot_token": TOKEN, "channel": CHANNEL}
    assert actions_from_settings(Settings(slack=slack), responses) is None
    assert actions_from_settings(Settings(slack=slack | {"app_token": APP_TOKEN}), responses) is not None
