"""Failures of a server that may pass: the request is sent again, and is retriable in the end."""

from __future__ import annotations

import json
import socket
import traceback
from time import monotonic

import pytest

from monitor.core.errors import Retriable
from tests.factories.assess.llm import ASKED, OPINION, agree, failure, raw_server
from tests.factories.assess.llm_failures import DATED, LIMIT, TRIES
from tests.servers.llm import (
    CHAT_MODEL,
    CUT,
    HANG_UP,
    Trouble,
    hang,
    not_json,
    refusal,
    server_error,
    too_many_requests,
    trickle,
)


def limited(**headers: str) -> Trouble:
    return Trouble(status=429, headers={name.replace("_", "-"): value for name, value in headers.items()}, body=LIMIT)


PASSING = {
    "429 without a word when": too_many_requests(),
    "429 in milliseconds": limited(retry_after_ms="5"),
    "429 that may be asked again at once": too_many_requests(0),
    "429 until a date that is past": Trouble(
        status=429, headers={**DATED, "Retry-After": "Wed, 21 Oct 2015 07:00:00 GMT"}, body=LIMIT
    ),
    "429 until nobody knows when": limited(retry_after="soon"),
    "408": refusal(408, "timeout"),
    "409": refusal(409, "conflict"),
    "500": server_error(),
    "502 of a proxy": Trouble(status=502, body="<html>Bad gateway</html>"),
    "503": refusal(503, "overloaded"),
    "529 without a body": Trouble(status=529, body=""),
    "500 that breaks off": Trouble(status=500, body=json.dumps({"error": {"message": "x" * 100}}), cut=True),
    "hangs up": HANG_UP,
    "breaks off": CUT,
    "not JSON": not_json(),
    "nothing": Trouble(body=""),
    "half a JSON": Trouble(body='{"choices": ['),
    "JSON of another kind": Trouble(body='"text"'),
    "null": Trouble(body="null"),
    "no choices": Trouble(body='{"choices": []}'),
    "choices that are none": Trouble(body='{"choices": {"message": {}}}'),
    "a choice without a message": Trouble(body='{"choices": [{"finish_reason": "stop"}]}'),
    "a message that is none": Trouble(body='{"choices": [{"message": "hello"}]}'),
    "an error that calls itself a success": Trouble(body='{"error": {"message": "overloaded"}}'),
    "JSON as deep as the sea": Trouble(body="[" * 200_000),
    "an object as deep as the sea": Trouble(body='{"choices":' * 100_000),
    "a body without end": Trouble(body="x" * 20 * 2**20),
}


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
def test_a_passing_failure_is_tried_again(server, budget, make, trouble):
    server.chat_script.append(trouble)
    reply = make().ask(ASKED)
    assert (reply.value, reply.model, reply.repaired) == (OPINION, CHAT_MODEL, False)
    assert reply.spend.calls == 2
    agree(server, budget, reply.spend)


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
def test_a_lasting_failure_is_retriable_in_the_end(server, budget, make, trouble):
    server.chat_script.extend([trouble] * 10)
    error = failure(make())
    assert isinstance(error, Retriable)
    assert len(server.chats) == TRIES
    agree(server, budget)


def test_a_server_that_hangs_is_asked_again_and_given_up_in_the_end(server, budget, make):
    server.chat_script.append(hang(60))
    assert make(timeout=0.25).ask(ASKED).spend.calls == 2
    agree(server, budget)
    server.chat_script.extend([hang(60)] * TRIES)
    error = failure(make(timeout=0.05))
    assert isinstance(error, Retriable)
    assert "in time" in str(error)
    assert budget.calls() == 2 + TRIES


def test_a_server_that_trickles_is_given_up(server, make):
    server.chat_script.extend([trickle(2.0)] * 4)
    error = failure(make(timeout=0.05), deadline=monotonic() + 0.1)
    assert isinstance(error, Retriable)
    assert "in time" in str(error)


@pytest.mark.parametrize("status", [b"200 OK", b"500 Internal Server Error", b"400 Bad Request"])
def test_a_body_that_stops_in_its_middle_is_retriable(make, status):
    head = b"HTTP/1.1 " + status + b"\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
    with raw_server(head + b'{"choices": [', then_hang=True) as (url, _):
        error = failure(make(base_url=url, timeout=0.05))
    assert isinstance(error, Retriable)


@pytest.mark.parametrize(
    "answer", [b"", b"\0\0\0\0", b"220 smtp ready\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"]
)
def test_an_answer_that_is_not_http_is_retriable(make, answer):
    with raw_server(answer) as (url, heads):
        assert isinstance(failure(make(base_url=url, timeout=0.5)), Retriable)
    assert len(heads) == TRIES


def test_a_body_that_is_not_compressed_as_it_says_is_retriable(make):
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n"
    with raw_server(head + b"oops") as (url, _):
        assert isinstance(failure(make(base_url=url)), Retriable)


def test_a_body_in_another_encoding_is_retriable(make):
    with raw_server(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\xff\xff\xff\xff") as (url, _):
        assert isinstance(failure(make(base_url=url)), Retriable)


def test_a_server_that_is_not_there_is_retriable_and_named_without_its_password(make):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        host = f"127.0.0.1:{taken.getsockname()[1]}"
        error = failure(make(base_url=f"http://somebody:secret@{host}/v1"))
    assert isinstance(error, Retriable)
    assert host in str(error)
    assert "secret" not in "".join(traceback.format_exception(error))
