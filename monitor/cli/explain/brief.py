"""One interaction in a few lines: verdict, question, answer, and the one finding that says most."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.table import Table
from rich.text import Text

from monitor.assess.classify.refusal import Role
from monitor.assess.explain import COLOURS, certainty, sentences
from monitor.cli.explain.panel import findings
from monitor.core.text.plain import readable


def in_brief(row: Mapping[str, Any]) -> Table:
    """One row of `AssessmentQueries.with_assessments`; question and finding are cut to one line each."""
    verdict = row["verdict"]
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim", no_wrap=True, min_width=len("  question"))
    table.add_column(overflow="fold")  # may wrap: rich lays out a table of nothing but `no_wrap` too wide, and crops it
    head = Text.assemble((verdict.replace("_", "-"), f"bold {COLOURS[verdict]}"), f", {certainty(row)}", ("  ", ""))
    table.add_row("verdict", head.append(f"{readable(row['id'])}, {row[f'p_{verdict}']:.0%}", "dim"))
    table.add_row("  question", Text(readable(row["question"]), no_wrap=True, overflow="ellipsis"))
    table.add_row("  answer", Text(readable(row["answer"])))
    for sentence in sentences(row):
        if found := list(findings(row, sentence, only_polite=False)):
            finding = found[-1]
            finding.no_wrap, finding.overflow = True, "ellipsis"
            table.add_row("  finding", finding)
        if sentence.role is Role.CONTENT or sentence.cue is not None:
            break
    return table
