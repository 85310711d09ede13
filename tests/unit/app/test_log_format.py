"""A log line is one line, whatever is in it; it says where it belongs, and quotes no foreign error."""

from __future__ import annotations

import json
import logging
from datetime import datetime, timedelta

import pytest

from monitor.app.log_format import JsonFormatter, TextFormatter
from monitor.core.errors import OutOfReach
from monitor.core.stage import stage

FORGED = "support\n2026-03-01 12:00:00,000 CRITICAL monitor: all is lost\r\x1b[2J\u2028\x85\ud800"


def record(message: str, *arguments: object, error: BaseException | None = None, **extra: object) -> logging.LogRecord:
    info = None if error is None else (type(error), error, error.__traceback__)
    made = logging.LogRecord("monitor.app", logging.WARNING, "", 0, message, arguments, info)
    made.__dict__.update(extra)
    return made


def as_json(made: logging.LogRecord) -> dict[str, object]:
    line = JsonFormatter("run").format(made)
    assert line.isascii()
    assert line.isprintable()
    parsed = json.loads(line)
    assert isinstance(parsed, dict)
    return parsed


def raised(error: Exception, cause: Exception | None = None) -> Exception:
    try:
        raise error from cause
    except type(error) as caught:
        return caught


def test_a_json_line_says_when_how_grave_where_and_what():
    line = as_json(record("%d answers of %s", 3, "support", app="support", interaction_id="q-1"))
    time = datetime.fromisoformat(str(line.pop("time")))
    assert time.utcoffset() == timedelta(0)
    assert isinstance(line.pop("pid"), int)
    assert line == {
        "level": "warning",
        "logger": "monitor.app",
        "message": "3 answers of support",
        "command": "run",
        "app": "support",
        "interaction_id": "q-1",
    }


def test_what_an_event_brings_cannot_begin_a_line_of_its_own():
    assert as_json(record("an app: %s", FORGED))["message"] == f"an app: {FORGED}"
    first, *others = TextFormatter().format(record("an app: %s", FORGED)).split("\n")
    assert first.endswith("WARNING monitor.app: an app: support")
    assert all(line.startswith("    ") for line in others)
    assert not {"\r", "\x1b", "\x85"} & set("".join(others))


def test_a_line_carries_what_its_stages_say_the_inner_before_the_outer():
    with stage("process", topic="answers", partition=3, offset=7, messages=2), stage("rule", rule="r", topic="inner"):
        line = as_json(record("it failed", offset=9))
    assert {name: line.get(name) for name in ("topic", "partition", "offset", "rule", "messages")} == {
        "topic": "inner",
        "partition": 3,
        "offset": 9,
        "rule": "r",
        "messages": None,
    }


@pytest.mark.parametrize("form", [TextFormatter(), JsonFormatter("run")])
def test_a_foreign_error_is_told_by_type_and_place_and_ours_by_its_words(form):
    line = form.format(record("a defect", error=raised(ValueError("what a chatbot said"), OutOfReach("no database"))))
    assert "what a chatbot said" not in line
    assert "builtins.ValueError" in line
    assert "monitor.core.errors.OutOfReach: no database" in line
    assert "test_log_format.py" in line
    assert line.index("no database") < line.rindex("ValueError")


def test_errors_that_cause_each_other_are_told_once():
    first, second = raised(ValueError("a")), raised(TypeError("b"))
    first.__cause__, second.__cause__ = second, first
    assert str(as_json(record("a defect", error=first))["traceback"]).count("builtins.") == 2


def test_a_message_that_does_not_suit_its_arguments_is_a_line_all_the_same():
    assert as_json(record("%d answers", "no number"))["message"] == "%d answers"
