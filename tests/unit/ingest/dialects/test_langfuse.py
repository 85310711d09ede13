from __future__ import annotations

import hashlib
import json

import pytest

from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turns import turns
from tests.factories.events import RECEIVED, decode, refusal

TRACE = "0af7651916cd43dd8448eb211c80319c"
DOCUMENTS = [{"id": "kb-1", "page_content": "It opens at nine.", "metadata": {"source": "hours.md"}}]


def observation(**fields):
    event = {
        "id": "00f067aa0ba902b7",
        "traceId": TRACE,
        "type": "GENERATION",
        "name": "ChatOpenAI",
        "startTime": "2026-05-04T09:00:00.250Z",
        "endTime": "2026-05-04T09:00:01.000Z",
        "parentObservationId": "1111111111111111",
        "input": [{"role": "user", "content": "When?"}],
        "output": {"role": "assistant", "content": "At nine."},
        "model": "gpt-x",
        "usageDetails": {"input": 12, "output": 3, "total": 15},
        "level": "DEFAULT",
        "statusMessage": None,
    }
    return {name: value for name, value in (event | fields).items() if value is not ...}


def trace(**fields):
    event = {
        "id": TRACE,
        "timestamp": "2026-05-04T09:00:00.000Z",
        "name": "answer",
        "userId": "user-7",
        "sessionId": "s-1",
        "environment": "lab",
        "input": "When?",
        "output": "At nine.",
        "observations": [
            observation(
                id="1111111111111111", type="CHAIN", parentObservationId=None, input="When?", output="At nine."
            ),
            observation(id="2222222222222222", type="RETRIEVER", input="When?", output=DOCUMENTS, model=None),
            observation(),
        ],
    }
    return event | fields


def snake(event):
    names = {"traceId": "trace_id", "startTime": "start_time", "endTime": "end_time", "usageDetails": "usage_details"}
    names |= {"parentObservationId": "parent_observation_id", "model": "provided_model_name"}
    row = {names.get(name, name): value for name, value in event.items()}
    return {name: json.dumps(value) if isinstance(value, dict | list) else value for name, value in row.items()}


def turn_of(spans):
    (turn,) = turns([Trace(spans)])
    return turn


@pytest.mark.parametrize("form", [lambda t: t, lambda t: {"trace": t, "observations": t.pop("observations")}])
def test_a_trace_with_its_observations_is_a_turn(form):
    turn = turn_of(decode(form(trace())).spans)
    assert (turn.trace_id, turn.question, turn.answer) == (TRACE, "When?", "At nine.")
    assert [(d.id, d.text) for d in turn.documents] == [("kb-1", "It opens at nine.")]
    assert (turn.user, turn.conversation_id, turn.model, turn.environment) == ("user-7", "s-1", "gpt-x", "lab")
    assert (turn.usage.input, turn.usage.output) == (12, 3)


def test_rows_of_the_blob_storage_export_make_the_same_turn_line_by_line():
    rows = [snake(o | {"userId": "user-7", "session_id": "s-1", "user_id": "user-7"}) for o in trace()["observations"]]
    rows[0]["start_time"] = "2026-05-04 09:00:00.000000"
    spans = [span for row in rows for span in decode(row).spans]
    turn = turn_of(spans)
    assert (turn.question, turn.answer, turn.conversation_id) == ("When?", "At nine.", "s-1")
    assert [d.id for d in turn.documents] == ["kb-1"]


def test_a_page_of_the_api_holds_the_observations_of_several_traces():
    other = "b" * 32
    page = {"data": [observation(), observation(traceId=other)], "meta": {"cursor": None}}
    assert [span.trace_id for span in decode(page).spans] == [TRACE, other]


def test_a_row_of_a_trace_is_a_span_above_its_observations():
    row = {"id": TRACE, "timestamp": "2026-05-04 09:00:00.5", "project_id": "p", "session_id": "s", "user_id": "u"}
    (span,) = decode(row | {"input": "When?", "output": "At nine."}).spans
    assert (span.trace_id, span.parent_id) == (TRACE, None)
    assert span.attributes["langfuse.observation.input"] == "When?"
    assert span.attributes["session.id"] == "s"
    assert span.started == 1777885200_500_000_000


def test_a_failed_call_is_one():
    (span,) = decode(observation(level="ERROR", statusMessage="rate limit", output=None)).spans
    assert (span.failed, span.problem) == (True, "rate limit")
    assert "langfuse.observation.output" not in span.attributes


def test_ids_of_older_versions_become_hexadecimal_and_stay_the_same():
    first = decode(observation(id="my-own", traceId="D9428888-122B-11E1-B85C-61CD3CBB3210")).spans[0]
    assert first.trace_id == "d9428888122b11e1b85c61cd3cbb3210"
    assert first.span_id == hashlib.sha256(b"my-own").hexdigest()[:16]
    below = decode(observation(id="c", traceId="trace of mine", parentObservationId="my-own")).spans[0]
    assert below.parent_id == first.span_id
    assert below.trace_id == hashlib.sha256(b"trace of mine").hexdigest()[:32]


def test_the_time_of_receipt_and_the_position_are_kept():
    collected = decode(trace())
    assert collected.received_at == RECEIVED
    assert collected.position.offset == 7
    assert len(collected.spans) == 4
    assert collected.app is None


@pytest.mark.parametrize(
    ("event", "path", "problem"),
    [
        (observation(id=...), "id", "is missing"),
        (observation(traceId=7), "trace_id", "must be a string, got a number"),
        (trace(observations=[observation(), observation(id=None)]), "observations[1].id", "is missing"),
        (trace(observations=[3]), "observations[0]", "must be an object, got a number"),
        ({"data": [observation(), "x"], "meta": {}}, "data[1]", "must be an object, got a string"),
        (
            observation(startTime="noon"),
            "start_time",
            'must be an RFC 3339 time as 2026-05-04T09:12:33Z, got "noon"',
        ),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(event, path, problem):
    assert refusal(event) == (path, problem)
