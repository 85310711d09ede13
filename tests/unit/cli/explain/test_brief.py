"""One interaction in a few lines: nothing of the answer is lost, and what is cut says so."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from monitor.cli.explain.brief import in_brief
from tests.factories.assess.explained_rows import ROW


@pytest.mark.parametrize("width", [50, 60, 80])
def test_the_answer_is_whole_and_the_other_lines_end_in_an_ellipsis_where_they_are_cut(width):
    answer = "Pens and notebooks are at the desk of the north hall, and paper by the printer. " * 4
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(in_brief({**ROW, "question": "What does parking cost at the north gate? " * 4, "answer": answer}))
    verdict, question, *rest = console.file.getvalue().splitlines()
    finding = rest.pop()
    assert verdict.startswith("verdict")
    assert question.startswith("  question")
    assert question.rstrip().endswith("…")
    assert finding.startswith("  finding")
    words = " ".join(rest).split()
    assert words == ["answer", *answer.split()]
    assert all(len(line) <= width for line in rest)


def test_a_finding_that_is_cut_ends_in_an_ellipsis():
    console = Console(file=io.StringIO(), width=40, color_system=None)
    console.print(in_brief({**ROW, "question": "Why?"}))
    assert console.file.getvalue().splitlines()[-1].rstrip().endswith("…")
