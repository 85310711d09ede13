"""Logs as JSON: every line that a command writes to standard error is one object, and none shows a chatbot's text."""

from __future__ import annotations

import json

from tests.rig.installation import REFUSAL, RULES
from tests.rig.waiting import until
from tests.servers.otlp import attributes, trace_receiver

HASH = {"INGEST__BATCH_MS": "20", "EVALUATION_INTERVAL": "0.5", "EMBEDDING__PROVIDER": "hash"}
MARKER = "Marker-of-a-chatbot"
FORGED = 'support"}\n{"level": "critical", "message": "forged"}'


def lines(err: str) -> list[dict[str, object]]:
    assert MARKER not in err
    parsed = [json.loads(line) for line in err.splitlines()]
    assert all({"time", "level", "logger", "message", "command", "pid"} <= set(line) for line in parsed)
    return parsed


def marked(event, id_: str, **over: object) -> str:
    texts = {"question": f"{MARKER}?", "answer": f"{MARKER}. {REFUSAL}", "retrieved_documents": [f"{MARKER}!"]}
    return event(id_, **{**texts, **over})


def test_a_replay_says_everything_in_json(monitor, event, log):
    log.write_text(marked(event, "1") + marked(event, "2", app=FORGED) + marked(event, "3", question=[MARKER]))
    ended = monitor.run("--log-format", "json", "-v", "replay", log, **HASH)
    assert ended.returncode == 0, ended.stderr
    said = lines(ended.stderr)
    messages = [line["message"] for line in said]
    assert "3 received = 2 assessed + 0 duplicate + 1 dead" in messages
    assert any(str(message).startswith("  rejected") for message in messages)
    assert "forged" not in messages
    assert {line["command"] for line in said} == {"replay"}


def test_an_error_is_one_json_line_and_a_wrong_format_names_the_right_ones(monitor, tmp_path):
    ended = monitor.run("replay", tmp_path / "missing.jsonl", LOG_FORMAT="json", **HASH)
    assert ended.returncode == 2
    assert "missing.jsonl" in str(lines(ended.stderr)[-1]["message"])
    wrong = monitor.run("replay", tmp_path / "missing.jsonl", LOG_FORMAT="xml", **HASH)
    assert wrong.returncode == 2
    assert "'text', 'json'" in wrong.stderr


def test_a_run_logs_in_json_and_sends_its_last_traces_when_it_is_told_to_end(monitor, event, log, stored, tmp_path):
    rules, settings = tmp_path / "rules.yaml", tmp_path / "monitor.toml"
    rules.write_text(RULES)
    settings.write_text('log_format = "json"\n')
    refused = "".join(marked(event, str(number), answer=REFUSAL) for number in range(9))
    log.write_text(marked(event, "other") + refused + '{"id": 7}\n')
    with trace_receiver() as receiver:
        running = monitor.start("run", log, RULES=str(rules), TRACING__ENDPOINT=receiver.url, **HASH)
        stored(10)
        until("the alert is told of", lambda: "Firing: too-many-refusals" in running.err)
        assert running.terminate() == 0
        spans = receiver.spans
        assert all(MARKER.encode() not in body for body in receiver.bodies)
    said = lines(running.err)
    rejected = next(line for line in said if str(line["message"]).startswith("rejected"))
    assert {"topic", "partition", "offset", "trace_id", "span_id"} <= set(rejected)
    assert any(line.get("rule") == "too-many-refusals" for line in said)
    first = next(line for line in said if str(line["message"]).startswith("the first answer"))
    assert (first["app"], first["command"]) == ("support-bot", "run")
    assert "stopping; anything in flight is finished first" in [line["message"] for line in said]

    names = {span.name.partition(" ")[0] for span in spans}
    assert names >= {"process", "decode", "assess", "complete", "encode", "score", "store", "evaluate", "notify"}
    process = next(span for span in spans if span.trace_id.hex() == first["trace_id"] and not span.parent_span_id)
    assert process.span_id.hex() == first["span_id"]
    assert attributes(process.attributes)["monitor.apps"] == ["support-bot"]
