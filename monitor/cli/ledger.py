"""The command `monitor ledger` and its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.message import Skip

if TYPE_CHECKING:
    from monitor.app.ledger import ReadSource
    from monitor.store.ledger.ledger import LedgerRow

_EMPTY = "no message was read yet by `monitor run`, `consume` or `collect`; `replay` prints its own counts"
_EQUATION = {
    "received": "received",
    "= assessed": "assessed",
    "+ duplicate": "duplicate",
    "+ dead": "dead",
    "+ pending": "pending",
    "+ unscored": "unscored",
}


def ledger(
    *,
    group_name: Annotated[str | None, typer.Option("--group", help="Only this consumer group.")] = None,
    topic: Annotated[str | None, typer.Option(help="Only this topic or file.")] = None,
    recount: Annotated[bool, typer.Option("--recount", help="Count the stored rows too; reads all of them.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show what became of every message, by group, topic and partition, and how far behind the reading is.

    Exits with 1 if it does not balance.
    """
    from monitor.app.ledger import complaints, ledger_json, losses, read_sources
    from monitor.store.ledger.ledger import Ledger
    from monitor.store.ledger.progress import ReadingStore

    filtered = group_name is not None or topic is not None
    with opened() as application:
        rows, recounted = Ledger(application.engine).read(group=group_name, topic=topic, recount=recount)
        sources = read_sources(ReadingStore(application.engine), application.now(), among=rows if filtered else None)
    differences = list(complaints(rows, recounted))
    if as_json:
        reading = [source.as_json() for source in sources]
        print_json({**ledger_json(rows, recounted if recount else None), "reading": reading})
    elif not rows:
        typer.echo("no message of this group or topic was read yet" if filtered else _EMPTY)
    else:
        console = Console(highlight=False)
        console.print(fitted(ledger_table(rows), console.width))
        for lost in losses(rows):
            console.print(literal(lost), style="bold yellow")
        for difference in differences:
            console.print(literal(difference), style="bold red")
        if not differences:
            console.print("the ledger balances, and the stored rows match it" if recount else "the ledger balances")
    if sources and not as_json:
        console = Console(highlight=False)
        console.print(fitted(reading_table(sources), console.width))
    if differences:
        raise typer.Exit(1)


def ledger_table(rows: Sequence[LedgerRow]) -> Table:
    """One line for each group, topic and partition, and one with the sums; turns without scores where there are any."""
    from monitor.app.ledger import totals

    sums = totals(rows)
    table = Table(box=None, show_footer=len(rows) > 1, collapse_padding=True, pad_edge=False)
    table.add_column("group: topic/partition", "all", overflow="fold")
    equation = {heading: name for heading, name in _EQUATION.items() if name != "unscored" or sums[name]}
    for heading, name in equation.items():
        _add_numbers(table, heading, [row.counts[name] for row in rows], sums[name])
    table.add_column("skipped", _skipped(sums), overflow="fold")
    _add_numbers(table, "next", [row.next_offset for row in rows])
    for row in rows:
        group = row.group if row.live else f"{row.group} (rescore)"
        table.add_row(
            literal(f"{group}: {row.topic}/{row.partition}"),
            *(str(row.counts[name]) for name in equation.values()),
            _skipped(row.counts),
            str(row.next_offset),
            style=None if row.balanced else "red",
        )
    return table


def reading_table(sources: Sequence[ReadSource]) -> Table:
    """One line for each source that was read in the last 30 days."""
    from monitor.alert.figures import amount
    from monitor.core.text.plain import moment

    table = Table("source", "last looked at", "behind by", box=None, pad_edge=False)
    table.add_column("left to read", justify="right")
    for source in sources:
        left = "–" if source.left is None else f"{source.left:,}"
        table.add_row(literal(source.name), moment(source.looked_at), amount(round(source.behind), "seconds"), left)
    return table


def _add_numbers(table: Table, heading: str, numbers: Sequence[int], total: int | None = None) -> None:
    """Adds a column of numbers that is never cut, however narrow the terminal."""
    footer = "" if total is None else str(total)
    width = max(map(len, [*heading.split(), footer, *map(str, numbers)]))
    table.add_column(heading, footer, justify="right", min_width=width)


def _skipped(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{counts[skip]} {skip}" for skip in Skip if counts[skip])
