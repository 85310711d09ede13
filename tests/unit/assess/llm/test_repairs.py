"""An answer that does not fit is asked for once more, with what is wrong."""

from __future__ import annotations

import json

import pytest

from monitor.assess.llm.exchange import NoAnswer
from tests.factories.assess.llm import ANOTHER, ASKED, GOOD, OPINION, agree, failure
from tests.servers.llm import completed


@pytest.mark.parametrize(
    "first",
    [
        "what?",
        "",
        '{"supported": "true", "why": "x"}',
        '{"supported": true, "why": "x", "more": 1}',
        f"{GOOD}{ANOTHER}",
        "{" * 2_000,
    ],
)
def test_an_answer_that_does_not_fit_is_sent_back_once_with_what_is_wrong(server, budget, make, first):
    server.chat_script.append(completed(first))
    reply = make().ask(ASKED)
    assert (reply.value, reply.repaired, reply.spend.calls) == (OPINION, True, 2)
    before, after = server.chats
    assert after.messages[: len(before.messages)] == before.messages
    assert [message["role"] for message in after.messages[len(before.messages) :]] == ["assistant", "user"]
    assert after.messages[-2]["content"] == first
    assert '"supported"' in after.messages[-1]["content"]
    assert after.max_tokens == before.max_tokens
    agree(server, budget, reply.spend)


def test_an_error_names_at_most_three_fields(server, make):
    server.chat_script.append(completed(json.dumps({"supported": "yes", **{f"field {n}": n for n in range(9)}})))
    make().ask(ASKED)
    words = server.chats[1].messages[-1]["content"]
    assert "supported: " in words
    assert words.count("field ") == 1


def test_an_answer_that_does_not_fit_twice_is_none(server, budget, make):
    server.chat_script.extend([completed("what?"), completed("I said: what?")])
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "malformed"
    assert len(server.chats) == 2
    agree(server, budget, error.spend)


def test_an_answer_that_is_cut_off_gets_twice_the_room(server, budget, make):
    server.chat_script.append(completed('{"supported": true, "why": "it sa', "length"))
    reply = make(max_output_tokens=100).ask(ASKED)
    assert (reply.value, reply.repaired) == (OPINION, True)
    assert [chat.max_tokens for chat in server.chats] == [100, 200]
    assert server.chats[0].messages == server.chats[1].messages
    agree(server, budget, reply.spend)


@pytest.mark.parametrize("second", [completed('{"supp', "length"), completed("what?", "length")])
@pytest.mark.parametrize("first", [completed('{"supp', "length"), completed("what?")])
def test_an_answer_that_is_cut_off_again_is_none(server, budget, make, first, second):
    server.chat_script.extend([first, second])
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "truncated"
    assert "MONITOR_LLM__MAX_OUTPUT_TOKENS" in str(error)
    assert len(server.chats) == 2
    agree(server, budget, error.spend)


def test_an_answer_that_is_refused_at_the_second_attempt_is_none(server, budget, make):
    server.chat_script.extend([completed("what?"), completed("", "content_filter")])
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "content_filter"
    agree(server, budget, error.spend)


@pytest.mark.parametrize(
    "first", ['"\ud800"', '{"\ud800": "\ud800"}', r'{"\ud800": 1, "\u0000": 2}', "a\0b", '{"\0": 1}']
)
def test_the_repair_request_holds_only_characters_that_can_be_sent(server, make, first):
    server.chat_script.append(completed(first))
    assert make().ask(ASKED).repaired


@pytest.mark.parametrize("name", [r"\u0000", r"\ud800"])
def test_errors_hold_only_characters_that_can_be_stored(server, make, name):
    server.chat_script.extend([completed(f'{{"{name}": 1}}')] * 2)
    words = str(failure(make()))
    assert "\0" not in words
    words.encode()
