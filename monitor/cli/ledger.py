"""The command `monitor ledger`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rich.table import Table

from monitor.app.ledger import totals
from monitor.cli.terminal import literal
from monitor.core.message import Skip
from monitor.store.ledger.ledger import LedgerRow

_EQUATION = {
    "received": "received", "= assessed": "assessed", "+ duplicate": "duplicate", "+ dead": "dead",
    "+ pending": "pending",
}  # fmt: skip


def ledger_table(rows: Sequence[LedgerRow]) -> Table:
    """One line per group, topic and partition, and one for all of them."""
    sums = totals(rows)
    table = Table(box=None, show_footer=len(rows) > 1, collapse_padding=True, pad_edge=False)
    table.add_column("group: topic/partition", "all", overflow="fold")
    for heading, name in _EQUATION.items():
        _add_numbers(table, heading, [row.counts[name] for row in rows], sums[name])
    table.add_column("skipped", _skipped(sums), overflow="fold")
    _add_numbers(table, "next", [row.next_offset for row in rows])
    for row in rows:
        group = row.group if row.live else f"{row.group} (rescore)"
        table.add_row(
            literal(f"{group}: {row.topic}/{row.partition}"),
            *(str(row.counts[name]) for name in _EQUATION.values()), _skipped(row.counts), str(row.next_offset),
            style=None if row.balanced else "red",
        )  # fmt: skip
    return table


def _add_numbers(table: Table, heading: str, numbers: Sequence[int], total: int | None = None) -> None:
    """A column that is never cut, however narrow the terminal."""
    shown = ["" if total is None else str(total), *map(str, numbers)]
    width = max(map(len, [*heading.split(), *shown]))
    table.add_column(heading, shown[0], justify="right", min_width=width)


def _skipped(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[skip]} {skip}" for skip in Skip if counts[skip])
