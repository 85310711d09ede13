"""Failures that the scripted LLM server plays."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from tests.rig.assess.llm_client import JSON_SCHEMA, ask, content
from tests.rig.waiting import until
from tests.servers.llm import (
    CUT,
    HANG_UP,
    KEY,
    completed,
    hang,
    llm_server,
    model_refusal,
    not_json,
    refusal,
    server_error,
    too_many_requests,
    trickle,
)


def ask_alone(server) -> Any:
    """Asks over a connection of its own."""
    with openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client:
        return ask(client)


@pytest.mark.parametrize(
    ("trouble", "error"),
    [
        (HANG_UP, openai.APIConnectionError),
        (CUT, openai.APIConnectionError),
        (server_error(), openai.InternalServerError),
        (too_many_requests(), openai.RateLimitError),
        (refusal(403, "Not you", code="forbidden"), openai.PermissionDeniedError),
        (refusal(529, "Overloaded"), openai.InternalServerError),
    ],
    ids=lambda value: getattr(value, "body", None) or getattr(value, "__name__", "no answer"),
)
@pytest.mark.parametrize("script", ["script", "chat_script"])
def test_a_trouble_is_met_once(server, client, trouble, error, script):
    getattr(server, script).extend([None, trouble])
    ask(client)
    with pytest.raises(error):
        ask(client)
    ask(client)
    assert len(server.chats) == len(server.requests) == 3
    assert server.in_flight == 0


def test_a_rate_limit_says_when_to_come_back(server, client):
    server.script.extend([too_many_requests(), too_many_requests(0.5)])
    said_so = []
    for _ in range(2):
        with pytest.raises(openai.RateLimitError) as caught:
            ask(client)
        said_so.append(caught.value.response.headers.get("Retry-After"))
    assert said_so == [None, "0.5"]
    assert caught.value.code == "rate_limit_exceeded"


def test_the_sdk_gets_through_by_trying_again(server, client):
    server.script.append(too_many_requests(0.01))
    assert content(ask(client.with_options(max_retries=1)))


def test_something_else_than_an_api_answers(server, client):
    server.script.append(not_json())
    assert ask(client).startswith("<!doctype html>")  # the SDK hands it over as it is


@pytest.mark.parametrize(
    ("content_said", "reason"), [('{"supported": tru', "stop"), ('{"supp', "length"), ("", "content_filter")]
)
def test_the_model_says_what_was_not_asked_for(server, client, content_said, reason):
    server.script.append(completed(content_said, reason))
    answer = ask(client, response_format=JSON_SCHEMA)
    assert (content(answer), answer.choices[0].finish_reason) == (content_said, reason)
    assert answer.usage.completion_tokens == -(-len(content_said) // 4)


def test_the_model_refuses(server, client):
    server.script.append(model_refusal("I would rather not."))
    message = ask(client).choices[0].message
    assert (message.content, message.refusal) == (None, "I would rather not.")


@pytest.mark.parametrize("trouble", [hang(0.05), trickle(0.05)])
def test_an_answer_may_take_its_time(server, client, trouble):
    server.script.append(trouble)
    assert content(ask(client))


def test_a_silent_server_makes_the_client_give_up_and_forgets_it(server, client):
    server.script.append(hang(600))
    with pytest.raises(openai.APITimeoutError):
        ask(client, timeout=0.05)
    until("the server has noticed", lambda: server.in_flight == 0)
    assert server.calls == 0


@pytest.mark.parametrize("trouble", [hang(600), trickle(600)], ids=["hang", "trickle"])
def test_the_end_waits_for_no_answer(trouble):
    with ThreadPoolExecutor() as pool:
        with llm_server(script=deque([trouble])) as server:
            asked = pool.submit(ask_alone, server)
            until("it has come", lambda: server.in_flight == 1)
            ask_alone(server)  # another is answered in the meantime
        assert isinstance(asked.exception(), openai.APIConnectionError)


def test_leaves_no_thread_behind_for_a_connection_that_is_kept():
    before = threading.enumerate()
    with llm_server() as server:
        kept = openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0)
        ask(kept)
    assert threading.enumerate() == before
    with kept, pytest.raises(openai.APIConnectionError):
        ask(kept)


def test_counts_how_many_it_is_asked_at_once(server):
    together = threading.Barrier(4, timeout=30)
    server.answer = lambda _: str(together.wait())
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda _: content(ask_alone(server)), range(8)))
    assert sorted(answers) == sorted([*"0123"] * 2)
    assert server.in_flight == 0
    assert server.most_in_flight == 4


def test_one_after_the_other_is_never_two_at_once(server, client):
    with client.copy() as other:
        for number in range(100):
            ask((client, other)[number % 2])
    assert server.most_in_flight == 1


def test_takes_its_time_if_it_is_told_to(server, client):
    server.latency = 600
    with pytest.raises(openai.APITimeoutError):
        ask(client, timeout=0.05)
    server.script.append(server_error())  # not a regular answer
    with pytest.raises(openai.InternalServerError):
        ask(client)


def test_fails_as_often_as_it_is_told_to(server, client):
    server.fail_rate = 0.2
    failures = []
    for number in range(1, 16):
        try:
            ask(client)
        except openai.APIError as error:
            failures.append((number, type(error)))
    kinds = [openai.InternalServerError, openai.APIConnectionError, openai.RateLimitError]
    assert failures == list(zip((5, 10, 15), kinds, strict=True))
