"""What only the HTTP target does; the promise of all targets is in `tests/contract/test_target.py`."""

from __future__ import annotations

import json
from contextlib import closing
from threading import Thread

import pytest

from monitor.core.errors import Fatal, WrongSettings
from monitor.probe.target import ChatbotFailed, Exchange
from monitor.probe.targets.form import TargetForm
from monitor.probe.targets.http import HttpSpec, HttpTarget, chat_spec
from monitor.probe.targets.json_path import parse_json_path
from tests.rig.waiting import until
from tests.servers.chatbot import BROKEN, BUSY, KEY, Says, chatbot

QUESTION = "How long does a refund take?"
RIGHT = "A refund takes 14 days."
MARK = f"monitor-probe-{'0123456789abcdef' * 2}-7"
BODY = {"question": "{question}", "history": "{history}", "conversation": "{conversation}"}


@pytest.fixture
def opened(bot):
    targets = []

    def open_(*, timeout=60.0, **over):
        spec = {"url": bot.url, "body": BODY, "answer": parse_json_path("$.answer"), **over}
        targets.append(HttpTarget(HttpSpec(**spec), timeout=timeout, per_second=None))
        return targets[-1]

    yield open_
    for target in targets:
        target.close()


def ask(target):
    return target.ask(QUESTION, history=[Exchange(question="Q1", answer="A1")], conversation=MARK)


def failure(target, said=None):
    with pytest.raises(ChatbotFailed, match=said) as caught:
        ask(target)
    assert "\x1b" not in str(caught.value)
    assert len(str(caught.value)) < 500
    return caught.value.reason


def test_the_mark_goes_as_header_and_where_the_template_says(bot, opened):
    ask(opened())
    (asked,) = bot.asked
    assert (asked.headers["x-monitor-probe"], asked.body["conversation"]) == (MARK, MARK)
    assert asked.body["history"] == [{"role": "user", "content": "Q1"}, {"role": "assistant", "content": "A1"}]


def test_a_cookie_stays_in_its_conversation(bot, opened):
    """By a session of another conversation, the chatbot would answer from what was said there."""
    target, other = opened(), MARK.replace("-7", "-8")
    bot.script += [Says(headers={"Set-Cookie": "session=first; Path=/"}), Says(), Says(), Says()]
    before = [Exchange(question="Q1", answer="A1")]
    for conversation, history in ((MARK, []), (MARK, before), (other, []), (MARK, [])):
        target.ask(QUESTION, history=history, conversation=conversation)
    assert [asked.headers.get("cookie") for asked in bot.asked] == [None, "session=first", None, None]


def test_chat_sends_messages_and_the_mark_as_user(bot):
    bot.script.append(Says(body=json.dumps({"model": "m", "choices": [{"message": {"content": RIGHT}}]})))
    spec = chat_spec(base_url=f"{bot.url}/v1/", model="m", api_key=KEY, system="Be kind.", extra={"seed": 1})
    target = HttpTarget(spec, timeout=60, per_second=None)
    assert target.ask("Q", history=[], conversation=MARK).text == RIGHT
    target.close()
    (asked,) = bot.asked
    messages = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Q"}]
    assert (asked.path, asked.body) == (
        "/v1/chat/completions",
        {"model": "m", "messages": messages, "user": MARK, "seed": 1},
    )
    assert (asked.headers["authorization"], asked.headers["x-monitor-probe"]) == (f"Bearer {KEY}", MARK)


@pytest.mark.parametrize("trouble", [BUSY, BROKEN, Says(status=503), Says(status=408)])
def test_a_busy_chatbot_is_asked_again(bot, opened, trouble):
    bot.script.append(trouble)
    assert ask(opened()).text == RIGHT
    assert len(bot.asked) == 2


def test_one_that_is_busy_for_longer_than_the_time_limit_is_not_waited_for(bot, opened):
    bot.script.append(Says(status=429, headers={"Retry-After": "3600"}, body="slow down"))
    assert failure(opened(), r"HTTP 429 \(slow down\)") == "refused"
    assert len(bot.asked) == 1


def test_a_call_that_waits_ends_when_the_target_is_closed(bot, opened):
    bot.script.append(Says(status=503, headers={"Retry-After": "50"}))
    target, failed = opened(), []
    thread = Thread(target=lambda: failed.append(failure(target)))
    thread.start()
    until("it was asked", lambda: bot.asked)
    target.close()
    thread.join()
    assert failed in (["refused"], ["out_of_reach"])


def test_secrets_come_from_the_environment_or_a_file_and_go_into_the_header_alone(bot, monkeypatch, tmp_path):
    monkeypatch.setenv("BOT_KEY", KEY)
    (tmp_path / "key").write_text(f"{KEY}\n", encoding="utf-8")
    for secret in ("env:BOT_KEY", f"file:{tmp_path}/key"):
        headers = {"Authorization": f"Bearer ${{{secret}}}"}
        form = TargetForm(
            http={"url": bot.url, "body": BODY, "answer": "$.answer", "headers": headers, "method": "PUT"}
        )
        with closing(form.target(timeout=60, per_second=None, place=lambda *_: "")) as target:
            assert ask(target).text == RIGHT
    for asked in bot.asked:
        assert (asked.method, asked.headers["authorization"]) == ("PUT", f"Bearer {KEY}")
        assert KEY not in json.dumps(asked.body)


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_what_waiting_does_not_mend_ends_the_run_and_quotes_no_key(bot, opened, status):
    bot.script.append(Says(status=status, body=f'\x1b[31m{{"error": "no such key: {KEY}, or Basic {KEY}"}}'))
    with pytest.raises(Fatal, match=f"HTTP {status} .*check the target's url and headers") as caught:
        ask(opened(headers={"Authorization": f"Basic {KEY}"}))
    assert KEY not in str(caught.value)
    assert "[secret]" in str(caught.value)
    assert "\x1b" not in str(caught.value)
    assert len(bot.asked) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(bot, opened, status):
    bot.script.append(Says(status=status, headers={"Location": f"{bot.url}/elsewhere"}))
    with pytest.raises(Fatal, match=f"HTTP {status} .*redirects are not followed"):
        ask(opened(headers={"Authorization": KEY}))
    assert len(bot.asked) == 1


@pytest.mark.parametrize(
    "body", ["<html>\x1b[31mhello</html>", "", "[" * 100_000, '{"answer": ' + "9" * 5_000 + "}", b"\xff\xfe\x00"]
)
def test_what_is_no_json_is_malformed_and_quoted(bot, opened, body):
    bot.script.append(Says(body=body))
    assert failure(opened(), "sent no JSON: " + ("<html>" if "<html>" in str(body) else "")) == "malformed"


def test_json_without_an_answer_is_quoted(bot, opened):
    bot.script.append(Says(body='{"detail": "no answer today"}'))
    assert failure(opened(), r"nothing at \$\.answer: .*no answer today") == "malformed"


def test_an_answer_that_is_too_long_is_not_read_to_its_end(bot, opened):
    bot.script.append(Says(body=json.dumps({"answer": "x" * 5 * 2**20})))
    assert failure(opened(), "more than 4 MiB") == "too_long"


@pytest.mark.parametrize("part", ["head", "body"])
def test_one_that_drips_is_given_up_in_time(bot, opened, part):
    bot.script.append(Says(drips=part))
    assert failure(opened(timeout=0.3)) == "timeout"


def test_a_connection_that_ends_is_out_of_reach(bot, opened):
    bot.script.append(Says(hangs_up=True))
    assert failure(opened()) == "out_of_reach"


def test_nobody_listens(opened):
    with chatbot() as gone:
        url = gone.url
    assert failure(opened(url=url), r"out of reach \(ConnectError\)") == "out_of_reach"


def test_its_place_holds_no_user_and_no_query(opened):
    place = opened(url="https://ada:s3cret@bot.example:8443/chat?key=s3cret").place
    assert place == "http https://bot.example:8443/chat"


@pytest.mark.parametrize(
    "url", ["", "ftp://bot.example", "bot.example/chat", "http://", "file:///etc/passwd", "http://[::1"]
)
def test_what_is_no_address_is_refused(opened, url):
    with pytest.raises(WrongSettings, match="url: must be an http or https URL"):
        opened(url=url)


@pytest.mark.parametrize("status", [403, 404, 302])
def test_a_refusal_after_answers_is_about_one_question(bot, opened, status):
    bot.script += [Says(), Says(status=status), Says()]
    target = opened()
    ask(target)
    assert failure(target, f"HTTP {status}") == "refused"
    assert ask(target).text


def test_a_key_that_is_refused_ends_the_run_at_any_time(bot, opened):
    bot.script += [Says(), Says(status=401)]
    target = opened()
    ask(target)
    with pytest.raises(Fatal, match="HTTP 401"):
        ask(target)


def test_a_retriever_need_not_answer(bot, opened):
    bot.script += [Says(body=json.dumps({"hits": ["Refunds."]})), Says(body=json.dumps({"hits": []}))]
    target = opened(answer=None, documents=parse_json_path("$.hits[*]"))
    assert [ask(target).documents for _ in range(2)] == [("Refunds.",), ()]
