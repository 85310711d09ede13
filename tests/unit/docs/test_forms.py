"""The examples of docs/start/forms.md are read by the commands that stand below them."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line

PAGE = (Path(__file__).parents[3] / "docs/start/forms.md").read_text(encoding="utf-8")
EXAMPLE = re.compile(r"`(?P<name>[\w.]+)`:\n\n```\w+\n(?P<content>.*?)```\n\n```sh\n(?P<command>.*?)\n```", re.DOTALL)
EXAMPLES = {match["name"]: match for match in EXAMPLE.finditer(PAGE)}


@pytest.mark.parametrize(
    ("name", "questions"),
    [
        ("samples.jsonl", ["When do you open?"]),
        ("answers.csv", ["When do you open?", "Do you ship abroad?"]),
        ("records.json", ["When do you open?"]),
    ],
)
def test_an_example_is_read_by_its_command(tmp_path, monkeypatch, name, questions):
    monkeypatch.chdir(tmp_path)
    example = EXAMPLES[name]
    Path(name).write_text(example["content"], encoding="utf-8")
    done = CliRunner().invoke(command_line, [*shlex.split(example["command"])[1:], "--json"])
    assert done.exit_code == 0, done.output
    events = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    assert [event["question"] for event in events] == questions
    assert all(event["retrieved_documents"] for event in events)
