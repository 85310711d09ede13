"""The commands of docs/quality/{golden-sets,correctness}.md, one after the other, on the files that the pages show."""

from __future__ import annotations

import json
import re
import shlex

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from monitor.core.model import Document
from tests.factories.answers import a_batch, an_assessment
from tests.servers.llm import CHAT_MODEL, KEY, llm_server
from tests.unit.docs.test_links import ROOT

BLOCK = re.compile(r"^```(?P<kind>\w+)\n(?P<content>.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page):
    found = BLOCK.finditer((ROOT / "docs/quality" / page).read_text(encoding="utf-8"))
    return [(match["kind"], match["content"]) for match in found]


@pytest.fixture
def follow(database, writer, tmp_path, monkeypatch):
    """Writes the first JSON block of a page into a file and runs the page's commands; returns what each printed."""
    monkeypatch.chdir(tmp_path)
    for name, value in {"DATABASE_URL": database, "EMBEDDING__PROVIDER": "hash", "AUDIT__ENABLED": "0"}.items():
        monkeypatch.setenv(f"MONITOR_{name}", value)
    live = (Document(id="d", text="A refund takes 14 days."),)
    answer = an_assessment(app="support-bot", id="q-17", reference_answer="14 days.", retrieved_documents=live)
    writer.write(a_batch(answer))

    def followed(page, file):
        found = blocks(page)
        (tmp_path / file).write_text(next(text for kind, text in found if kind == "json"), encoding="utf-8")
        printed = {}
        for line in (line for kind, text in found if kind == "sh" for line in text.splitlines() if line.strip()):
            words = shlex.split(line, comments=True)
            to = words[words.index(">") + 1] if ">" in words else None
            done = CliRunner().invoke(command_line, words[1 : -2 if to else None])
            assert done.exit_code == 0, (line, done.output, done.exception)
            if to:
                (tmp_path / to).write_text(done.stdout, encoding="utf-8")
            printed[" ".join(words)] = done.stdout
        return printed

    return followed


def test_golden_sets(follow, tmp_path):
    printed = follow("golden-sets.md", "golden.jsonl")
    assert len(printed) == 6
    assert printed["monitor golden import golden.jsonl --set refunds"].startswith("refunds, version 1: 3 items")
    exported = [json.loads(line)["id"] for line in (tmp_path / "golden.jsonl").read_text().splitlines()]
    assert exported == ["q-1", "q-2", "support-bot/q-17"]
    checked = CliRunner().invoke(
        command_line, shlex.split("golden import golden.jsonl --set refunds --dry-run --json"), catch_exceptions=False
    )
    assert json.loads(checked.stdout) == {"name": "refunds", "items": 3, "dry_run": True}


def test_correctness(follow, monkeypatch, tmp_path):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with llm_server(answer=lambda _: {"feedback": "Fine.", "score": 5}) as server:
        for name, value in {"BASE_URL": server.base_url, "API_KEY": KEY, "MODEL": CHAT_MODEL}.items():
            monkeypatch.setenv(f"MONITOR_LLM__{name}", value)
        (printed,) = follow("correctness.md", "labels.jsonl").values()
    assert "1 label, each answer judged 2 times" in printed
    assert "there is one such answer only" in printed
    grades = [json.loads(line) for line in (tmp_path / "grades.jsonl").read_text().splitlines()]
    assert {tuple(one["scores"]) for one in grades} == {(5, 5)}
