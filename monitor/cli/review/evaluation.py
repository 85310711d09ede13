"""Prints an evaluation on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from monitor.cli.fitting import fitted
from monitor.cli.terminal import literal
from monitor.core.text.plain import readable
from monitor.review.evaluate.document import headline, interval, sections
from monitor.review.evaluate.elements import MISSING, Cell, Grid
from monitor.review.evaluate.figures import Evaluated, Figure
from monitor.review.evaluate.formats import plain
from monitor.review.evaluate.wording import notes


def terminal(evaluated: Evaluated, width: int) -> RenderableType:
    """All tables and what they mean, for a terminal of `width` columns. Intervals are shown if there is room."""
    parts: list[RenderableType] = [Text(readable(headline(evaluated)), style="bold")]
    parts += [Text(f"! {note}", style="yellow") for note in notes(evaluated)]
    for section in sections(evaluated):
        parts += [Text(), Text(section.title, style="bold"), Text(section.words, style="dim")]
        for grid in section.grids:
            parts.append(_table(grid, width))
            parts += [Text(f"{MISSING}: {reason}", style="dim") for reason in grid.reasons]
    parts += [Text(), Text("The page that --output writes shows every interval.", style="dim")]
    return Group(*parts)


def _table(grid: Grid, width: int) -> RenderableType:
    """The widest layout that fits: with intervals, without, with narrow gaps, and at worst a line for each cell."""
    for gap, bounded in ((2, not grid.dense), (2, False), (1, False)):
        cells = [[_lines(cell, with_interval=bounded) for cell in row] for row in grid.rows]
        widths = _widths(grid, cells, width - gap * len(grid.headings))
        if widths is not None:
            return _filled(grid, cells, gap, widths)
    cells = [[_lines(cell, with_interval=False) for cell in row] for row in grid.rows]
    return fitted(_filled(grid, cells, 1, None), width)


def _widths(grid: Grid, cells: Sequence[Sequence[str]], room: int) -> list[int] | None:
    """The width of each column: its longest word, and the spare room from left to right. None if words do not fit."""
    columns = [[heading, *column] for heading, *column in zip(grid.headings, *cells, strict=True)]
    widths = [max(len(word) for cell in column for word in cell.split()) for column in columns]
    room -= sum(widths)
    if room < 0:
        return None
    for place, column in enumerate(columns):
        more = min(room, max(len(line) for cell in column for line in cell.split("\n")) - widths[place])
        widths[place] += more
        room -= more
    return widths


def _filled(grid: Grid, cells: Sequence[Sequence[str]], gap: int, widths: Sequence[int] | None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, gap, 0, 0))
    for place, heading in enumerate(grid.headings):
        side: JustifyMethod = "left" if place < grid.labels else "right"
        width = None if widths is None else widths[place]
        table.add_column(heading, justify=side, vertical="bottom", width=width, overflow="fold")
    before = ""
    for name, *others in cells:
        shown = "" if grid.labels > 1 and name == before and widths is not None else name
        table.add_row(*map(literal, (shown, *others)))
        before = name
    return table


def _lines(cell: Cell, *, with_interval: bool) -> str:
    bounds = interval(cell) if isinstance(cell, Figure) and with_interval else ""
    return f"{plain(cell, with_interval=False)}\n{bounds}".rstrip()
