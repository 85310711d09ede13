"""What `monitor golden` says of files, interactions and versions."""

from __future__ import annotations

import json
import re

import pytest
from typer.testing import CliRunner

from monitor.cli.app import app as command_line
from monitor.core.errors import WrongSettings
from tests.factories.answers import a_batch, an_assessment

ITEMS = [{"id": f"q{n}", "question": f"When is day {n}?", "reference": f"On day {n}."} for n in range(3)]


def lines(*items):
    return "".join(json.dumps(one) + "\n" for one in items)


@pytest.fixture
def golden(database, tmp_path, monkeypatch):
    monkeypatch.setenv("MONITOR_DATABASE_URL", database)
    monkeypatch.setenv("MONITOR_AUDIT__ENABLED", "0")
    monkeypatch.chdir(tmp_path)

    def ran(*words, **given):
        return CliRunner().invoke(command_line, ["golden", *words], **given)

    return ran


@pytest.fixture
def imported(golden):
    """Imports items from standard input; returns what is printed, without the hash."""

    def done(*items, **given):
        ended = golden("import", "-", "--set", "days", input=lines(*items), **given)
        assert ended.exit_code == 0, ended.exception
        return re.fullmatch(r"days, version (\d: \d items), [0-9a-f]{16}(.*)\n", ended.stdout).expand(r"\1\2")

    return done


def why(ended):
    assert isinstance(ended.exception, WrongSettings), ended.output
    return str(ended.exception)


def test_an_import_says_what_is_new_and_what_is_as_it_was(golden, imported):
    assert imported(*ITEMS) == "1: 3 items"
    assert imported(*ITEMS) == "1: 3 items; unchanged: 3, so there is no new version"
    changed = {**ITEMS[1], "reference": "Never."}
    more = {**ITEMS[0], "id": "q9", "question": "Why?"}
    assert imported(ITEMS[0], changed, more) == "2: 3 items; new: 1, changed: 1, unchanged: 1, gone: 1"
    removed = json.loads(golden("remove", "days", "q9", "--json").stdout)
    assert removed["changes"] == {"new": 0, "changed": 0, "unchanged": 2, "gone": 1}


def test_standard_input_is_named_in_messages(golden):
    assert why(golden("import", "-", "--set", "days", input="question;answer\na;b\n")).startswith(
        "standard input:1: the header has question, but no reference"
    )


def test_an_interaction_that_is_not_there_is_told_by_how_it_was_written(golden):
    assert why(golden("add", "shop/x", "--set", "days")) == (
        "no interaction 'shop/x' is assessed: monitor explain lists the newest that are"
    )
    assert why(golden("add", "x", "--set", "days")) == "'x' is no APP/ID, such as support-bot/q-17"


def test_an_empty_reference_is_no_missing_one(golden, writer):
    writer.write(a_batch(an_assessment(app="shop", id="1", reference_answer="14 days.")))
    assert why(golden("add", "shop/1", "--set", "days", "--reference", "")) == "shop/1: its reference is empty"
    assert golden("add", "shop/1", "--set", "days").exit_code == 0


def test_a_set_is_shown_with_tags_and_sources(golden, imported):
    imported({**ITEMS[0], "tags": {"topic": "days", "n": 1}, "source": "shop/7"}, ITEMS[1])
    first, second = golden("show", "days").stdout.split("\n\n")[1:]
    assert first.splitlines()[2:] == ["  tags: n=1, topic=days", "  made of shop/7"]
    assert len(second.splitlines()) == 2
