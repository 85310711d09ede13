from __future__ import annotations

import json

import pytest

from monitor.core.model import Mark
from monitor.core.trace import Collected
from tests.factories.events import decode, refusal


def human(text):
    return {"content": text, "type": "human"}


def ai(text, calls=None):
    return {"content": text, "type": "ai", "tool_calls": calls}


def tool(content):
    return {"content": content if isinstance(content, str) else json.dumps(content), "type": "tool"}


CALL = [{"name": "search", "args": {"query": "hours"}}]
SAMPLE = {
    "user_input": [
        {"content": "Answer from the pages.", "type": "system"},
        human("When does it open?"),
        ai("", CALL),
        tool([{"id": "kb-1", "text": "It opens at nine.", "score": 0.8}, {"page_content": "Shut on Sunday."}]),
        ai("At nine."),
        human("And on Sunday?"),
        human("I mean next Sunday."),
        ai("Let me look.", CALL),
        tool("It is shut on Sunday."),
        ai("It is shut."),
        human("Thanks!"),
        ai("You are welcome."),
        human("Bye"),
    ],
    "reference": "The bot gives the hours.",
    "reference_topics": None,
}


def events(sample, **settings):
    collected = decode(sample, **settings)
    assert isinstance(collected, Collected)
    return [json.loads(event) for event in collected.events]


def test_each_turn_is_an_event_with_the_documents_of_its_tools():
    first, second, third = events(SAMPLE, app="shop", environment="lab")
    assert (first["question"], first["answer"]) == ("When does it open?", "At nine.")
    assert first["retrieved_documents"] == [
        {"id": "kb-1", "text": "It opens at nine.", "score": 0.8},
        {"text": "Shut on Sunday."},
    ]
    assert (first["app"], first["environment"], first["turn"]) == ("shop", "lab", 1)
    assert (second["question"], second["answer"]) == ("And on Sunday?\nI mean next Sunday.", "It is shut.")
    assert second["retrieved_documents"] == ["It is shut on Sunday."]
    assert [event.get("reference_answer") for event in (first, second, third)] == [None, None, SAMPLE["reference"]]
    assert [event.get("unscored") for event in (first, second, third)] == [None, None, "no_retrieval"]


def test_ids_are_the_samples_with_the_turn_and_stay_the_same():
    first, second, third = events(SAMPLE)
    assert first["id"] == f"{first['conversation_id']}#1"
    assert {event["conversation_id"] for event in (first, second, third)} == {first["conversation_id"]}
    assert events(SAMPLE | {"goal_accuracy": 1.0})[0]["id"] == first["id"]
    assert events(SAMPLE | {"reference": "Another."})[0]["id"] != first["id"]


def test_an_event_can_be_read():
    first, *_ = decode(SAMPLE).events
    interaction = decode(first)
    assert [d.text for d in interaction.retrieved_documents] == ["It opens at nine.", "Shut on Sunday."]


def test_an_envelope_gives_the_sample_its_id():
    envelope = {"specversion": "1.0", "id": "e-1", "source": "/x", "type": "t", "time": "2026-05-01T00:00:00Z"}
    first, *_ = events({**envelope, "data": SAMPLE})
    assert (first["id"], first["occurred_at"]) == ("e-1#1", "2026-05-01T00:00:00+00:00")
    assert first["tags"] == {"ce_source": "/x"}


def test_messages_may_have_roles():
    sample = {"user_input": [{"role": "user", "content": "When?"}, {"role": "assistant", "content": "At nine."}]}
    assert [(e["question"], e["answer"]) for e in events(sample)] == [("When?", "At nine.")]


@pytest.mark.parametrize(
    ("messages", "path", "problem"),
    [
        ([], "user_input", "holds no question with an answer: no message of type ai after one of human"),
        ([ai("At nine.")], "user_input", "holds no question with an answer: no message of type ai after one of human"),
        ([human("When?"), "x"], "user_input[1]", "must be an object, got a string"),
        ([human("When?"), {"type": "ai"}], "user_input[1].content", "is missing"),
        (
            [human("When?"), {"type": "bot", "content": "x"}],
            "user_input[1].type",
            'must be human, ai or tool, got "bot"',
        ),
        ([human("x" * 11), ai("y")], "user_input[0].content", "has 11 characters; the limit is 10"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(messages, path, problem):
    assert refusal({"user_input": messages}, max_text_chars=10) == (path, problem)


def with_tool(text):
    return {"user_input": [human("When?"), ai("", CALL), tool(text), ai("At nine.")]}


def test_documents_within_documents_end_as_a_dead_letter():
    levels = 400
    deep = '{"documents": [' * levels + '"x"' + "]}" * levels
    assert refusal(with_tool(deep)) == ("$", "is nested too deeply")


@pytest.mark.parametrize(
    "text",
    ['["nine\\ud800", "ten\\u0000"]', '[{"id": "a", "text": "nine\\ud800"}]', r"['nine\ud800', 'ten\x00']"],
)
def test_what_no_text_can_hold_within_the_json_or_python_of_a_tool_is_replaced_and_marked(text):
    (event,) = decode(with_tool(text)).events
    interaction = decode(event)
    assert interaction.retrieved_documents[0].text == "nine\ufffd"
    assert Mark.TEXT_REPLACED in interaction.marks


def test_figures_that_json_does_not_have_cost_no_turn():
    (event,) = decode(with_tool('[{"id": "a", "text": "nine", "metadata": {"page": NaN, "size": Infinity}}]')).events
    assert decode(event).retrieved_documents[0].text == "nine"
