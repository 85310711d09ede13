from __future__ import annotations

import pytest

from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turns import turns
from tests.factories.events import decode, refusal

TRACE = "0af7651916cd43dd8448eb211c80319c"
FLAT = [
    {"input.value": "When?", "output.value": "At nine.", "session.id": "s-1", "user.id": "u-1"},
    {
        "input.value": "When?",
        "retrieval.documents.0.document.id": "kb-1",
        "retrieval.documents.0.document.content": "It opens at nine.",
        "retrieval.documents.0.document.score": 0.8,
        "retrieval.documents.0.document.metadata": '{"page": 1}',
    },
    {
        "llm.model_name": "gpt-x",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "When?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.content": "At nine.",
        "llm.token_count.prompt": 12,
        "llm.token_count.completion": 3,
    },
]
NESTED = [
    {"input": {"value": "When?"}, "output": {"value": "At nine."}, "session": {"id": "s-1"}, "user": {"id": "u-1"}},
    {
        "input": {"value": "When?"},
        "retrieval": {
            "documents": [
                {
                    "document": {
                        "id": "kb-1",
                        "content": "It opens at nine.",
                        "score": 0.8,
                        "metadata": {"page": 1},
                    }
                }
            ]
        },
    },
    {
        "llm": {
            "model_name": "gpt-x",
            "input_messages": [{"message": {"role": "user", "content": "When?"}}],
            "output_messages": [{"message": {"role": "assistant", "content": "At nine."}}],
            "token_count": {"prompt": 12, "completion": 3},
        }
    },
]
COLUMNS = [
    FLAT[0],
    {
        "input.value": "When?",
        "retrieval.documents": [
            {
                "document.id": "kb-1",
                "document.content": "It opens at nine.",
                "document.score": 0.8,
                "document.metadata": {"page": 1},
            }
        ],
    },
    {
        "llm.model_name": "gpt-x",
        "llm.input_messages": [{"message.role": "user", "message.content": "When?"}],
        "llm.output_messages": [{"message.role": "assistant", "message.content": "At nine."}],
        "llm.token_count.prompt": 12,
        "llm.token_count.completion": 3,
    },
]
KINDS = ("CHAIN", "RETRIEVER", "LLM")


def span(place, held, **fields):
    event = {
        "id": "U3BhbjoxMg==",
        "name": KINDS[place].lower(),
        "context": {"trace_id": TRACE, "span_id": f"{place + 1:016x}"},
        "span_kind": KINDS[place],
        "parent_id": None if place == 0 else f"{1:016x}",
        "start_time": f"2026-05-04T09:00:0{place}+00:00",
        "end_time": "2026-05-04T09:00:04+00:00",
        "status_code": "OK",
        "status_message": "",
        "attributes": held,
        "events": [],
    }
    return {name: value for name, value in (event | fields).items() if value is not ...}


def row(place, attributes):
    event = span(place, {}, attributes=..., context=..., id=..., start_time=1777885200000 + place)
    columns = {f"attributes.{name}": value for name, value in attributes.items()}
    return {**event, **columns, "context.trace_id": TRACE, "context.span_id": f"{place + 1:016x}"}


@pytest.mark.parametrize(
    "events",
    [
        [{"data": [span(i, a) for i, a in enumerate(FLAT)], "next_cursor": None}],
        [span(i, a) for i, a in enumerate(NESTED)],
        [row(i, a) for i, a in enumerate(COLUMNS)],
    ],
    ids=["page of the API", "lines", "dataframe"],
)
def test_an_export_is_a_turn(events):
    (turn,) = turns([Trace([span for event in events for span in decode(event).spans])])
    assert (turn.trace_id, turn.question, turn.answer) == (TRACE, "When?", "At nine.")
    assert [(d.id, d.text, d.score) for d in turn.documents] == [("kb-1", "It opens at nine.", 0.8)]
    assert (turn.model, turn.conversation_id, turn.user) == ("gpt-x", "s-1", "u-1")
    assert (turn.usage.input, turn.usage.output) == (12, 3)


def test_attributes_are_flat_however_they_were_nested():
    flat, nested = (dict(decode(span(1, attributes[1])).spans[0].attributes) for attributes in (FLAT, NESTED))
    assert nested.pop("retrieval.documents.0.document.metadata") == '{"page": 1}'
    del flat["retrieval.documents.0.document.metadata"]
    assert flat == nested


def test_errors_and_events_are_kept():
    events = [{"name": "exception", "timestamp": "2026-05-04T09:00:01Z", "attributes": {"exception.type": "Timeout"}}]
    (read,) = decode(span(2, {}, status_code="ERROR", status_message="Timeout", events=events)).spans
    assert (read.failed, read.problem) == (True, "Timeout")
    assert [(e.name, e.at) for e in read.events] == [("exception", 1777885201_000_000_000)]


@pytest.mark.parametrize(
    ("event", "path"),
    [
        (span(0, {}, context={"trace_id": TRACE}), "context.span_id"),
        ({"data": [span(0, {}), span(0, {}, context=...)], "next_cursor": "x"}, "data[1].context.trace_id"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(event, path):
    assert refusal(event) == (path, "is missing")


def test_a_name_does_not_stand_before_each_of_a_million_items():
    """Four megabytes of name and four of items would be terabytes of names."""
    long = "n" * 300
    problem = "has a name of 300 characters with others below it; the limit is 256"
    assert refusal(span(1, {long: [{}] * 3})) == ("attributes", problem)
    assert refusal({"data": [span(1, {long: {"a": 1}})], "next_cursor": None}) == ("data[0].attributes", problem)
    assert decode(span(1, {long: 1})).spans[0].attributes[long] == 1


@pytest.mark.parametrize("places", [("attributes",), ("events", 0, "attributes")])
def test_an_attribute_that_is_too_deep_to_be_stored_is_refused(places):
    def nested(levels):
        held = {"x": [1]}
        for _ in range(levels - 1):
            held["x"] = [held["x"]]
        return span(1, held) if places == ("attributes",) else span(1, {}, events=[{"name": "e", "attributes": held}])

    assert decode(nested(32)).spans
    assert refusal(nested(33)) == ("$", 'has an attribute of over 32 levels: "x"')
