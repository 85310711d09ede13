"""What every target makes of hostile and broken chatbots: a `ChatbotFailed` that says why, in time, without secrets."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from monitor.core.errors import Fatal, WrongSettings
from monitor.probe.target import LARGEST, MOST_DOCUMENTS, ChatbotAnswer, ChatbotFailed, Exchange
from monitor.probe.targets.command import CommandTarget
from monitor.probe.targets.function import FunctionTarget, load_function
from monitor.probe.targets.http import MARK_HEADER, HttpSpec, HttpTarget, chat_spec
from monitor.probe.targets.json_path import parse_json_path
from tests.rig.waiting import until
from tests.servers.scripted_chatbot import BROKEN, BUSY, KEY, Says, chatbot

QUESTION = 'How long, "{conversation}" \\ {messages}\n{"answer": 1}?'
MARK = "monitor-probe-0-0"
BEFORE = [Exchange(question="Hello {question}", answer="Hi.")]
LONG, SHORT = 60.0, 0.3  # seconds
TEMPLATE = {"q": "Please: {question}", "before": "{history}", "id": "{conversation}"}
ANSWER = "A refund takes 14 days."
TEXTS = {
    "right": ANSWER,
    "documents": {"answer": ANSWER, "documents": ["Refunds.", "Prices."], "version": "v7"},
    "many": {"answer": ANSWER, "documents": ["d"] * 500},
    "no answer": {"said": "nothing"},
    "number": {"answer": 3},
    "storable": {"answer": "a\x00b\ud800c"},
    "huge": {"answer": "x" * (LARGEST + 1)},
}
# What the scripted command does for each kind of answer; `sys.argv[1]` is the answer as JSON.
SCRIPT = """
import json, os, sys, time
asked = json.load(sys.stdin)
with open(sys.argv[2], "a") as log:
    log.write(json.dumps(asked) + chr(10))
kind = sys.argv[1]
if kind == "hangs":
    time.sleep(600)
if kind == "fails":
    print(asked["question"])
    sys.exit(3)
said = json.loads(open(sys.argv[1]).read())
print(said if isinstance(said, str) else json.dumps(said))
"""


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


class Http:
    """An HTTP API whose answers are `TEXTS`, as the field `answer`."""

    def __init__(self, bot, _):
        self._bot = bot

    def says(self, kind):
        said = TEXTS.get(kind)
        says = {"hangs": Says(hangs=True), "fails": Says(status=400, body=f"what? {KEY}")}.get(kind)
        body = json.dumps({"answer": said} if isinstance(said, str) else said)
        self._bot.script.append(says or Says(body=body))

    def target(self, *, timeout=LONG):
        spec = HttpSpec(
            url=f"{self._bot.url}/ask?token={KEY}",
            headers={"Authorization": f"Bearer {KEY}"},
            body=TEMPLATE,
            answer=parse_json_path("$.answer"),
            documents=parse_json_path("$.documents[*]"),
            version=parse_json_path("$.version"),
        )
        return HttpTarget(spec, timeout=timeout, per_second=None)

    @property
    def heard(self):
        return [(one.body["q"].removeprefix("Please: "), one.body["before"], one.body["id"]) for one in self._bot.asked]


class Chat:
    """Chat completions, which tell no documents."""

    def __init__(self, bot, _):
        self._bot = bot

    def says(self, kind):
        said = TEXTS.get(kind)
        content = said if isinstance(said, str | None) else said.get("answer")
        says = {"hangs": Says(hangs=True), "fails": Says(status=400, body=f"what? {KEY}")}.get(kind)
        body = json.dumps({"model": "v7", "choices": [{"message": {"content": content}}]})
        self._bot.script.append(says or Says(body=body))

    def target(self, *, timeout=LONG):
        spec = chat_spec(base_url=f"{self._bot.url}/v1/", model="m", api_key=KEY, system="Be kind.", extra={"seed": 1})
        return HttpTarget(spec, timeout=timeout, per_second=None)

    @property
    def heard(self):
        found = []
        for one in self._bot.asked:
            assert one.path == "/v1/chat/completions"
            assert (one.body["model"], one.body["seed"]) == ("m", 1)
            system, *before, asked = one.body["messages"]
            assert system == {"role": "system", "content": "Be kind."}
            assert asked["role"] == "user"
            found.append((asked["content"], before, one.body["user"]))
        return found


class Function:
    def __init__(self, *_):
        self.heard = []
        self._kind = "right"

    def says(self, kind):
        self._kind = kind

    def target(self, *, timeout=LONG):
        def answer(question, history, conversation):
            self.heard.append((question, history, conversation))
            if self._kind == "hangs":
                Event().wait()
            if self._kind == "fails":
                raise LookupError(KEY)
            return TEXTS[self._kind]

        return FunctionTarget(answer, name="bot:answer", timeout=timeout, per_second=None)


class Command:
    def __init__(self, _, folder):
        self._folder = folder
        (folder / "bot.py").write_text(SCRIPT)
        self._kind = "right"

    def says(self, kind):
        self._kind = kind

    def target(self, *, timeout=LONG):
        said = self._folder / "said.json"
        if self._kind in TEXTS:
            said.write_text(json.dumps(TEXTS[self._kind]))
        kind = str(said) if self._kind in TEXTS else self._kind
        command = [sys.executable, "-S", str(self._folder / "bot.py"), kind, str(self._folder / "log")]
        return CommandTarget(command, timeout=timeout, per_second=None)

    @property
    def heard(self):
        asked = [json.loads(line) for line in (self._folder / "log").read_text().splitlines()]
        return [(one["question"], one["history"], one["conversation"]) for one in asked]


KINDS = {"http": Http, "chat": Chat, "function": Function, "command": Command}
TELLING = {name: kind for name, kind in KINDS.items() if name != "chat"}


@pytest.fixture
def bot():
    with chatbot() as running:
        yield running


@pytest.fixture(params=KINDS)
def scripted(request, bot, tmp_path):
    return KINDS[request.param](bot, tmp_path)


@pytest.fixture(params=TELLING)
def telling(request, bot, tmp_path):
    return TELLING[request.param](bot, tmp_path)


def ask(target, question=QUESTION, history=()):
    try:
        return target.ask(question, history=history, conversation=MARK)
    finally:
        target.close()


def failure(scripted, *, timeout=LONG):
    with pytest.raises(ChatbotFailed) as caught:
        ask(scripted.target(timeout=timeout))
    assert KEY not in str(caught.value)
    return caught.value.reason


def test_the_answer_is_what_the_chatbot_said(scripted):
    scripted.says("right")
    assert ask(scripted.target()).text == ANSWER


def test_the_chatbot_hears_question_history_and_mark_as_they_are(scripted):
    scripted.says("right")
    ask(scripted.target(), history=BEFORE)
    before = [{"role": "user", "content": "Hello {question}"}, {"role": "assistant", "content": "Hi."}]
    assert [(q, [*b], m) for q, b, m in scripted.heard] == [(QUESTION, before, MARK)]


def test_documents_and_version_are_read_where_they_are_told(telling):
    telling.says("documents")
    assert ask(telling.target()) == ChatbotAnswer(text=ANSWER, documents=("Refunds.", "Prices."), version="v7")


def test_the_number_of_documents_is_bounded(telling):
    telling.says("many")
    assert len(ask(telling.target()).documents) == MOST_DOCUMENTS


def test_every_answer_can_be_stored(scripted):
    scripted.says("storable")
    assert ask(scripted.target()).text == "a\ufffdb\ufffdc"


def test_an_answer_without_a_text_is_malformed(scripted):
    scripted.says("no answer")
    assert failure(scripted) == "malformed"


def test_an_answer_that_is_too_long_is_not_read_to_its_end(scripted):
    scripted.says("huge")
    assert failure(scripted) == "too_long"


def test_one_that_refuses_is_named_without_the_key(scripted):
    scripted.says("fails")
    assert failure(scripted) == "refused"


def test_one_that_hangs_is_given_up_in_time(scripted):
    scripted.says("hangs")
    assert failure(scripted, timeout=SHORT) == "timeout"


def test_the_place_holds_no_secret(scripted):
    target = scripted.target()
    target.close()
    assert target.place
    assert KEY not in target.place


def test_a_closed_target_is_out_of_reach(scripted):
    scripted.says("hangs")
    target = scripted.target()
    target.close()
    target.close()
    with pytest.raises(ChatbotFailed) as caught:
        target.ask(QUESTION, history=(), conversation=MARK)
    assert caught.value.reason == "out_of_reach"


def test_any_number_of_threads_may_ask(scripted):
    for _ in "1234":
        scripted.says("right")
    target = scripted.target()
    texts = []
    threads = [Thread(target=lambda: texts.append(target.ask("?", history=(), conversation=MARK).text)) for _ in "1234"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    target.close()
    assert texts == [ANSWER] * 4


# --- over HTTP alone


def http(bot, **changes):
    given = {"url": bot.url, "headers": {}, "body": TEMPLATE, "answer": parse_json_path("$.answer"), **changes}
    timeout = given.pop("timeout", LONG)
    return HttpTarget(HttpSpec(**given), timeout=timeout, per_second=None)


@pytest.mark.parametrize("trouble", [BUSY, BROKEN, Says(status=503), Says(status=408)])
def test_a_busy_chatbot_is_asked_again(bot, trouble):
    bot.script.append(trouble)
    assert ask(http(bot)).text == ANSWER
    assert len(bot.asked) == 2


def test_one_that_is_busy_for_longer_than_the_time_limit_is_not_waited_for(bot):
    bot.script.append(Says(status=429, headers={"Retry-After": "3600"}))
    with pytest.raises(ChatbotFailed, match="HTTP 429"):
        ask(http(bot))
    assert len(bot.asked) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_what_waiting_does_not_mend_ends_the_run(bot, status):
    bot.script.append(Says(status=status, body=f'{{"error": "no such key: {KEY}, or Bearer {KEY}"}}'))
    with pytest.raises(Fatal, match=f"HTTP {status} .*check the target's url and headers") as caught:
        ask(http(bot, headers={"Authorization": f"Basic {KEY}"}))
    assert KEY not in str(caught.value)


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(bot, status):
    bot.script.append(Says(status=status, headers={"Location": f"{bot.url}/elsewhere"}))
    with pytest.raises(Fatal, match="redirects are not followed"):
        ask(http(bot, headers={"Authorization": KEY}))
    assert len(bot.asked) == 1


@pytest.mark.parametrize("body", ["<html>", "", "[" * 100_000, '{"answer": ' + "9" * 5_000 + "}", b"\xff\xfe\x00"])
def test_what_is_no_json_is_malformed_and_quoted(bot, body):
    bot.script.append(Says(body=body))
    with pytest.raises(ChatbotFailed, match="sent no JSON") as caught:
        ask(http(bot))
    assert caught.value.reason == "malformed"
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize("part", ["head", "body"])
def test_one_that_drips_is_given_up_in_time(bot, part):
    bot.script.append(Says(drips=part))
    with pytest.raises(ChatbotFailed) as caught:
        ask(http(bot, timeout=SHORT))
    assert caught.value.reason == "timeout"


def test_a_connection_that_ends_is_out_of_reach(bot):
    bot.script.append(Says(hangs_up=True))
    with pytest.raises(ChatbotFailed) as caught:
        ask(http(bot))
    assert caught.value.reason == "out_of_reach"


def test_nobody_there_is_out_of_reach():
    with chatbot() as gone:
        pass
    with pytest.raises(ChatbotFailed) as caught:
        ask(http(gone))
    assert caught.value.reason == "out_of_reach"


def test_a_call_that_waits_ends_when_the_target_is_closed(bot):
    bot.script.append(Says(status=503, headers={"Retry-After": "50"}))
    target, failed = http(bot), []

    def asked():
        with pytest.raises(ChatbotFailed) as caught:
            target.ask("?", history=(), conversation=MARK)
        failed.append(caught.value.reason)

    thread = Thread(target=asked)
    thread.start()
    until("it was asked", lambda: bot.asked)
    target.close()
    thread.join()
    assert failed in (["refused"], ["out_of_reach"])


def test_secrets_come_from_files_and_go_into_the_header_alone(bot, tmp_path):
    (tmp_path / "key").write_text(f"{KEY}\n")
    target = http(bot, headers={"Authorization": f"Bearer ${{file:{tmp_path}/key}}"}, method="PUT")
    assert ask(target).text == ANSWER
    (asked,) = bot.asked
    assert (asked.method, asked.headers["authorization"]) == ("PUT", f"Bearer {KEY}")
    assert asked.headers[MARK_HEADER.lower()] == MARK
    assert KEY not in json.dumps(asked.body)


@pytest.mark.parametrize("url", ["", "ftp://bot", "bot.example/chat", "http://", "file:///etc/passwd", "http://[::1"])
def test_an_address_that_is_none_is_refused(bot, url):
    with pytest.raises(WrongSettings, match="http or https URL"):
        http(bot, url=url)


def test_a_key_that_no_header_can_hold_is_refused_without_repeating_it(bot):
    with pytest.raises(WrongSettings, match="not allowed in a header") as caught:
        http(bot, headers={"Authorization": f"{KEY}\r\nX: y"})
    assert KEY not in str(caught.value)


# --- commands and functions alone


def command(script, *, timeout=LONG):
    return CommandTarget(["/bin/sh", "-c", script], timeout=timeout, per_second=None)


def test_a_command_need_not_read_its_input():
    assert ask(command("echo fine"), question="x" * 1_000_000).text == "fine"


def test_output_that_is_no_utf8_is_read_as_far_as_it_goes():
    assert ask(command("printf 'a\\377b'")).text == "a\ufffdb"


def test_a_command_that_writes_for_ever_is_ended():
    with pytest.raises(ChatbotFailed) as caught:
        ask(command("yes"))
    assert caught.value.reason == "too_long"


def test_children_that_a_command_leaves_are_not_waited_for_and_ended(tmp_path):
    answer = ask(command(f"sleep 600 & echo $! > {tmp_path}/child; echo fine"))
    assert answer.text == "fine"
    child = int((tmp_path / "child").read_text())
    until("the child is gone", lambda: not alive(child))


def test_children_of_a_command_that_hangs_are_ended(tmp_path):
    with pytest.raises(ChatbotFailed):
        ask(command(f"sleep 600 & echo $! > {tmp_path}/child; wait", timeout=SHORT))
    until("the child is gone", lambda: not alive(int((tmp_path / "child").read_text())))


def test_a_command_that_closes_its_output_and_goes_on_is_late():
    with pytest.raises(ChatbotFailed) as caught:
        ask(command("exec >&-; sleep 600", timeout=SHORT))
    assert caught.value.reason == "timeout"


def test_a_broken_object_is_quoted():
    with pytest.raises(ChatbotFailed, match=r'wrote no JSON: \{"answer": oh'):
        ask(command("""echo '{"answer": oh'"""))


@pytest.mark.parametrize("name", ["/nowhere/bot", "no\x00thing"])
def test_a_command_that_cannot_be_started_ends_the_run(name):
    with pytest.raises(Fatal, match="cannot be started"):
        ask(CommandTarget([name], timeout=LONG, per_second=None))


def test_a_function_that_ends_the_program_only_fails():
    with pytest.raises(ChatbotFailed, match="bot raised SystemExit"):
        ask(FunctionTarget(lambda *_: sys.exit(4), name="bot", timeout=LONG, per_second=None))


@pytest.mark.parametrize("said", [None, 3, b"bytes", {"answer": "a", "documents": "one"}, ["a"]])
def test_what_a_function_may_not_return(said):
    with pytest.raises(ChatbotFailed) as caught:
        ask(FunctionTarget(lambda *_: said, name="bot", timeout=LONG, per_second=None))
    assert caught.value.reason == "malformed"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nosuchmodule:answer", "No module named"),
        ("json:answer", "has no attribute"),
        ("json", "AttributeError"),
        (":answer", "ValueError"),
        ("json:__name__", "is not a function"),
        ("brokenbot:answer", "ZeroDivisionError"),
    ],
)
def test_a_function_that_is_not_there_is_named(tmp_path, monkeypatch, name, why):
    (tmp_path / "brokenbot.py").write_text("1 / 0")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(WrongSettings, match=why):
        load_function(name)


def alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    return stat.rpartition(")")[2].split()[0] != "Z"  # a zombie has ended
