"""How a follow-up question was read, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def read_as_lines(row: Mapping[str, Any]) -> list[tuple[str, str]]:
    """How a follow-up question was read, as labelled lines; empty if it was read as it stands."""
    read = row.get("read_as")
    if read is None:
        return []
    text = f"not known any more: {read['problem']}" if read["text"] is None else read["text"]
    turns = " and ".join(piece["id"] for piece in read["borrowed"])
    moved_by = [f"{name.upper()} {_cosine(before)} → {_cosine(row[name])}" for name, before in read["as_asked"].items()]
    return [("read as", text), ("", f"completed with the words of {turns}: {', '.join(moved_by)}")]


def _cosine(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}".replace("-", "−")
