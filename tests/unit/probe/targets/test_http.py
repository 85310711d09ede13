"""What only the HTTP target does; the promise of all targets is in `tests/contract/test_target.py`."""

from __future__ import annotations

import pytest

from monitor.core.errors import Fatal, WrongSettings
from monitor.probe.target import ChatbotFailed, Exchange
from monitor.probe.targets.http import HttpSpec, HttpTarget, chat_spec
from monitor.probe.targets.json_path import parse_json_path
from tests.servers.chatbots import KEY, QUESTION, RIGHT, chatbots

MARK = f"monitor-probe-{'0123456789abcdef' * 2}-7"
BODY = {"question": "{question}", "history": "{history}", "conversation": "{conversation}"}


@pytest.fixture
def bots(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with chatbots() as bots:
        yield bots


@pytest.fixture
def ask():
    opened = []

    def asked(url, *, timeout=30.0, **over):
        spec = {"url": url, "body": BODY, "answer": parse_json_path("$.answer"), **over}
        opened.append(HttpTarget(HttpSpec(**spec), timeout=timeout, per_second=None))
        return opened[-1].ask(QUESTION, history=[Exchange(question="Q1", answer="A1")], conversation=MARK)

    yield asked
    for target in opened:
        target.close()


def test_the_mark_goes_as_header_and_where_the_template_says(bots, ask):
    ask(f"{bots.url}/right")
    (asked,) = bots.asked
    assert (asked.headers["x-monitor-probe"], asked.body["conversation"]) == (MARK, MARK)
    assert asked.body["history"] == [{"role": "user", "content": "Q1"}, {"role": "assistant", "content": "A1"}]


def test_chat_sends_messages_and_the_mark_as_user(bots):
    spec = chat_spec(base_url=f"{bots.url}/right/", model="m", api_key=KEY, system="Be kind.", extra={"seed": 1})
    target = HttpTarget(spec, timeout=30, per_second=None)
    assert target.ask("Q", history=[], conversation=MARK).text == RIGHT
    target.close()
    (asked,) = bots.asked
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Q"}]
    assert asked.body == {"model": "m", "messages": messages, "user": MARK, "seed": 1}
    assert (asked.headers["authorization"], asked.headers["x-monitor-probe"]) == (f"Bearer {KEY}", MARK)


def test_a_busy_chatbot_is_asked_again(bots, ask):
    assert ask(f"{bots.url}/busy").text == RIGHT
    assert len(bots.asked) == 2


def test_one_that_is_busy_for_longer_than_the_time_limit_is_not_waited_for(bots, ask):
    bots.retry_after = "3600"
    with pytest.raises(ChatbotFailed, match=r"HTTP 429 \(slow down\)") as caught:
        ask(f"{bots.url}/busy")
    assert (caught.value.reason, len(bots.asked)) == ("refused", 1)


def test_a_key_opens_and_a_wrong_one_ends_the_run_unquoted(bots, ask, monkeypatch):
    monkeypatch.setenv("BOT_KEY", KEY)
    assert ask(f"{bots.url}/locked", headers={"Authorization": "Bearer ${env:BOT_KEY}"}).text == RIGHT
    monkeypatch.setenv("BOT_KEY", "TopSecretWrongKey")
    with pytest.raises(Fatal, match=r"HTTP 401 .*check the target's url and headers") as caught:
        ask(f"{bots.url}/locked", headers={"Authorization": "Bearer ${env:BOT_KEY}"})
    assert "TopSecret" not in str(caught.value)
    assert "[secret]" in str(caught.value)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(("name", "said"), [("moved", "HTTP 307 .*redirects are not followed"), ("nobody", "HTTP 404")])
def test_a_wrong_address_ends_the_run(bots, ask, name, said):
    with pytest.raises(Fatal, match=said):
        ask(f"{bots.url}/{name}")
    assert len(bots.asked) == 1


@pytest.mark.parametrize(
    ("name", "reason", "said"),
    [
        ("huge", "too_long", "more than 4 MiB"),
        ("not_json", "malformed", "sent no JSON: <html>"),
        ("empty", "malformed", r"nothing at \$\.answer: .*no answer today"),
    ],
)
def test_what_is_no_answer_fails_the_question(bots, ask, name, reason, said):
    with pytest.raises(ChatbotFailed, match=said) as caught:
        ask(f"{bots.url}/{name}")
    assert caught.value.reason == reason
    assert "\x1b" not in str(caught.value)


def test_nobody_listens(ask):
    with chatbots() as bots:
        url = bots.url
    with pytest.raises(ChatbotFailed, match=r"out of reach \(ConnectError\)") as caught:
        ask(f"{url}/right")
    assert caught.value.reason == "out_of_reach"


def test_its_place_holds_no_user_and_no_query():
    spec = HttpSpec(url="https://ada:s3cret@bot.example:8443/chat?key=s3cret", body="{question}", answer="$")
    target = HttpTarget(spec, timeout=1, per_second=None)
    assert target.place == "http https://bot.example:8443/chat"
    target.close()


@pytest.mark.parametrize("url", ["ftp://bot.example", "bot.example/chat", "http://", "", "http://[::1"])
def test_what_is_no_address_is_refused(url):
    with pytest.raises(WrongSettings, match="url: must be an http or https URL"):
        HttpTarget(HttpSpec(url=url, body="{question}", answer="$"), timeout=1, per_second=None)


def test_a_secret_that_cannot_be_a_header_is_not_quoted():
    spec = HttpSpec(url="http://x", headers={"A": "s3cret\nB: c"}, body="{question}", answer="$")
    with pytest.raises(WrongSettings, match="not allowed in a header") as caught:
        HttpTarget(spec, timeout=1, per_second=None)
    assert "s3cret" not in str(caught.value)
