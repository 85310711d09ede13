"""What `monitor probe run` prints when something is in its way: each thing once."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from monitor.core.errors import Fatal, OutOfReach
from tests.servers.chatbot import Says, chatbot
from tests.servers.llm import CHAT_MODEL, KEY, llm_server
from tests.servers.llm.conversing import conversing

ITEMS = [{"id": f"q{n}", "question": f"When is day {n}?", "reference": "A refund takes 14 days."} for n in range(3)]
PROBES = """
probes:
  - name: days
    app: shop
    golden: days
    concurrency: 1
    target:
      http:
        url: {url}
        body: "{{question}}"
        answer: $.answer
        documents: $.sources[*].text
        version: $.version
"""


@pytest.fixture
def bot():
    with chatbot() as running:
        yield running


@pytest.fixture
def judge():
    with llm_server(answer=conversing) as running:
        yield running


@pytest.fixture
def probe(database, judge, bot, tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    (tmp_path / "probes.yaml").write_text(PROBES.format(url=bot.url))
    (tmp_path / "days.jsonl").write_text("".join(json.dumps(one) + "\n" for one in ITEMS))
    for name, value in {
        "DATABASE_URL": database,
        "EMBEDDING__PROVIDER": "hash",
        "AUDIT__ENABLED": "0",
        "LLM__BASE_URL": judge.base_url,
        "LLM__API_KEY": KEY,
        "LLM__MODEL": CHAT_MODEL,
        "PROBES": str(tmp_path / "probes.yaml"),
    }.items():
        monkeypatch.setenv(f"MONITOR_{name}", value)
    CliRunner().invoke(command_line, ["golden", "import", str(tmp_path / "days.jsonl"), "--set", "days"])

    def ran(*words):
        return CliRunner().invoke(command_line, ["probe", *words], env={"COLUMNS": "200"})

    return ran


@pytest.mark.parametrize("status", [401, 404])
def test_a_chatbot_that_refuses_is_told_once(probe, bot, status):
    bot.script += [Says(status=status, body="who?")]
    ended = probe("run", "days")
    assert type(ended.exception) is Fatal
    assert f"HTTP {status} (who?): check the target's url and headers" in str(ended.exception)
    about, *lines = ended.stdout.splitlines()
    assert about.startswith("run 1 of the probe days: failed, 3 questions of days, version 1, ")
    assert lines == ["failed: 0 of 3 questions were asked"]
    assert f"failed: 0 of 3 questions were asked: http {bot.url}" in probe("show", "1").stdout


def test_a_judge_that_refuses_is_told_once(probe, monkeypatch):
    monkeypatch.setenv("MONITOR_LLM__API_KEY", "another")
    ended = probe("run", "days")
    assert isinstance(ended.exception, Fatal)
    assert ended.stdout.splitlines()[1:] == ["failed: 0 of 3 questions were asked"]
    assert str(ended.exception) in probe("show", "1").stdout


def test_a_chatbot_that_nobody_reaches_is_told_once(probe, tmp_path):
    (tmp_path / "probes.yaml").write_text(PROBES.format(url="http://127.0.0.1:1/"))
    ended = probe("run", "days")
    assert isinstance(ended.exception, OutOfReach)
    assert ended.stdout.splitlines()[1:] == ["the chatbot did not answer 3 questions", "  monitor probe show 1"]


def test_paths_that_find_nothing_in_any_answer_are_told(probe, bot):
    ended = probe("run", "days")
    assert ended.exit_code == 0, ended.exception
    assert ended.stdout.splitlines()[-2:] == [
        f"{name}: nothing stood at {path} in any answer of the chatbot: check this path in the probes file"
        for name, path in (("documents", "$.sources[*].text"), ("version", "$.version"))
    ]
    told = {"answer": "14 days.", "sources": [{"text": "Refunds."}], "version": "v1"}
    bot.script += [Says(body=json.dumps(told))]
    assert "nothing stood at" not in probe("run", "days").stdout


def test_nothing_is_said_of_paths_where_nothing_was_answered(probe, bot):
    bot.script += [Says(status=400) for _ in ITEMS]
    assert "nothing stood at" not in probe("run", "days").stdout
