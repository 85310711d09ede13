"""The parameters that a server does not accept are learned once, for all threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from monitor.assess.llm.dialect import Dialect, Structure
from monitor.assess.llm.exchange import NoAnswer
from tests.factories.assess.llm import ASKED, GOOD, OPINION, PATIENCE, PROMPT, agree, failure, request
from tests.servers.llm import completed, refusal


def test_the_first_request_asks_for_the_form_strictly(server, make):
    make(max_output_tokens=77).ask(ASKED)
    body = server.chats[0].body
    assert body["response_format"]["type"] == "json_schema"
    assert body["response_format"]["json_schema"]["strict"] is True
    assert server.chats[0].schema == PROMPT.schema
    assert (body["temperature"], body["max_tokens"]) == (0, 77)
    assert "stream" not in body
    assert server.chats[0].messages == [
        {"role": "system", "content": PROMPT.text},
        {"role": "user", "content": ASKED.data},
    ]


@pytest.mark.parametrize(
    ("server_takes", "asked_in_all", "formats"),
    [
        ({"structured": "json_object"}, 2, ["json_schema", "json_object"]),
        ({"structured": "text"}, 3, ["json_schema", "json_object", None]),
        ({"takes_max_tokens": False}, 2, ["json_schema"] * 2),
        ({"takes_temperature": False}, 2, ["json_schema"] * 2),
        (
            {"structured": "text", "takes_max_tokens": False, "takes_temperature": False},
            5,
            [*["json_schema"] * 3, "json_object", None],
        ),
    ],
)
def test_parameters_that_a_server_refuses_are_learned_once(server, budget, make, server_takes, asked_in_all, formats):
    for name, value in server_takes.items():
        setattr(server, name, value)
    model = make()
    reply = model.ask(ASKED)
    assert (reply.value, reply.repaired) == (OPINION, False)
    assert len(server.chats) == asked_in_all
    assert [chat.response_format for chat in server.chats] == formats
    agree(server, budget, reply.spend)
    for _ in range(3):
        assert model.ask(ASKED).spend.calls == 1
    assert len(server.chats) == asked_in_all + 3
    last = server.chats[-1].body
    assert ("max_tokens" in last) == server.takes_max_tokens
    assert ("max_completion_tokens" in last) != server.takes_max_tokens
    assert ("temperature" in last) == server.takes_temperature
    agree(server, budget)


@pytest.mark.parametrize("structured", ["json_object", "text"])
def test_a_server_that_does_not_see_to_the_form_is_told_it(server, make, structured):
    server.structured = structured
    model = make()
    model.ask(ASKED)
    chat = server.chats[-1]
    assert chat.system.startswith(PROMPT.text)
    assert '"additionalProperties": false' in chat.system
    assert "JSON" in chat.system
    assert chat.user == ASKED.data


@pytest.mark.parametrize("structure", list(Structure))
def test_the_configured_structure_is_not_learned_again(server, make, structure):
    server.structured = structure.value
    assert make(structure=structure).ask(ASKED).spend.calls == 1


@pytest.mark.parametrize("structure", list(Structure))
def test_a_repair_is_asked_for_in_the_same_way(server, make, structure):
    server.chat_script.append(completed("what?"))
    make(structure=structure).ask(ASKED)
    first, second = server.chats
    assert (first.system, first.response_format) == (second.system, second.response_format)
    assert second.messages[1] == first.messages[1]


def test_a_server_that_ignores_the_form_is_read_all_the_same(server, budget, make):
    server.answer = lambda _: f"Well, let me think. It is probably so:\n```json\n{GOOD}\n```"
    reply = make().ask(ASKED)
    assert (reply.value, reply.repaired, reply.spend.calls) == (OPINION, False, 1)
    agree(server, budget, reply.spend)


def test_threads_that_learn_at_the_same_time_learn_the_same(server, budget, make):
    server.structured, server.takes_max_tokens, server.takes_temperature = "text", False, False
    model, together = make(), Barrier(8)

    def ask(_: int):
        together.wait(PATIENCE)
        return model.ask(ASKED)

    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(ask, range(8)))
    assert [reply.value for reply in replies] == [OPINION] * 8
    assert max(reply.spend.calls for reply in replies) <= 5
    assert sum(reply.spend.calls for reply in replies) == len(server.chats)
    assert model.ask(ASKED).spend.calls == 1
    agree(server, budget)


def test_a_late_refusal_takes_back_nothing_of_what_was_learned_since():
    dialect = Dialect(structure=Structure.SCHEMA, max_output_tokens=9)
    first = dialect.body("m", ASKED, dialect.messages(ASKED))
    no_format = "'response_format' is not supported"
    assert dialect.learned(first, no_format)
    second = dialect.body("m", ASKED, dialect.messages(ASKED))
    assert dialect.learned(second, no_format)
    assert dialect.learned(first, no_format)  # of a request that was on its way since the beginning
    assert "response_format" not in dialect.body("m", ASKED, dialect.messages(ASKED))


@pytest.mark.parametrize(
    "words",
    [
        "the temperature outside is not known",
        "unknown parameter: 'max_completion_tokens'",
        "'response_format' is not supported with this model",
    ],
)
def test_a_server_that_goes_on_refusing_is_not_asked_for_ever(server, budget, make, words):
    server.chat_script.extend([refusal(400, words)] * 20)
    error = failure(make())
    assert isinstance(error, NoAnswer)
    assert error.reason == "rejected"
    assert 2 <= len(server.chats) <= 3
    agree(server, budget, error.spend)


def test_the_name_of_the_form_is_one_that_servers_take(server, make):
    make().ask(ASKED)
    assert server.chats[0].schema_name == "opinion_v1"


def test_the_body_of_a_request_is_what_would_be_sent(server, make):
    model = make()
    for asked in (ASKED, request("one", "two\ud800")):
        model.ask(asked)
        assert server.chats[-1].body == model.body(asked)
