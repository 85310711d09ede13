from __future__ import annotations

import json

import pytest

from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turns import turns
from tests.factories.events import decode, refusal

ROOT = "01970000-0000-7000-8000-000000000001"
RETRIEVER = "01970000-0000-7000-8000-000000000002"
MODEL = "01970000-0000-7000-8000-000000000003"
DOCUMENTS = [{"page_content": "It opens at nine.", "metadata": {"id": "kb-1"}, "type": "Document"}]


def run(own=ROOT, parent=None, **fields):
    event = {
        "id": own,
        "trace_id": ROOT,
        "parent_run_id": parent,
        "name": "answer",
        "run_type": "chain",
        "inputs": {"question": "When?"},
        "outputs": {"output": "At nine."},
        "error": None,
        "start_time": "2026-05-04T09:00:00.000000",
        "end_time": "2026-05-04T09:00:01.000000",
        "extra": {"metadata": {"thread_id": "t-1"}},
        "prompt_tokens": 0,
        "completion_tokens": 0,
    }
    return {name: value for name, value in (event | fields).items() if value is not ...}


def runs():
    message = {"role": "assistant", "content": "At nine."}
    return [
        run(),
        run(RETRIEVER, ROOT, run_type="retriever", inputs={"query": "When?"}, outputs={"documents": DOCUMENTS}),
        run(
            MODEL,
            ROOT,
            run_type="llm",
            inputs={"messages": [{"role": "user", "content": "When?"}]},
            outputs={"choices": [{"message": message}]},
            extra={"metadata": {"ls_model_name": "gpt-x", "ls_provider": "openai"}},
            prompt_tokens=12,
            completion_tokens=3,
        ),
    ]


def spans_of(*events):
    return [span for event in events for span in decode(event).spans]


def nested(events):
    root, *below = events
    return [{**root, "child_runs": below}]


def as_table(events):
    """As rows of the bulk export: objects are JSON in texts, and the dotted order tells the parents."""
    rows = []
    for event in events:
        order = f"20260504T090000000000Z{ROOT}"
        order += "" if event["id"] == ROOT else f".20260504T090000000001Z{event['id']}"
        row = {name: value for name, value in event.items() if name not in {"parent_run_id", "trace_id"}}
        texts = {name: json.dumps(row[name]) for name in ("inputs", "outputs", "extra")}
        rows.append({**row, **texts, "dotted_order": order})
    return rows


@pytest.mark.parametrize("form", [list, nested, as_table, lambda events: [{"runs": events, "cursors": {}}]])
def test_the_runs_of_a_trace_are_a_turn(form):
    (turn,) = turns([Trace(spans_of(*form(runs())))])
    assert (turn.trace_id, turn.question, turn.answer) == (ROOT.replace("-", ""), "When?", "At nine.")
    assert [(d.id, d.text) for d in turn.documents] == [("kb-1", "It opens at nine.")]
    assert (turn.model, turn.conversation_id) == ("gpt-x", "t-1")
    assert (turn.usage.input, turn.usage.output) == (12, 3)


def test_runs_of_the_same_millisecond_keep_their_own_ids():
    assert len({span.span_id for span in spans_of(*runs())}) == 3


def test_a_run_that_failed_says_so():
    (span,) = spans_of(run(error="RateLimitError('slow down')", outputs=None))
    assert (span.failed, span.problem) == (True, "RateLimitError('slow down')")
    assert "gen_ai.completion" not in span.attributes


TOO_MANY = "has 100,001 items; the limit is 100,000"


@pytest.mark.parametrize(
    ("event", "path", "problem"),
    [
        (run(id=...), "id", "is missing"),
        (run(parent=MODEL, trace_id=...), "trace_id", "is missing"),
        (run(start_time="x"), "start_time", 'must be an RFC 3339 time as 2026-05-04T09:12:33Z, got "x"'),
        (run(child_runs=["x"]), "child_runs[0]", "must be an object, got a string"),
        ({"runs": [run(), run(id="")], "cursors": {}}, "runs[1].id", "is missing"),
        ({"runs": [run(id="x" * 513)], "cursors": {}}, "runs[0].id", "has 513 characters; the limit is 512"),
        ({"runs": [run(child_runs=[1] * 100_001)], "cursors": {}}, "runs[0].child_runs", TOO_MANY),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(event, path, problem):
    assert refusal(event) == (path, problem)


def test_runs_within_runs_are_bounded():
    event = run()
    for _ in range(70):
        event = run(child_runs=[event])
    path, problem = refusal(event)
    assert path.startswith("child_runs")
    assert problem == "is nested too deeply; the limit is 64 levels"
