"""Judgements of one interaction in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from monitor.cli.terminal import readable

_MOST = 3  # of the parts that speak against an answer
_AGAINST = {"statements": ("supported", "statement"), "documents": ("useful", "why"), "questions": ("yes", "question")}


def judgement_table(judgements: Sequence[Mapping[str, Any]]) -> Iterator[RenderableType]:
    """A table of rows of `Queries.judgements`, the latest of each metric, with what spoke against a full score."""
    latest = {row["metric"]: row for row in reversed(judgements)}
    if not latest:
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, row in sorted(latest.items()):
        score = "–" if row["score"] is None else f"{row['score']:.2f}"
        table.add_row(name.replace("_", " "), score, Text(readable(told(row)), style="dim"))
    yield Text.assemble("judged by ", readable(next(iter(latest.values()))["model"]), style="bold")
    yield table


def told(row: Mapping[str, Any]) -> str:
    """What spoke against a full score, on some lines; why there is none."""
    if row["score"] is None:
        return str(row["reason"]).replace("_", " ")
    parts = row["parts"]
    for name, (verdict, text) in _AGAINST.items():
        if name in parts and all(verdict in part for part in parts[name]):
            against = [_line(part, text) for part in parts[name] if not part[verdict]]
            good = f"{len(parts[name]) - len(against)} of {len(parts[name])} {name}"
            return "\n".join([good, *(f"✗ {line}" for line in against[:_MOST])])
    if "questions" in parts:
        return "\n".join(f"{part['similarity']:.2f} {part['question']}" for part in parts["questions"][:_MOST])
    if "sentences" in parts:
        return f"{len(parts['sentences'])} of {parts['total']} sentences are needed"
    if "missed" in parts:
        return "missed: " + (", ".join(parts["missed"]) or "none")
    return ""


def _line(part: Mapping[str, Any], text: str) -> str:
    document = f"document {part['document'] + 1}: " if "document" in part else ""
    why = f" ({part['why']})" if text != "why" and part.get("why") else ""
    return f"{document}{part[text]}{why}"
