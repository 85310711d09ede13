"""How a report is printed."""

from __future__ import annotations

import sys

import pytest
from rich.text import Text

from monitor.cli.report import _show

MARKDOWN = rb"""- Sure (q \< 0.001), see `/interactions?app=a`

| Verdict | Share |
| --- | ---: |
| self\_generated | 45.0 % |
"""


@pytest.fixture
def on(monkeypatch):
    """Makes standard output a terminal or not."""
    return lambda *, terminal: monkeypatch.setattr(sys.stdout, "isatty", lambda: terminal)


def test_a_terminal_shows_no_markdown_signs(on, capsys):
    on(terminal=True)
    _show(MARKDOWN, laid_out=True)
    shown = Text.from_ansi(capsys.readouterr().out).plain
    assert "Sure (q < 0.001), see /interactions?app=a" in shown
    assert "self_generated" in shown
    assert not {"\\", "|", "`"} & set(shown)


@pytest.mark.parametrize(("terminal", "laid_out"), [(True, False), (False, True)])
def test_markdown_that_is_asked_for_or_goes_elsewhere_stays_as_it_is(on, capsys, terminal, laid_out):
    on(terminal=terminal)
    _show(MARKDOWN, laid_out=laid_out)
    assert capsys.readouterr().out == MARKDOWN.decode()
