"""`monitor probe agreement` with a scripted judge."""

from __future__ import annotations

import json
import re
from datetime import timedelta

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from monitor.core.errors import WrongSettings
from monitor.core.model import Document
from tests.factories.answers import NOON, a_batch, an_assessment
from tests.servers.llm import CHAT_MODEL, KEY, llm_server

LABELS = [
    {"question": "When?", "reference": "At nine.", "answer": f"At {n}.", "score": n, "documents": [f"Document {n}."]}
    for n in (1, 3, 5)
]
FIGURES = ("answers", "pearson", "spearman", "kappa", "bias", "tilt", "ungraded")


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

    def ran(*arguments, **given):
        return CliRunner().invoke(
            command_line, ["probe", "agreement", *map(str, arguments)], env={"COLUMNS": "200"}, **given
        )

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
        figures = {name: one[name] for name in FIGURES}
        assert figures == {
            "answers": 3,
            "pearson": 1.0,
            "spearman": 1.0,
            "kappa": 1.0,
            "bias": 0.0,
            "tilt": 0.0,
            "ungraded": 0,
        }
        assert one["without_0"] == {name: one[name] for name in (*FIGURES[:5], "undefined")}
        assert one["not_sure"] == {"both": 0, "judge_alone": 0, "people_alone": 0, "kappa": None}
        assert [one["table"][score][score] for score in range(6)] == [0, 1, 0, 1, 0, 1]
    # Of three documents all are found in either way: the judge sees the same, so it is asked once.
    assert [one["spend"]["calls"] for one in found["contexts"]] == [6, 0, 6]
    assert (found["labels"], found["reused"]) == (3, 3)
    assert sum(map(with_contexts, server.chats)) == 6
    change = found["differences"]["all"]["pearson"]
    assert (change["value"], change["interval"]) == (0.0, None)
    assert "fewer than 10 different questions" in change["reason"]


def test_the_table_says_what_was_measured(run, labels):
    done = run(labels, "--repeats", 1)
    assert done.exit_code == 0, done.output
    row = next(line for line in done.stdout.splitlines() if line.startswith("by question and reference"))
    assert row.split()[4:] == ["3", "1.00", "1.00", "1.00", "+0.00", "undefined", "0"]
    assert f"3 labels, each answer judged 1 time by {CHAT_MODEL}, 6 calls; 3 documents" in done.stdout
    assert "none: tilt undefined, since each is judged once: --repeats 2" in done.stdout
    assert "none: people's scores by row, the judge's by column" in done.stdout
    assert "Pearson +0.00, without an interval: fewer than 10 different questions" in done.stdout


def test_what_is_undefined_says_why(run, labels, server):
    server.answer = lambda _: {"feedback": "Fine.", "score": 0}
    done = run(labels, "--contexts", "none")
    assert done.exit_code == 0, done.output
    assert "none: undefined, since one and the same score by the judge" in done.stdout
    assert "none, without 0: undefined, since there are no such answers" in done.stdout
    assert "none: not sure by both 0, by the judge alone 3, by people alone 0; κ 0.00" in done.stdout


def test_answers_that_could_not_be_judged_are_told_with_the_reason(run, labels, server):
    server.answer = lambda request: said(request) if "At 3" not in request.user else {"score": 9}
    done = run(labels, "--contexts", "none")
    assert "none: 1 answer could not be judged: malformed 1" in done.stdout
    found = json.loads(run(labels, "--contexts", "none", "--json").stdout)
    assert (found["labels"], found["contexts"][0]["answers"]) == (3, 2)
    assert found["contexts"][0]["ungraded_by_reason"] == {"malformed": 1}


def test_only_the_ways_that_were_asked_for_are_judged(run, labels, server):
    found = json.loads(run(labels, "--contexts", "none", "--contexts", "question", "--json").stdout)
    assert [one["contexts"] for one in found["contexts"]] == ["by question", "none"]
    assert found["differences"] == {}
    assert len(server.chats) == 12


def test_a_way_that_needs_documents_is_refused_without(run):
    lines = "".join(json.dumps({**label, "documents": []}) + "\n" for label in LABELS)
    done = run("-", "--contexts", "both", input=lines)
    assert isinstance(done.exception, WrongSettings)
    assert "no documents are known" in str(done.exception)


def test_a_call_that_is_stopped_says_how_to_go_on_and_the_same_call_does(run, labels, tmp_path, monkeypatch, server):
    monkeypatch.setenv("MONITOR_PROBE__CONCURRENCY", "1")
    file = tmp_path / "grades.jsonl"
    monkeypatch.setenv("MONITOR_LLM__BUDGET__CALLS_PER_DAY", "10")  # half of them for probes
    stopped = run(labels, "--save", file, "--json")
    assert stopped.exit_code
    assert f"2 grades in {file}; the same command goes on from there" in stopped.stderr
    assert "--save FILE keeps it" in run(labels).stderr
    monkeypatch.delenv("MONITOR_LLM__BUDGET__CALLS_PER_DAY")
    before = len(server.chats)
    found = json.loads(run(labels, "--save", file, "--json").stdout)
    assert len(server.chats) - before == 8
    assert (found["reused"], found["contexts"][0]["answers"]) == (5, 3)
    again = json.loads(run(labels, "--save", file, "--json").stdout)
    assert len(server.chats) - before == 8
    assert [one["table"] for one in again["contexts"]] == [one["table"] for one in found["contexts"]]


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


def test_an_app_without_answers_is_refused_with_those_that_have_some(run, labels, writer, server):
    done = run(labels, "--app", "nix")
    assert str(done.exception) == ("--app: no answer of the app 'nix' is stored; apps that have some: none")
    writer.write(a_batch(an_assessment(app="shop", retrieved_documents=())))
    assert str(run(labels, "--app", "nix").exception).endswith("; apps that have some: shop")
    assert not server.chats
    assert str(run(labels, "--app", "shop", "--contexts", "both").exception).startswith(
        "the answers of the app 'shop' of the last 28 days hold no documents: name another app, or leave"
    )
    assert "the answers of the app 'shop' of the last 28 days hold no documents, so answers are judged without" in (
        run(labels, "--app", "shop", "--json").stderr
    )


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
