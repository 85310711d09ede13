"""What a server may do to a request, and what becomes of the call, the budget and the accounts."""

from __future__ import annotations

import json
import socket
import traceback
from time import monotonic

import pytest

from monitor.assess.llm.client import ChatModel, Prices
from monitor.assess.llm.exchange import BudgetSpent, NoAnswer, Purpose, Spend
from monitor.core.errors import Fatal, Retriable, WrongSettings
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.llm import ASKED, GOOD, OPINION, agree, failure, raw_server, request
from tests.servers.llm import (
    CHAT_MODEL,
    CUT,
    HANG_UP,
    KEY,
    Trouble,
    hang,
    model_refusal,
    not_json,
    refusal,
    said,
    server_error,
    too_many_requests,
    trickle,
)

TRIES = 4
DATED = {"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:28:20 GMT"}
LIMIT = refusal(429, "Rate limit reached").body


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
def test_what_passes_is_asked_again(server, budget, make, trouble):
    server.chat_script.append(trouble)
    reply = make().ask(ASKED)
    assert (reply.value, reply.model, reply.repaired) == (OPINION, CHAT_MODEL, False)
    assert reply.spend.calls == 2
    agree(server, budget, reply.spend)


@pytest.mark.parametrize("trouble", PASSING.values(), ids=PASSING.keys())
def test_what_does_not_pass_is_retriable_in_the_end(server, budget, make, trouble):
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
    assert budget.taken.total() == 2 + TRIES


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
def test_what_speaks_no_http_is_retriable(make, answer):
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


# --- how long is waited ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "20"}, 20.0),
        ({"Retry-After": "0.4"}, 0.4),
        ({"retry-after-ms": "1500", "Retry-After": "20"}, 1.5),
        (DATED, 20.0),
        ({"Retry-After": "0"}, 0.25),  # never in a busy loop
        ({"Retry-After": "-5"}, 0.25),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_as_long_is_waited_as_the_server_says(server, budget, make, clock, status, headers, seconds):
    server.chat_script.append(Trouble(status=status, headers=headers, body=LIMIT))
    assert make().ask(ASKED).spend.calls == 2
    assert clock.waits == [seconds]
    agree(server, budget)


def test_waits_grow_where_the_server_does_not_say(server, make, clock):
    server.chat_script.extend([too_many_requests()] * TRIES)
    assert isinstance(failure(make()), Retriable)
    assert len(clock.waits) == TRIES - 1
    assert all(base / 2 <= wait <= base for base, wait in zip([0.5, 1.0, 2.0], clock.waits, strict=True))


def test_a_long_wait_is_left_to_the_caller_who_learns_how_long(server, budget, make, clock):
    server.chat_script.append(too_many_requests(31))
    error = failure(make())
    assert (type(error), error.retry_after) == (Retriable, 31.0)
    assert clock.waits == []
    assert len(server.chats) == 1
    agree(server, budget)


def test_a_wait_beyond_the_deadline_is_not_begun(server, budget, make, clock):
    server.chat_script.append(too_many_requests(5))
    error = failure(make(), deadline=clock.now + 5)
    assert (type(error), error.retry_after) == (Retriable, 5.0)
    assert clock.waits == []
    agree(server, budget)


def test_a_wait_that_ends_before_the_deadline_is_waited(server, make, clock):
    server.chat_script.append(too_many_requests(5))
    assert make().ask(ASKED, deadline=clock.now + 6).value == OPINION


def test_a_server_that_always_says_later_is_given_up(server, budget, make, clock):
    server.chat_script.extend([too_many_requests(7)] * 10)
    assert failure(make()).retry_after == 7.0
    assert clock.waits == [7.0] * 3
    agree(server, budget)


@pytest.mark.parametrize("seconds", [0.0, -10.0])
def test_nothing_is_sent_or_taken_when_the_deadline_is_past(server, budget, make, clock, seconds):
    assert isinstance(failure(make(), deadline=clock.now + seconds), Retriable)
    assert server.arrived == 0
    agree(server, budget)


def test_the_deadline_cuts_a_request_short(server, budget, make):
    server.chat_script.append(hang(60))
    error = failure(make(), deadline=monotonic() + 0.2)
    assert isinstance(error, Retriable)
    assert budget.taken.total() == 1
    assert len(server.chats) <= 1  # none where the machine is so busy that it did not get there


def test_a_deadline_that_leaves_too_little_time_says_nothing_against_the_server(server, make):
    model = make()
    server.chat_script.extend([hang(60)] * 6)
    for _ in range(6):
        failure(model, deadline=monotonic() + 0.03)
    assert model.ask(ASKED).value == OPINION


# --- what is not asked again -----------------------------------------------------------------------------------------

REFUSED = {
    "no": (refusal(400, "Invalid value"), "rejected"),
    "moderated": (refusal(400, "The prompt was filtered", code="content_filter"), "rejected"),
    "context length": (
        refusal(
            400, "This model's maximum context length is 8192 tokens, yours has 9000", code="context_length_exceeded"
        ),
        "too_long",
    ),
    "context length of vLLM": (
        refusal(
            400,
            "'max_tokens' or 'max_completion_tokens' is too large: 4096. This model's maximum context length is 2048 "
            "tokens and your request has 1000 input tokens.",
        ),
        "too_long",
    ),
    "context size of llama.cpp": (
        refusal(400, "the request exceeds the available context size, try increasing it"),
        "too_long",
    ),
    "413": (refusal(413, "Request too large"), "too_long"),
    "422": (refusal(422, "Unprocessable"), "rejected"),
    "an empty body": (Trouble(status=400, body=""), "rejected"),
    "an error that is a list": (Trouble(status=400, body='[{"error": "no"}]'), "rejected"),
    "an error that is a word": (Trouble(status=400, body='{"error": "no"}'), "rejected"),
    "a message that is a number": (Trouble(status=400, body='{"error": {"message": 5}}'), "rejected"),
    "a message as long as a book": (refusal(400, "no " * 10_000), "rejected"),
}


@pytest.mark.parametrize(("trouble", "reason"), REFUSED.values(), ids=REFUSED.keys())
def test_a_request_that_is_refused_is_not_sent_again(server, budget, make, trouble, reason):
    server.chat_script.append(trouble)
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == reason
    assert len(str(error)) < 500
    assert len(server.chats) == 1
    agree(server, budget, error.spend)


@pytest.mark.parametrize(
    ("trouble", "reason"),
    [
        (model_refusal("I'm sorry, I cannot help with that."), "model_refused"),
        (said("", "content_filter"), "content_filter"),
        (said(GOOD, "content_filter"), "content_filter"),
    ],
)
def test_a_model_that_declines_is_not_asked_again(server, budget, make, trouble, reason):
    server.chat_script.append(trouble)
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == reason
    assert len(server.chats) == 1
    agree(server, budget, error.spend)


@pytest.mark.parametrize("status", [401, 403, 404])
def test_a_wrong_key_or_model_is_fatal_at_once(server, budget, make, status):
    server.chat_script.append(refusal(status, f"not with Bearer {KEY}, never"))
    error = failure(make())
    assert isinstance(error, Fatal)
    assert "MONITOR_LLM__" in str(error)
    assert len(server.chats) == 1
    agree(server, budget)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500])
def test_the_key_is_in_no_message_though_the_server_repeats_it(server, make, status):
    server.chat_script.extend([refusal(status, f"{'x' * 290} {KEY} and again {KEY}")] * TRIES)
    said_of_it = "".join(traceback.format_exception(failure(make())))
    assert KEY not in said_of_it
    assert KEY[:12] not in said_of_it


def test_a_wrong_key_is_fatal_and_not_shown(server, budget, make):
    server.key = "another"
    error = failure(make())
    assert isinstance(error, Fatal)
    assert KEY not in "".join(traceback.format_exception(error))
    agree(server, budget)


def test_an_unknown_model_is_fatal_and_named(make):
    error = failure(make(model="no-such-model"))
    assert isinstance(error, Fatal)
    assert "no-such-model" in str(error)


def test_what_the_server_says_can_be_stored(server, make):
    server.chat_script.extend([refusal(429, "wait\0 a \ud800 bit\n\x1b[31m")] * TRIES)
    words = str(failure(make()))
    assert "\0" not in words
    words.encode()


@pytest.mark.parametrize("key", ["", " ", "sk-with-newline\n", "sk two", "schlüssel"])
def test_a_key_that_cannot_be_one_is_refused_without_showing_it(key):
    with pytest.raises(WrongSettings) as caught:
        ChatModel(model="m", api_key=key, base_url=None, purpose=Purpose.JUDGE, budget=MemoryBudget())
    assert not key.strip() or key.strip() not in str(caught.value)


def test_data_that_are_too_long_are_not_sent(server, budget, make):
    error = failure(make(max_input_chars=100), request("x" * 200))
    assert isinstance(error, NoAnswer)
    assert (error.reason, error.spend) == ("too_long", Spend())
    assert server.arrived == 0
    agree(server, budget)


# --- the budget ------------------------------------------------------------------------------------------------------


def test_a_spent_budget_sends_nothing(server, make):
    budget = MemoryBudget(most_calls=0)
    error = failure(make(budget=budget))
    assert isinstance(error, BudgetSpent)
    assert error.retry_after == 60.0
    assert server.arrived == 0
    agree(server, budget)


@pytest.mark.parametrize("trouble", [server_error(), said("what?"), said("{", "length")])
def test_a_budget_that_is_spent_on_the_way_ends_the_call(server, make, trouble):
    server.chat_script.append(trouble)
    budget = MemoryBudget(most_calls=1)
    assert isinstance(failure(make(budget=budget)), BudgetSpent)
    assert len(server.chats) == 1
    agree(server, budget)


def test_a_budget_that_cannot_be_asked_ends_the_call_and_is_asked_again_by_the_next(server, make):
    class Away(MemoryBudget):
        def take(self, *_, **__):
            raise Retriable("the database is out of reach")

    model = make(budget=Away())
    for _ in range(10):
        assert "database" in str(failure(model))
    assert server.arrived == 0


def test_a_request_that_the_pause_of_the_server_holds_back_is_not_taken_from_the_budget(server, budget, make, clock):
    model = make()
    server.chat_script.append(too_many_requests(100))
    failure(model)
    for _ in range(3):
        error = failure(model, deadline=clock.now + 50)
        assert isinstance(error, Retriable)
        assert error.retry_after == 100.0
    assert len(server.chats) == 1
    agree(server, budget)


@pytest.mark.parametrize(
    "script",
    [
        [None],
        [said("what?"), None],
        [said("what?"), said("what?")],
        [said('{"supported": tr', "length"), None],
        [server_error(), said("what?"), HANG_UP, None],
        [CUT, said("what?"), too_many_requests(), refusal(400, "too long")],
        [said("what?"), server_error(), refusal(400, "no")],
        [server_error(), server_error(), refusal(400, "no")],
        [server_error(), model_refusal("no")],
        [refusal(400, "'temperature' is not supported"), said("what?"), refusal(400, "'response_format'"), None],
    ],
)
def test_all_accounts_agree(server, budget, make, script):
    server.chat_script.extend(script)
    try:
        spend = make().ask(ASKED).spend
    except NoAnswer as error:
        spend = error.spend
    assert not server.chat_script
    agree(server, budget, spend)


def test_tokens_have_the_price_of_their_direction(server, budget, make):
    reply = make(prices=Prices(input=3.0, output=15.0)).ask(ASKED)
    chat = server.chats[0]
    assert reply.spend.input_tokens == chat.prompt_tokens
    assert reply.spend.output_tokens == server.tokens - chat.prompt_tokens
    assert reply.spend.cost == pytest.approx((3 * reply.spend.input_tokens + 15 * reply.spend.output_tokens) / 1e6)
    assert budget.counted[Purpose.SIDECAR] == reply.spend


def test_without_prices_there_is_no_cost(make, budget):
    assert make(prices=None).ask(ASKED).spend.cost is None
    assert budget.counted[Purpose.SIDECAR].cost is None


@pytest.mark.parametrize(
    "usage",
    [
        None,
        [],
        "many",
        {},
        {"prompt_tokens": None},
        {"prompt_tokens": -5, "completion_tokens": True},
        {"prompt_tokens": "7"},
    ],
)
def test_a_server_that_does_not_say_what_was_used_is_believed_in_the_rest(server, make, usage):
    body = {"choices": [{"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}], "usage": usage}
    server.chat_script.append(Trouble(body=json.dumps(body)))
    reply = make().ask(ASKED)
    assert reply.value == OPINION
    assert reply.spend == Spend(calls=1, cost=0.0)
