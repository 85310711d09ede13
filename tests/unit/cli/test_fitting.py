"""Tables on terminals that are too narrow for them."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import LONGEST_WORD, fitted
from monitor.cli.terminal import literal

PATH = "monitor: /tmp/h33/newcomer/away/live.jsonl#10486206-52a0118e7e3c83f3/0"
PROBLEM = "retrieved_documents: is missing"


def table(*rows, **more):
    made = Table("id", "received (UTC)", "position", "problem", box=None, **more)
    for row in rows:
        made.add_row(*map(literal, row))
    return made


def shown(made, width):
    out = StringIO()
    Console(file=out, width=width, highlight=False).print(fitted(made, width))
    return out.getvalue()


@pytest.mark.parametrize("more", [{}, {"pad_edge": False}, {"pad_edge": False, "collapse_padding": True}])
@pytest.mark.parametrize("width", [200, 80, 64])
def test_words_stay_whole_and_nothing_is_lost(width, more):
    text = shown(table(("17", "2026-11-28 06:33:12", PATH, PROBLEM), **more), width)
    assert all(len(line) <= width for line in text.splitlines())
    for word in ("received", "(UTC)", "position", "problem", "2026-11-28", "06:33:12", *PROBLEM.split()):
        assert word in text.split(), word
    assert set("".join(PATH.split())) <= set(text)


def test_what_is_longer_than_a_word_is_folded_and_can_be_put_together():
    made = Table("hash", "n", box=None, pad_edge=False)
    made.add_row("0123456789" * 6, "1")
    lines = shown(made, 44).splitlines()[1:]
    assert "".join(line.split()[0] for line in lines) == "0123456789" * 6
    assert len(lines[0].split()[0]) >= LONGEST_WORD


def test_too_many_columns_become_lines_with_their_headings():
    made = table(("17", "2026-11-28", "a[b]", "is missing"), ("18", "", "x", "y"), show_footer=True)
    made.columns[0].footer = "all"
    text = shown(made, 30)
    assert [line.rstrip() for line in text.splitlines()][:4] == [
        "id              17",
        "received (UTC)  2026-11-28",
        "position        a[b]",
        "problem         is missing",
    ]
    assert text.rstrip().endswith("all")
    assert "received" not in text[text.index("18") :]  # an empty cell is left out


def test_a_table_that_fits_stays_as_it_is():
    made = table(("17", "now", "here", "none"))
    assert fitted(made, 80) is made
