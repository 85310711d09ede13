"""The study's experiments as they are started by hand, on made-up questions and against the scripted server."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.rig.installation import ROOT
from tests.servers.llm import KEY, ChatRequest, llm_server

PLACES = ("harbour", "market", "library", "station", "museum", "orchard")


def write(path: Path, rows: list[dict[str, object]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def data(tmp_path, monkeypatch) -> Path:
    """Enough questions for short runs; the other half of those on a place cannot be answered."""
    contexts = [f"The {PLACES[n % 6]} of town {n} opens at {n % 12 + 1}. It was built of stone." for n in range(60)]
    squad = [
        {
            "id": f"{n}-{i}",
            "question": f"When does the {PLACES[n % 6]} of town {n} open in case {i}?",
            "context": context,
            "answerable": i % 2 == 0,
            "group": str(n),
        }
        for n, context in enumerate(contexts)
        for i in range(6)
    ]
    platforms = ["aws"] * 60 + ["gcp"] * 40 + ["ibm"] * 40
    faq = [
        {
            "id": str(n),
            "question": f"what does service {n} of {platform} cost?",
            "answer": f"service {n} costs {n}",
            "platform": platform,
        }
        for n, platform in enumerate(platforms)
    ]
    folder = tmp_path / "data"
    write(folder / "questions" / "squad2.jsonl.gz", squad)
    write(folder / "questions" / "cloud_faq.jsonl.gz", faq)
    monkeypatch.setenv("MONITOR_DATA_DIR", str(folder))
    monkeypatch.setenv("MONITOR_EMBEDDING__PROVIDER", "hash")
    monkeypatch.setenv("MONITOR_LLM__API_KEY", KEY)
    return folder


def study(script: str, figures: Path, *options: str) -> dict[str, object]:
    ended = subprocess.run(
        [sys.executable, f"benchmarks/study/{script}.py", "--short", "--json", str(figures), *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return json.loads(figures.read_text())


def quoting(request: ChatRequest) -> object:
    """Declines a third of the questions and names no support for another; quotes for the rest."""
    question = request.user.split("\n")[1]
    match sum(map(ord, question)) % 3:
        case 0:
            return {"answer": "The documents do not say.", "supporting_documents": [], "declined": True}
        case 1:
            return {"answer": "At noon.", "supporting_documents": [], "declined": False}
        case _:
            support = ["It was built of stone."]
            return {"answer": "At noon.", "supporting_documents": support, "declined": False}


@pytest.mark.usefixtures("data")
def test_squad_has_the_studys_shares_and_every_table(tmp_path):
    found = study("squad", tmp_path / "figures.json")

    assert set(found["generators"]) == {"extractive", "extractive, never declines"}
    for reached in found["generators"].values():
        assert (reached["answered"], reached["unanswerable"]) == (148, 49)
        assert len(reached["thresholds"]) == 4 * 5
        assert len(reached["alone"]) == 5 * 5
        assert reached["thresholds"][0]["rates"]["f1_flag_everything"]["value"] == pytest.approx(2 * 49 / (2 * 49 + 99))
    assert found["generators"]["extractive, never declines"]["declined_of_unanswerable"] == 0
    assert found["embedding_model"] == "hash/64"


@pytest.mark.usefixtures("data")
def test_the_cloud_chatbot_knows_only_aws(tmp_path):
    found = study("cloud_faq", tmp_path / "figures.json")

    assert found["knowledge"] == 60
    assert found["retrieved"] == 3
    assert found["generators"]["extractive"]["answered"] == 15 + 24
    assert 0 <= found["answer_retrieved"] <= 1


@pytest.mark.usefixtures("data")
def test_a_language_model_is_asked_once_for_each_question_whatever_runs_again(tmp_path):
    with llm_server(answer=quoting) as server:
        first = study("squad", tmp_path / "first.json", "--llm", server.base_url)
        again = study("squad", tmp_path / "again.json", "--llm", server.base_url)
        asked = server.calls

    assert (first["llm_calls"], again["llm_calls"], asked) == (148, 0, 148)
    assert first["generators"] == again["generators"]
    named = first["generators"]["gpt-test"]
    extracted = first["generators"]["gpt-test, support extracted"]
    assert named["answered"] == extracted["answered"] == 148
    assert 0 < named["declined_of_unanswerable"] < 1
    # what is named by nobody is below every threshold; what is extracted always is something
    recall = [line["rates"]["recall"]["value"] for line in named["alone"] if line["metrics"] == "SDQ"]
    assert min(recall) >= named["declined_of_unanswerable"]


@pytest.mark.usefixtures("data")
def test_answers_in_no_form_are_left_out_and_counted(tmp_path):
    with llm_server(answer=lambda _: "no JSON at all") as server:
        found = study("squad", tmp_path / "figures.json", "--llm", server.base_url)

    assert found["not_in_form"] == 148
    assert set(found["generators"]) == {"extractive", "extractive, never declines"}


@pytest.mark.usefixtures("data")
def test_a_server_out_of_reach_is_said_in_a_line():
    ended = subprocess.run(
        [sys.executable, "benchmarks/study/squad.py", "--short", "--llm", "http://127.0.0.1:1/v1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )

    assert ended.returncode == 1
    assert "no OpenAI-compatible server answers there" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_without_the_data_it_says_so_and_does_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_DATA_DIR", str(tmp_path / "nowhere"))
    ended = subprocess.run(
        [sys.executable, "benchmarks/study/squad.py", "--short"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=os.environ,
    )

    assert ended.returncode == 0
    assert "set MONITOR_DATA_DIR" in ended.stdout
