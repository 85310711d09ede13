"""Renders an evaluation as Markdown and as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from monitor.core.text.plain import readable
from monitor.review.evaluate.document import headline, interval, number, sections
from monitor.review.evaluate.elements import MISSING, Cell
from monitor.review.evaluate.figures import Evaluated, Figure
from monitor.review.evaluate.wording import notes


def as_json(evaluated: Evaluated) -> dict[str, Any]:
    """Every figure, unrounded, under the names of `figures.py`; `notes` holds the remarks that come before them."""
    return {**asdict(evaluated), "notes": notes(evaluated)}


def plain(cell: Cell, *, with_interval: bool = True) -> str:
    """A cell as text: `.842 (.801–.881)`."""
    if isinstance(cell, Figure):
        bounds = interval(cell) if with_interval else ""
        return f"{number(cell.value)} ({bounds})" if bounds else number(cell.value)
    return f"{cell:,}" if isinstance(cell, int) else cell


def markdown(evaluated: Evaluated) -> str:
    """All sections with tables in GitHub's syntax; only the page has charts."""
    return "\n".join(_markdown(evaluated)) + "\n"


def _markdown(evaluated: Evaluated) -> Iterator[str]:
    yield from ("# Evaluation", "", _escaped(headline(evaluated)), "")
    yield f"Files: {', '.join(f'`{name}`' for name in evaluated.files)}"
    yield ""
    for note in notes(evaluated):
        yield from (f"- **{note}**", "")
    for section in sections(evaluated):
        yield from (f"## {section.title}", "", section.words, "")
        for grid in section.grids:
            yield _line(grid.headings)
            yield _line(["---" if place < grid.labels else "---:" for place in range(len(grid.headings))])
            yield from (_line([plain(cell) for cell in row]) for row in grid.rows)
            yield ""
            if grid.reasons:
                yield from (f"{MISSING}: {'; '.join(grid.reasons)}", "")
    yield f"Intervals: 95%, {evaluated.draws:,} resamples of whole groups, seed {evaluated.seed}."


def _line(cells: list[str] | tuple[str, ...]) -> str:
    return f"| {' | '.join(map(_escaped, cells))} |"


def _escaped(text: str) -> str:
    """Escapes text from outside, so that it neither breaks a table nor becomes markup."""
    flat = " ".join(readable(text).split())
    return "".join(f"\\{c}" if c in r"\`*_[]<>|#" else c for c in flat)
