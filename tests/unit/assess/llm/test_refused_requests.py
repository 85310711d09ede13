"""Requests that a server refuses permanently, and what the errors may say."""

from __future__ import annotations

import traceback

import pytest

from monitor.assess.llm.client import ChatModel
from monitor.assess.llm.exchange import NoAnswer, Purpose, Spend
from monitor.core.errors import Fatal, WrongSettings
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.assess.llm import GOOD, agree, failure, request
from tests.factories.assess.llm_failures import TRIES
from tests.servers.llm import (
    KEY,
    Trouble,
    completed,
    model_refusal,
    refusal,
)

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
        (completed("", "content_filter"), "content_filter"),
        (completed(GOOD, "content_filter"), "content_filter"),
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


@pytest.mark.parametrize(
    ("asked", "quote"),
    [
        (
            "Why is a bucket that does not\nexist billed?",
            "cannot parse 'Why is a bucket that does not exist billed?'",
        ),
        ("Where do I get an API key?", "cannot parse 'Where do I get an API key?'"),
    ],
)
def test_a_refusal_that_repeats_a_question_is_about_that_question(server, make, asked, quote):
    server.chat_script.append(refusal(400, quote))
    error = failure(make(), request(asked))
    assert isinstance(error, NoAnswer)
    assert error.reason == "rejected"


@pytest.mark.parametrize(
    "quote",
    [
        "API key not valid. Please pass a valid API key.",  # Gemini
        "Invalid model: m",  # Mistral
        "m is not a valid model ID",  # OpenRouter
        "Model Not Exist",  # DeepSeek
    ],
)
def test_settings_that_a_server_refuses_with_400_are_fatal(server, make, quote):
    server.chat_script.append(refusal(400, quote))
    assert isinstance(failure(make()), Fatal)


def test_a_text_that_a_filter_stops_stops_nothing_else(server, make):
    server.chat_script.append(refusal(403, "Your chosen model requires moderation and your input was flagged"))
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "rejected"


def test_the_servers_message_holds_only_characters_that_can_be_stored(server, make):
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
