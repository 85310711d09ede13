"""Chat completions that come in pieces."""

from __future__ import annotations

import json

import pytest

from monitor.probe.target import ChatbotFailed
from monitor.probe.targets.http import HttpTarget, chat_spec
from monitor.probe.targets.stream import whole_completion
from tests.servers.chatbot import KEY, Says


def events(*pieces, end="data: [DONE]\n\n", finish=None):
    """As OpenAI has them: the first piece names the role, the last one no text but the use of tokens."""
    said = [
        {"model": "m-7", "choices": [{"delta": {"role": "assistant", "content": None}, "finish_reason": None}]},
        *({"model": "m-7", "choices": [{"delta": {"content": piece}, "finish_reason": None}]} for piece in pieces),
        {"model": "m-7", "choices": [{"delta": {}, "finish_reason": finish}]},
        {"model": "m-7", "choices": [], "usage": {"total_tokens": 9}},
    ]
    lines = [f"data: {json.dumps(one, ensure_ascii=False)}\n\n" for one in said]
    return ": a comment\n\n" + "event: message\n".join(lines) + end


def test_the_pieces_make_up_the_answer():
    whole = whole_completion(events("A refund", " takes\u2028\n", "14 days.").encode())
    assert whole == {"model": "m-7", "choices": [{"message": {"content": "A refund takes\u2028\n14 days."}}]}
    assert whole_completion(events("Hi", end="", finish="stop").replace("\n", "\r\n").encode()) == {
        "model": "m-7",
        "choices": [{"message": {"content": "Hi"}}],
    }


@pytest.mark.parametrize(
    "stream",
    [
        events("A refund takes", end=""),
        "data: {\n\n",
        "",
        events("A refund", end='data: {"error": {"message": "overloaded"}}\n\ndata: [DONE]\n\n'),
    ],
)
def test_a_stream_without_its_end_is_no_answer(stream):
    with pytest.raises(ValueError, match=r"."):
        whole_completion(stream.encode())


@pytest.fixture
def target(bot):
    spec = chat_spec(base_url=f"{bot.url}/v1", model="m", api_key=KEY, system=None, extra={"stream": True})
    opened = HttpTarget(spec, timeout=60, per_second=None)
    yield opened
    opened.close()


def streams(text):
    return Says(body=text, headers={"Content-Type": "text/event-stream; charset=utf-8"})


def test_a_chat_server_that_only_streams_is_read(bot, target):
    bot.script.append(streams(events("A refund", " takes 14 days.")))
    answer = target.ask("Q", history=[], conversation="c")
    assert (answer.text, answer.version) == ("A refund takes 14 days.", "m-7")
    assert bot.asked[0].body["stream"] is True


@pytest.mark.parametrize(
    ("stream", "said"),
    [(events("A refund", end=""), "a stream that breaks off: "), (events(), r"nothing at \$.choices")],
)
def test_a_stream_without_an_answer_fails_this_item_and_quotes_no_key(bot, target, stream, said):
    bot.script.append(streams(f": {KEY}\n\n{stream}"))
    with pytest.raises(ChatbotFailed, match=said) as caught:
        target.ask("Q", history=[], conversation="c")
    assert caught.value.reason == "malformed"
    assert KEY not in str(caught.value)
