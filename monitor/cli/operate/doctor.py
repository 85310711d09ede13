"""The commands about the installation: `monitor doctor`, `monitor migrate` and `monitor settings`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.settings.load import load_settings
from monitor.core.text.credentials import without_credentials


def doctor(*, as_json: AsJson = False) -> None:
    """Check the database, models, profile, rules and receivers, and say how to fix what fails."""
    from monitor.app.doctor.examine import examine

    with opened(migrated=False) as application:
        findings = list(examine(application))
    if as_json:
        print_json([{"check": f.check, "good": f.good, "detail": f.detail, "mended_by": f.mended_by} for f in findings])
    else:
        table = Table(box=None, show_header=False, padding=(0, 1))
        for f in findings:
            mark = "[red]fails[/]" if not f.good else "[yellow]warns[/]" if f.mended_by else "[green]ok[/]"
            table.add_row(mark, f.check, literal(f"{f.detail}\n→ {f.mended_by}" if f.mended_by else f.detail))
        Console().print(table)
    if not all(f.good for f in findings):
        raise typer.Exit(1)


def migrate() -> None:
    """Bring the database to this release's tables.

    Safe to run at any time, from several machines at once.
    """
    with opened(migrated=False) as application:
        Console(stderr=True).print(f"the database is at revision {application.migrate()}")


def settings(*, as_json: AsJson = False) -> None:
    """Show every setting in force, with secrets masked."""
    values = _without_credentials(load_settings().model_dump(mode="json"))
    if as_json:
        print_json(values)
        return
    table = Table("setting", "value", box=None)
    for name, value in _flat(values):
        table.add_row(literal(f"MONITOR_{name}"), "–" if value is None else literal(str(value)))
    Console().print(table)


def _without_credentials(value: Any) -> Any:
    """A setting, or several, as JSON, with the credentials in URLs hidden."""
    match value:
        case str():
            return without_credentials(value)
        case list():
            return [_without_credentials(item) for item in value]
        case dict():
            return {name: _without_credentials(item) for name, item in value.items()}
    return value


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields each nested setting as (environment name without `MONITOR_`, value)."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", value
