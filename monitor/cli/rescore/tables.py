"""What `monitor rescore` says: how long it takes, and which verdicts move, as a table and as JSON."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table

from monitor.cli.terminal import literal, plural
from monitor.core.text.plain import percent, readable

if TYPE_CHECKING:
    from monitor.app.rescore import Estimate
    from monitor.store.rescore.comparison import Move


def estimate_words(found: Estimate, name: str) -> str:
    totals = found.totals
    words = f"{plural(totals.answers, 'answer')}: {totals.assessed} have a verdict under {readable(name)} already"
    if totals.erased:
        words += f", {totals.erased} were erased and keep theirs"
    minutes = found.seconds / 60
    about = "less than a minute" if minutes < 1 else f"about {plural(round(minutes), 'minute')}"
    return f"{words}, {totals.left} to assess" + (f"; {about} on this machine" if totals.left else "")


def moves_json(moves: Sequence[Move]) -> dict[str, Any]:
    return {
        "compared": sum(move.answers for move in moves),
        "in_use": sum(move.in_use for move in moves),
        "moved": sum(move.answers for move in moves if move.shown != move.other),
        "moves": [
            {
                "app": move.app,
                "from": move.shown,
                "to": move.other,
                "answers": move.answers,
                "examples": [
                    {"id": e.id, "occurred_at": e.occurred_at, "p_from": e.p_shown, "p_to": e.p_other}
                    for e in move.examples
                ],
            }
            for move in moves
        ],
    }


def print_moves(moves: Sequence[Move], name: str) -> None:
    console = Console(highlight=False)
    compared, in_use = sum(move.answers for move in moves), sum(move.in_use for move in moves)
    if not compared:
        console.print(f"no answer of this span has a verdict under {literal(name)} yet")
        return
    if in_use == compared:
        console.print(
            f"the verdict under {literal(name)} is the one shown for all {plural(compared, 'answer')} that have it"
        )
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("app", "shown", f"under {literal(name)}", "answers", "examples (P self-generated)"):
        table.add_column(heading, justify="right" if heading == "answers" else "left", overflow="fold")
    for move in moves:
        if move.shown == move.other:
            continue
        examples = ", ".join(f"{literal(e.id)} ({e.p_shown:.2f} → {e.p_other:.2f})" for e in move.examples)
        table.add_row(literal(move.app), _verdict(move.shown), _verdict(move.other), f"{move.answers:,}", examples)
    moved = sum(move.answers for move in moves if move.shown != move.other)
    if moved:
        console.print(table)
    console.print(f"{moved:,} of {plural(compared, 'verdict')} move")
    for app, (before, after) in _flagged(moves).items():
        console.print(f"{literal(app)}: self-generated {percent(before)} → {percent(after)}")


def _flagged(moves: Sequence[Move]) -> Mapping[str, tuple[float, float]]:
    """The share of self-generated verdicts of each app, as shown and under the profile."""
    total, before, after = Counter[str](), Counter[str](), Counter[str]()
    for move in moves:
        total[move.app] += move.answers
        before[move.app] += move.answers * (move.shown == "self_generated")
        after[move.app] += move.answers * (move.other == "self_generated")
    return {app: (before[app] / number, after[app] / number) for app, number in total.items()}


def _verdict(verdict: str) -> str:
    return verdict.replace("_", "-")
