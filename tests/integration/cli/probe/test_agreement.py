"""`monitor probe agreement` with a scripted judge."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
import typer
from typer.testing import CliRunner

from monitor.cli.probe.agreement import agreement
from monitor.core.errors import WrongSettings
from monitor.core.model import Document
from tests.factories.answers import NOON, a_batch, an_assessment
from tests.servers.llm import CHAT_MODEL, KEY, llm_server

LABELS = [
    {"question": "When?", "reference": "At nine.", "answer": f"At {n}.", "score": n, "documents": [f"Document {n}."]}
    for n in (1, 3, 5)
]


def said(request):
    """The number in the answer, which is the score."""
    number = re.search(r"<answer \w+>\nAt (\d)", request.user)[1]
    return {"feedback": f"It says {number}.", "score": int(number)}


def with_contexts(request):
    return "<context-1 " in request.user


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with llm_server(answer=said) as running:
        yield running


@pytest.fixture
def run(database, server, monkeypatch):
    for name, value in {
        "DATABASE_URL": database,
        "EMBEDDING__PROVIDER": "hash",
        "LLM__BASE_URL": server.base_url,
        "LLM__API_KEY": KEY,
        "LLM__MODEL": CHAT_MODEL,
    }.items():
        monkeypatch.setenv(f"MONITOR_{name}", value)
    application = typer.Typer()
    application.command()(agreement)

    def ran(*arguments, **given):
        return CliRunner().invoke(application, list(map(str, arguments)), env={"COLUMNS": "200"}, **given)

    return ran


@pytest.fixture
def labels(tmp_path):
    file = tmp_path / "labels.jsonl"
    file.write_text("".join(json.dumps(label) + "\n" for label in LABELS), encoding="utf-8")
    return file


def test_the_three_kinds_of_contexts_are_compared(run, labels, server):
    done = run(labels, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["judge"], found["repeats"], found["documents"]) == (CHAT_MODEL, 2, 3)
    assert [one["contexts"] for one in found["contexts"]] == ["by question", "by question and reference", "none"]
    for one in found["contexts"]:
        figures = {name: one[name] for name in ("answers", "pearson", "spearman", "kappa", "bias", "tilt", "ungraded")}
        assert figures == {
            "answers": 3,
            "pearson": 1.0,
            "spearman": 1.0,
            "kappa": 1.0,
            "bias": 0.0,
            "tilt": 0.0,
            "ungraded": 0,
        }
        assert one["spend"]["calls"] == 6
    assert sum(map(with_contexts, server.chats)) == 12


def test_the_table_says_what_was_measured(run, labels):
    done = run(labels, "--repeats", 1)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("by question and reference"))
    assert row.split()[4:] == ["3", "1.00", "1.00", "1.00", "+0.00", "–", "0"]
    assert f"each answer judged 1 time by {CHAT_MODEL}, 9 calls; 3 documents" in done.stdout


def test_contexts_come_from_the_live_documents_of_an_app(run, labels, writer, server, monkeypatch):
    monkeypatch.setattr("monitor.store.probe.documents.SPAN", timedelta(days=36_500))
    live = (Document(id="d", text="Live text, when at nine."),)
    writer.write(a_batch(an_assessment(app="shop", occurred_at=NOON, retrieved_documents=live)))
    done = run(labels, "--app", "shop", "--json")
    assert json.loads(done.stdout)["documents"] == 1
    assert {"Live text" in chat.user for chat in server.chats if with_contexts(chat)} == {True}


def test_without_documents_answers_are_judged_without_contexts_only(run, server):
    lines = "".join(json.dumps({**label, "documents": []}) + "\n" for label in LABELS)
    done = run("-", "--json", input=lines)
    assert [one["contexts"] for one in json.loads(done.stdout)["contexts"]] == ["none"]
    assert "no documents are known" in done.stderr
    assert not any(map(with_contexts, server.chats))


def test_our_own_labels_are_judged_by_default(run, server):
    server.answer = lambda _: {"feedback": "Fine.", "score": 3}
    found = json.loads(run("--repeats", 1, "--json").stdout)
    assert found["documents"] == 89
    by_question = found["contexts"][0]
    assert (by_question["answers"], by_question["pearson"], by_question["kappa"]) == (
        50,
        None,
        pytest.approx(0, abs=0.2),
    )


def test_a_file_of_another_form_is_refused(run, tmp_path):
    file = tmp_path / "labels.csv"
    file.write_text("question,answer\na,b\n", encoding="utf-8")
    assert isinstance(run(file).exception, WrongSettings)
