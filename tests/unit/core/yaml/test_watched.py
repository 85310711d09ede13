"""A file that is read again and again: that of the alert rules, which has the strictest form."""

from __future__ import annotations

import logging
from functools import partial

import pytest

from monitor.alert.rules.file import parse_rules
from monitor.core.errors import WrongSettings
from monitor.core.yaml.watched import WatchedFile

RIGHT = "rules:\n  - {name: a, signal: {rate: refusal}, above: 0.2}\n"
OTHER = RIGHT.replace("name: a", "name: b")
WRONG = RIGHT.replace("above", "abov")


def watch(path):
    parse = partial(parse_rules, name=str(path), receivers=("console",))
    return WatchedFile(path, parse, of="alert rules", count=lambda rules: len(rules.rules))


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rules.yaml"
    file.write_text(RIGHT)
    return file


@pytest.fixture
def watched(path):
    return watch(path)


@pytest.fixture
def logged(caplog):
    caplog.set_level(logging.INFO, "monitor.core.yaml.watched")

    def ask():
        found = [(record.levelname, record.getMessage()) for record in caplog.records]
        caplog.clear()
        return found

    return ask


def names(watched):
    return [rule.name for rule in watched.current().rules]


def test_a_file_that_stays_is_parsed_once(watched, logged):
    assert watched.current() is watched.current()
    assert logged() == []


def test_a_change_takes_effect_at_the_next_look(path, watched, logged):
    path.write_text(OTHER)
    assert names(watched) == ["b"]
    ((level, text),) = logged()
    assert (level, text.endswith("rules.yaml has changed; alert rules in force: 1")) == ("INFO", True)


def test_wrong_rules_keep_the_previous_ones_and_are_logged_once(path, watched, logged):
    path.write_text(WRONG)
    assert names(watched) == names(watched) == ["a"]
    ((level, text),) = logged()
    assert level == "ERROR"
    assert f"{path}:2:" in text
    path.write_text(WRONG + "\n")
    assert names(watched) == ["a"]
    assert len(logged()) == 1
    path.write_text(OTHER)
    assert names(watched) == ["b"]
    assert logged()[0][0] == "INFO"


def test_going_back_to_the_previous_text_is_not_an_error(path, watched, logged):
    path.write_text(WRONG)
    watched.current()
    path.write_text(RIGHT)
    assert names(watched) == ["a"]
    assert [level for level, _ in logged()] == ["ERROR", "INFO"]


def test_an_unreadable_file_keeps_the_rules_and_is_logged_once(path, watched, logged):
    path.unlink()
    assert names(watched) == names(watched) == ["a"]
    ((level, text),) = logged()
    assert level == "ERROR"
    assert "cannot read the alert rules" in text
    path.write_bytes(b"rules: [\xe4]")
    assert names(watched) == ["a"]
    path.write_text(OTHER)
    assert names(watched) == ["b"]


def test_a_receiver_that_is_not_configured_is_refused(path, watched, logged):
    path.write_text(RIGHT.replace("above: 0.2", "above: 0.2, receivers: pager"))
    assert names(watched) == ["a"]
    assert "'pager' is not configured" in logged()[0][1]


def test_a_file_wrong_at_the_start_is_refused(path):
    path.write_text(WRONG)
    with pytest.raises(WrongSettings):
        watch(path)
