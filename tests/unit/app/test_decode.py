"""Files of every form are read as one collection, and what cannot be read is told with its place."""

from __future__ import annotations

import gzip
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from backports import zstd
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from typer.testing import CliRunner

from monitor.app.decode import Reading, decode_files
from monitor.cli.app import app
from monitor.core.errors import Fatal, WrongSettings
from monitor.core.settings.load import Settings
from monitor.core.settings.sections import IngestSettings
from tests.rig.ingest.spans import TRACE

NATIVE = {
    "id": "q-1",
    "question": "Open today?",
    "answer": "Yes.",
    "retrieved_documents": [{"id": "d", "text": "Open."}],
}


def span(number: int, parent: int | None = None, **attributes: str) -> dict[str, object]:
    return {
        "traceId": TRACE, "spanId": f"{number:016x}", "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": "step", "startTimeUnixNano": str(10**18 + number), "endTimeUnixNano": str(10**18 + 10**9),
        "attributes": [{"key": k.replace("__", "."), "value": {"stringValue": v}} for k, v in attributes.items()],
    }  # fmt: skip


def request(*spans: dict[str, object]) -> dict[str, object]:
    return {"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}


ROOT = span(1, openinference__span__kind="CHAIN", input__value="Open today?", output__value="Yes.")
RETRIEVER = span(2, 1, openinference__span__kind="RETRIEVER", output__value=json.dumps([{"id": "d", "text": "Open."}]))
MODEL = span(3, 1, openinference__span__kind="LLM", output__value="Yes.")


def as_protobuf(*spans: dict[str, object]) -> bytes:
    sent = ExportTraceServiceRequest()
    scoped = sent.resource_spans.add().scope_spans.add()
    for one in spans:
        ids = {k: bytes.fromhex(str(one[v])) for k, v in
               (("trace_id", "traceId"), ("span_id", "spanId"), ("parent_span_id", "parentSpanId"))}  # fmt: skip
        message = scoped.spans.add(name="step", start_time_unix_nano=10**18, end_time_unix_nano=2 * 10**18, **ids)
        for pair in one["attributes"]:  # type: ignore[attr-defined]
            message.attributes.add(key=pair["key"]).value.string_value = pair["value"]["stringValue"]
    return sent.SerializeToString()


def decoded(*files: Path, dialect: str | None = None, **ingest: Any) -> Reading:
    settings = Settings(ingest=IngestSettings(**{"app": "shop", **ingest}))
    return decode_files(files, settings, dialect=dialect, app=None, now=lambda: datetime.now(UTC))


def prefixed(*bodies: bytes) -> bytes:
    return b"".join(len(body).to_bytes(4, "big") + body for body in bodies)


BODIES = {
    "plain protobuf": lambda: as_protobuf(ROOT, RETRIEVER, MODEL),
    "gzip": lambda: gzip.compress(as_protobuf(ROOT, RETRIEVER, MODEL)),
    "zstd": lambda: zstd.compress(as_protobuf(ROOT, RETRIEVER, MODEL)),
    "zstd as pzstd writes it": lambda: (
        b"\x50\x2a\x4d\x18\x04\0\0\0skip" + zstd.compress(as_protobuf(ROOT, RETRIEVER, MODEL))
    ),
    "lengths before protobuf": lambda: prefixed(as_protobuf(MODEL), as_protobuf(ROOT, RETRIEVER)),
    "json over lines": lambda: json.dumps(request(ROOT, RETRIEVER, MODEL), indent=1).encode(),
    "a request a line": lambda: b"\n".join(json.dumps(request(s)).encode() for s in (RETRIEVER, ROOT, MODEL)) + b"\n",
}


@pytest.mark.parametrize("form", BODIES)
def test_each_form_of_a_file_gives_the_turn_of_its_trace(form: str, tmp_path: Path) -> None:
    file = tmp_path / "spans"
    file.write_bytes(BODIES[form]())
    reading = decoded(file)
    [event] = reading.events
    assert (event["id"], event["app"], event["question"], event["answer"]) == (TRACE, "shop", "Open today?", "Yes.")
    assert event["retrieved_documents"] == [{"id": "d", "text": "Open."}]
    assert reading.rejected == []


@pytest.mark.parametrize(("start", "dialect"), [("[", None), ("{", "otlp_proto")])
def test_protobuf_whose_length_looks_like_the_start_of_json_is_protobuf(
    start: str, dialect: str | None, tmp_path: Path
) -> None:
    sent = ExportTraceServiceRequest()
    scoped = sent.resource_spans.add().scope_spans.add()
    scoped.spans.add(trace_id=bytes.fromhex(TRACE), span_id=b"\1" * 8, name="s" * (ord(start) - 34))
    body = sent.SerializeToString()
    assert body.startswith(b"\n" + start.encode())
    file = tmp_path / "spans.pb"
    file.write_bytes(body)
    assert [none.because for none in decoded(file, dialect=dialect).without_turn] == ["it calls no model"]


def test_a_trace_may_be_spread_over_files_beside_events_of_other_forms(tmp_path: Path) -> None:
    bodies = (as_protobuf(ROOT), json.dumps(NATIVE).encode(), as_protobuf(RETRIEVER, MODEL))
    files = [tmp_path / str(number) for number in range(len(bodies))]
    for file, body in zip(files, bodies, strict=True):
        file.write_bytes(body)
    assert [event["id"] for event in decoded(*files).events] == ["q-1", TRACE]


def test_what_cannot_be_read_is_told_with_its_place_and_the_rest_is_read(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(f'{json.dumps(NATIVE)}\n\nno json\n{{"question": "x"}}\n')
    reading = decoded(file)
    assert len(reading.events) == 1
    assert [line.split(": ")[0] for line in reading.rejected] == [f"{file}, 3", f"{file}, 4"]


def test_events_without_scores_keep_their_reason_and_nulls(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    bare = {**NATIVE, "answer": None, "unscored": "call_failed", "retrieved_documents": [{"id": "d", "text": None}]}
    file.write_text(json.dumps(bare))
    [event] = decoded(file).events
    assert (event["question"], event["answer"], event["unscored"]) == ("Open today?", None, "call_failed")
    assert event["retrieved_documents"] == [{"id": "d", "text": None}]


def test_events_are_read_by_the_settings_also_those_within_a_sample_of_several_turns(tmp_path: Path) -> None:
    sample = {"user_input": [{"type": "human", "content": "Open today?"}, {"type": "ai", "content": "Yes."}]}
    file = tmp_path / "events.jsonl"
    file.write_text(f"{json.dumps(NATIVE)}\n{json.dumps(sample)}\n{json.dumps({**NATIVE, 'answer': 'Yes. ' * 9})}\n")
    reading = decoded(file, environment="staging", max_text_chars=20)
    assert [event["environment"] for event in reading.events] == ["staging", "staging"]
    assert reading.rejected == [f"{file}, 3: answer: has 45 characters; the limit is 20"]


def test_a_trace_without_turn_says_why(tmp_path: Path) -> None:
    file = tmp_path / "spans.pb"
    file.write_bytes(as_protobuf(ROOT))
    assert [none.because for none in decoded(file).without_turn] == ["it calls no model"]


def test_files_that_cannot_be_read_are_wrong_use(tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(gzip.compress(b"{}" * 1000)[:-8])
    nearly_empty = tmp_path / "nearly_empty.gz"
    nearly_empty.write_bytes(b"\x1f")
    for file in (tmp_path / "missing", tmp_path, cut, nearly_empty):
        with pytest.raises(WrongSettings, match=str(file)):
            decoded(file)
    table = tmp_path / "cut.csv"
    table.write_text('id,question,answer\nq-1,"Open')
    with pytest.raises(Fatal, match=f"{table}: row 2 is not CSV"):
        decoded(table)
    with pytest.raises(WrongSettings, match="unknown dialect"):
        decoded(cut, dialect="nonsense")


def test_the_command_prints_events_alone_on_standard_output(tmp_path: Path) -> None:
    file = tmp_path / "spans.json"
    file.write_text(json.dumps(request(ROOT, RETRIEVER, MODEL)))
    bare = tmp_path / "bare.json"
    shown = [*MODEL["attributes"][:1], {"key": "llm.model_name", "value": {"stringValue": "gpt-4o-mini"}}]  # type: ignore[index]
    bare.write_text(json.dumps(request({**MODEL, "traceId": "c" * 32, "attributes": shown})))
    result = CliRunner().invoke(app, ["decode", str(file), str(bare), "--json"])
    events = [json.loads(line) for line in result.stdout.splitlines()]
    assert result.exit_code == 0
    assert [event.get("unscored") for event in events] == [None, "content_not_captured"]
    assert events[1]["question"] is events[1]["answer"] is None
    assert "2 interactions, 1 of them without scores" in result.stderr


def test_the_command_tells_how_many_spans_are_wrong(tmp_path: Path) -> None:
    file = tmp_path / "spans.json"
    wrong = {**MODEL, "spanId": "no hex"}
    file.write_text(json.dumps(request(ROOT, RETRIEVER, MODEL, wrong)))
    result = CliRunner().invoke(app, ["decode", str(file)])
    assert result.exit_code == 0
    assert result.stderr == "1 interaction\n  left out as wrong: 1 of the spans and log records\n"


def test_the_command_tells_of_feedback_that_comes_alone(tmp_path: Path) -> None:
    file = tmp_path / "feedback.jsonl"
    file.write_text('{"feedback": [{"id": "q-1", "thumb": "up"}, {"id": "q-2", "thumb": "down"}]}\n')
    result = CliRunner().invoke(app, ["decode", str(file)])
    assert result.stderr == "0 interactions, and feedback on 2 answers\n"


def test_the_command_shows_people_what_was_read_and_ends_with_1_if_a_line_was_rejected(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(f"{json.dumps(request(ROOT, RETRIEVER, MODEL))}\nno json\n")
    result = CliRunner().invoke(app, ["decode", str(file)])
    assert result.exit_code == 1
    assert "Open today?" in result.stdout
    assert "rejected" in result.stderr
