"""Fits tables into the width of a terminal without breaking words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

LONGEST_WORD = 24  # columns; what is longer, such as a path or a hash, may be folded


def fitted(table: Table, width: int) -> RenderableType:
    """The table, with its columns narrowed between words; where they are too many, its rows one below the other.

    `table` has no box, and cells of markup or `Text`.
    """
    right, left = table.padding[1], table.padding[3]
    gap = max(left, right) if table.collapse_padding else left + right
    columns = [
        [_plain(cell) for cell in (column.header, *column.cells, column.footer if table.show_footer else "")]
        for column in table.columns
    ]
    most = [max(cell_len(line) for cell in column for line in (cell.splitlines() or [""])) for column in columns]
    room = width - gap * len(columns)
    if sum(most) <= room:
        return table
    widths = [
        max((min(cell_len(word), LONGEST_WORD) for cell in column for word in cell.split()), default=0)
        for column in columns
    ]
    room -= sum(widths)
    if room < 0:
        return Group(*_records(table))
    for column, its in zip(table.columns, _shared(widths, most, room), strict=True):
        column.width, column.min_width, column.no_wrap, column.overflow = its, None, False, "fold"
    return table


def _shared(widths: Sequence[int], most: Sequence[int], room: int) -> list[int]:
    """The widths with the room to spare, of which the narrowest of those that need some get theirs first."""
    given = list(widths)
    for _ in range(room):
        needy = [place for place, its in enumerate(given) if its < most[place]]
        if needy:
            given[min(needy, key=given.__getitem__)] += 1
    return given


def _records(table: Table) -> Iterator[RenderableType]:
    """A row as lines of heading and value; empty values are left out."""
    rows = [list(column.cells) for column in table.columns]
    if table.show_footer:
        for cells, column in zip(rows, table.columns, strict=True):
            cells.append(column.footer)
    styles = [*(row.style for row in table.rows), None]
    for number, row in enumerate(zip(*rows, strict=True)):
        if number:
            yield ""
        record = Table.grid(padding=(0, 2))
        record.add_column(style="dim", no_wrap=True)
        record.add_column(overflow="fold")
        for column, cell in zip(table.columns, row, strict=True):
            if _plain(cell):
                record.add_row(column.header, cell, style=styles[number])
        yield record


def _plain(cell: RenderableType) -> str:
    return cell.plain if isinstance(cell, Text) else Text.from_markup(str(cell)).plain
