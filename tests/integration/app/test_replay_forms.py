"""Files in other tools' forms go from `monitor replay` to stored interactions, with documents that are looked up."""

from __future__ import annotations

import json

import pytest
from sqlalchemy import create_engine, text
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from tests.rig.store.keys import give_key

PHOENIX, LANGFUSE = "a" * 32, "b" * 32
SAMPLE = {
    "user_input": [
        {"type": "human", "content": "When does it open?"},
        {"type": "tool", "content": '[{"id": "kb-1", "text": "It opens at nine."}]'},
        {"type": "ai", "content": "At nine."},
        {"type": "human", "content": "Thanks!"},
        {"type": "ai", "content": "You are welcome."},
    ]
}


def phoenix_span(number, kind, attributes):
    return {
        "name": kind,
        "context": {"trace_id": PHOENIX, "span_id": f"{number:016x}"},
        "span_kind": kind,
        "parent_id": None if number == 1 else f"{1:016x}",
        "start_time": f"2026-05-04T09:00:0{number}Z",
        "end_time": "2026-05-04T09:00:05Z",
        "status_code": "OK",
        "attributes": attributes,
    }


SPANS = {
    "data": [
        phoenix_span(1, "CHAIN", {"input.value": "Is it open on Sunday?", "output.value": "No."}),
        phoenix_span(2, "RETRIEVER", {"retrieval": {"documents": [{"document": {"id": "kb-2", "score": 0.5}}]}}),
        phoenix_span(3, "LLM", {"llm.output_messages.0.message.content": "No."}),
    ],
    "next_cursor": None,
}
TRACE = {
    "id": LANGFUSE,
    "timestamp": "2026-05-04T10:00:00Z",
    "input": "Do you ship abroad?",
    "output": "Yes.",
    "observations": [
        {
            "id": "c" * 16,
            "type": "RETRIEVER",
            "startTime": "2026-05-04T10:00:00Z",
            "endTime": "2026-05-04T10:00:01Z",
            "output": [{"id": "kb-3", "page_content": "We ship to all of Europe.", "metadata": {}}],
        },
        {
            "id": "d" * 16,
            "type": "GENERATION",
            "startTime": "2026-05-04T10:00:01Z",
            "endTime": "2026-05-04T10:00:02Z",
            "output": {"role": "assistant", "content": "Yes."},
        },
    ],
}


@pytest.fixture
def replayed(database, monkeypatch, tmp_path):
    give_key(tmp_path / "state")
    (tmp_path / "documents.jsonl").write_text('{"id": "kb-2", "text": "It is shut on Sunday."}\n', encoding="utf-8")
    for name, value in {
        "STATE_DIR": tmp_path / "state",
        "DATABASE_URL": database,
        "EMBEDDING__PROVIDER": "hash",
        "LOOKUP__PATH": tmp_path / "documents.jsonl",
    }.items():
        monkeypatch.setenv(f"MONITOR_{name}", str(value))

    def run(files, *options):
        paths = []
        for name, content in files.items():
            paths.append(tmp_path / name)
            paths[-1].write_text(content, encoding="utf-8")
        done = CliRunner().invoke(command_line, ["replay", *map(str, paths), *options])
        assert done.exit_code == 0, done.output
        engine = create_engine(database.replace("postgresql://", "postgresql+psycopg://", 1))
        with engine.connect() as connection:
            rows = connection.execute(text("SELECT id, question, unscored, retrieved_documents FROM interaction"))
            stored = {
                row.question: (row.id, row.unscored, [d["text"] for d in row.retrieved_documents]) for row in rows
            }
        engine.dispose()
        return stored

    return run


def test_exports_become_interactions_once(replayed):
    files = {
        "samples.jsonl": json.dumps(SAMPLE),
        "spans.json": json.dumps(SPANS),
        "traces.json": json.dumps([TRACE], indent=2),
    }
    stored = replayed(files)
    assert {question: (reason, texts) for question, (_, reason, texts) in stored.items()} == {
        "When does it open?": (None, ["It opens at nine."]),
        "Thanks!": ("no_retrieval", []),
        "Is it open on Sunday?": (None, ["It is shut on Sunday."]),
        "Do you ship abroad?": (None, ["We ship to all of Europe."]),
    }
    assert stored["Is it open on Sunday?"][0] == PHOENIX
    assert stored["Do you ship abroad?"][0] == LANGFUSE
    assert replayed(files) == stored


def test_a_table_is_stored_with_a_mapping(replayed):
    table = 'nr;prompt;reply;contexts\n1;When?;At nine.;"[""It opens at nine.""]"\n'
    options = ["--map", "id=nr", "--map", "question=prompt", "--map", "answer=reply"]
    stored = replayed({"answers.csv": table}, *options, "--map", "retrieved_documents=contexts")
    assert stored == {"When?": ("1", None, ["It opens at nine."])}
