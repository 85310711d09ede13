"""Labelling in a terminal by single keys."""

from __future__ import annotations

import io
import sys
from datetime import timedelta

import pytest
import typer
from typer.testing import CliRunner

from monitor.app.wiring.application import Application
from monitor.cli.app import app as command_line
from monitor.cli.review import commands as cli_review
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from tests.rig.store.reviewing import many, write


@pytest.fixture
def sitting(application, monkeypatch):  # noqa: ARG001  the command runs under its settings
    """Runs `review next --interactive` with these keys, then the end of the input."""

    def run(*keys, arguments=()):
        pressed = iter(keys)

        def getchar():
            key = next(pressed, None)
            if key is None:
                raise EOFError
            if key == "^C":
                raise KeyboardInterrupt
            return key

        monkeypatch.setattr(typer, "getchar", getchar)
        monkeypatch.setattr(cli_review, "_on_a_terminal", lambda: True)
        return CliRunner().invoke(
            command_line, ["review", "next", "-i", "--since", "52w", "--by", "ann", *arguments], catch_exceptions=False
        )

    return run


def recently(number):
    return many(number, occurred_at=Application(load_settings()).now() - timedelta(hours=1))


def test_each_key_labels_and_the_next_one_comes(writer, sitting, rows):
    write(writer, *recently(6))
    ended = sitting("g", "x", "R", "n", "s", "q", "g")
    assert ended.exit_code == 0
    assert rows("SELECT label, labelled_by FROM review ORDER BY id") == [
        ("grounded", "ann"),
        ("refusal", "ann"),
        ("self_generated", "ann"),
    ]
    assert rows("SELECT count(DISTINCT interaction_id) FROM review_offer") == [(5,)]  # the sixth was not shown
    assert "3 labelled by ann" in ended.output


@pytest.mark.parametrize("keys", [(), ("^C",), ("q",)], ids=str)
def test_the_end_of_the_input_and_ctrl_c_end_it_well(writer, sitting, rows, keys):
    write(writer, *recently(3))
    ended = sitting(*keys)
    assert (ended.exit_code, rows("SELECT count(*) FROM review")) == (0, [(0,)])
    assert "0 labelled" in ended.output


def test_with_nothing_to_label_it_says_so(sitting):
    assert "nothing to label" in sitting().output


@pytest.mark.usefixtures("application")
def test_without_a_terminal_nobody_is_asked(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("g"))
    with pytest.raises(WrongSettings, match="needs a terminal"):
        CliRunner().invoke(command_line, ["review", "next", "-i", "--by", "ann"], catch_exceptions=False)
