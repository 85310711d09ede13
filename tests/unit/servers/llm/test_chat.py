"""Chat completions of the scripted LLM server."""

from __future__ import annotations

import openai
import pytest

from tests.rig.assess.llm_client import JSON_OBJECT, JSON_SCHEMA, SYSTEM, USER, Verdict, ask, content, json_schema
from tests.servers.llm import (
    CHAT_MODEL,
    CUT,
    HANG_UP,
    KEY,
    completed,
    llm_server,
    too_many_requests,
)


def test_says_something_that_is_the_same_for_the_same_request(client):
    assert content(ask(client)) == content(ask(client)) != content(ask(client, messages=[USER]))


@pytest.mark.parametrize(("answer", "expected"), [("as it is", "as it is"), ({"a": [1]}, '{"a": [1]}'), (None, "null")])
def test_says_what_the_test_wants(server, client, answer, expected):
    server.answer = lambda _: answer
    assert content(ask(client)) == expected


def test_the_answer_may_depend_on_the_request(server, client):
    server.answer = lambda request: request.user.upper()
    assert content(ask(client)) == "IS IT SAID?"


def test_keeps_what_was_asked(server, client):
    schema = Verdict.model_json_schema()
    parts = {"role": "user", "content": [{"type": "text", "text": "Or"}, {"type": "text", "text": " not?"}]}
    ask(client, messages=[SYSTEM, USER, parts], response_format=json_schema(schema), max_completion_tokens=50)
    (chat,) = server.chats
    assert (chat.model, chat.system, chat.user) == (CHAT_MODEL, "Answer in JSON.", "Is it said?\nOr not?")
    assert (chat.response_format, chat.schema_name, chat.schema) == ("json_schema", "verdict", schema)
    assert chat.max_tokens == 50
    assert chat.messages == chat.body["messages"] == [SYSTEM, USER, parts]
    assert server.requests == [chat.body]


def test_keeps_what_was_not_asked(server, client):
    ask(client, response_format={"type": "text"})
    (chat,) = server.chats
    assert (chat.response_format, chat.schema_name, chat.schema, chat.max_tokens) == (None, None, None, None)


def test_bills_a_token_for_four_characters(server, client):
    server.answer = lambda _: "12345"
    usage = ask(client, messages=[{"role": "user", "content": "123456789"}]).usage
    assert (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens) == (3, 2, 5)
    more = ask(client, response_format=json_schema(Verdict.model_json_schema())).usage
    assert more.prompt_tokens > 30
    assert (server.calls, server.tokens) == (2, 5 + more.total_tokens)


def test_bills_what_went_out_whole(server, client):
    server.chat_script.extend([completed("odd"), too_many_requests(), HANG_UP, CUT])
    ask(client)
    for _ in range(3):
        with pytest.raises(openai.APIError):
            ask(client)
    assert server.calls == 1


def test_the_sdk_parses_what_it_made_up(client):
    parsed = client.chat.completions.parse(model=CHAT_MODEL, messages=[USER], response_format=Verdict)
    assert parsed.choices[0].message.parsed.supported is True


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"model": "gpt-none"}, "gpt-none"),
        ({"messages": []}, "lacks"),
        ({"messages": [{"role": "nobody", "content": "a"}]}, "lacks"),
        ({"stream": True}, "stream"),
        ({"messages": [USER], "response_format": {"type": "json_object"}}, "must contain the word 'json'"),
        ({"response_format": json_schema({"type": "string"})}, "must be a JSON Schema of 'type"),
        ({"response_format": json_schema({"type": "object", "properties": {}})}, "additionalProperties"),
        (
            {"response_format": json_schema({**Verdict.model_json_schema(), "required": ["reason"]})},
            "including every key",
        ),
        ({"response_format": json_schema(Verdict.model_json_schema(), name="two words")}, "name"),
    ],
)
def test_refuses_what_openai_refuses(client, asked, message):
    with pytest.raises((openai.BadRequestError, openai.NotFoundError), match=message):
        ask(client, **asked)


@pytest.mark.parametrize(
    ("settings", "refused", "taken", "message"),
    [
        (
            {"structured": "json_object"},
            {"response_format": JSON_SCHEMA},
            {"response_format": JSON_OBJECT},
            "json_schema",
        ),
        (
            {"structured": "text"},
            {"response_format": JSON_OBJECT},
            {"response_format": {"type": "text"}},
            "json_object",
        ),
        (
            {"takes_max_tokens": False},
            {"max_tokens": 9},
            {"max_completion_tokens": 9},
            "Use 'max_completion_tokens' inst",
        ),
        ({"takes_temperature": False}, {"temperature": 0}, {"temperature": 1}, "'temperature' does not support 0 with"),
    ],
)
def test_behaves_like_a_lesser_server(settings, refused, taken, message):
    with (
        llm_server(**settings) as server,
        openai.OpenAI(base_url=server.base_url, api_key=KEY, max_retries=0) as client,
    ):
        with pytest.raises(openai.BadRequestError, match=message):
            ask(client, **refused)
        assert content(ask(client, **taken))
        assert content(ask(client))
    assert len(server.chats) == 3
    assert server.calls == 2
