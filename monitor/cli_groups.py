"""The commands `monitor alerts …` and `monitor rules …`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.errors import WrongSettings
from monitor.settings import load_settings
from monitor.terminal import AsJson, literal, print_json

alerts_app = typer.Typer(name="alerts", no_args_is_help=True, help="What the alert rules say now, and said before.")
rules_app = typer.Typer(name="rules", no_args_is_help=True, help="The alert rules.")


@alerts_app.command("list")
def alerts_list(*, as_json: AsJson = False) -> None:
    """Every alert, the most recent first, with the messages that wait for delivery and those that were given up."""
    from monitor.app import Application

    with Application(load_settings()) as application:
        application.migrate()
        rows = application.queries.alerts()
    if as_json:
        print_json(rows)
        return
    table = Table("alert", "rule and labels", "state", "since (UTC)", "rate then", "unsent", box=None)
    for row in rows:
        since = row["resolved_at"] or row["fired_at"] or row["active_since"]
        labels = ", ".join(f"{name}={value}" for name, value in row["labels"].items())
        unsent = (f"{row[kind]} {kind}" for kind in ("waiting", "lost") if row[kind])
        table.add_row(
            row["fingerprint"][:12],
            literal(f"{row['rule']}\n{labels}"),
            row["state"],
            f"{since:%m-%d %H:%M}",
            f"{_rate(row)}\nof {row['samples']}",
            ", ".join(unsent),
        )
    for column in table.columns:
        column.overflow = "fold"  # never cut: the id is there to be copied
        column.no_wrap = column is not table.columns[1]
    Console().print(table if rows else "no alert was ever pending")


@alerts_app.command("show")
def alerts_show(
    name: Annotated[str, typer.Argument(help="Its id, of an episode too, also shortened; or the name of a rule.")],
    *,
    as_json: AsJson = False,
) -> None:
    """The history of an alert, or of all alerts of a rule."""
    from monitor.app import Application

    with Application(load_settings()) as application:
        application.migrate()
        rows = application.queries.alert_history(name.rstrip("…"))
    if not rows:
        raise WrongSettings(f"no alert {name!r}; `monitor alerts list` names them all")
    if as_json:
        print_json(rows)
        return
    table = Table("alert", "at (UTC)", "from", "to", "rate", "answers", "note", box=None)
    for row in rows:
        table.add_row(
            row["fingerprint"][:12],
            f"{row['at']:%m-%d %H:%M:%S}",
            row["from_state"],
            row["to_state"],
            _rate(row),
            str(row["samples"]),
            literal(row["note"] or ""),
        )
    Console().print(table)


@rules_app.command("check")
def rules_check(
    file: Annotated[Path | None, typer.Argument(help="Default: the rules in force.")] = None, *, as_json: AsJson = False
) -> None:
    """Read a rules file and say, with line numbers, what is wrong with it; receivers need not be set up for that."""
    from monitor.alert.duration import format_duration
    from monitor.alert.receivers import RECEIVERS
    from monitor.alert.rules_file import load_rules

    rules = load_rules(file or load_settings().rules, receivers=tuple(RECEIVERS))
    if as_json:
        print_json([{"name": r.name, "signal": r.signal, "above": r.above, "severity": r.severity} for r in rules])
        return
    table = Table("rule", "fires when", "severity", "tells", box=None)
    for r in rules:
        bound = "lower bound of the rate" if r.confident else "rate"
        table.add_row(
            literal(r.name),
            f"{bound} of {r.signal} > {r.above:.0%} over {format_duration(r.window)} for {format_duration(r.for_)}",
            r.severity,
            "all configured" if r.receivers is None else ", ".join(r.receivers),
        )
    Console().print(table)


def _rate(row: Mapping[str, Any]) -> str:
    return "–" if row["value"] is None else f"{row['value']:.0%} ({row['lower'] * 100:.0f}–{row['upper']:.0%})"
