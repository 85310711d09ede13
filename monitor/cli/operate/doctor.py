"""The commands about the installation: `monitor doctor`, `monitor migrate` and `monitor settings`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import typer
from pydantic import BaseModel
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.settings.load import load_settings
from monitor.core.text.credentials import without_credentials

if TYPE_CHECKING:
    from monitor.app.doctor.examine import Finding


def doctor(*, as_json: AsJson = False) -> None:
    """Check the database, models, profile, rules and receivers, and say how to fix what fails."""
    from monitor.app.doctor.examine import examine

    with opened(migrated=False, traces=False) as application:  # a receiver of traces that cannot be used is a finding
        findings = list(examine(application))
    if as_json:
        print_json([{"check": f.check, "good": f.good, "detail": f.detail, "mended_by": f.mended_by} for f in findings])
    else:
        _print_findings(Console(highlight=False, soft_wrap=True), findings)
    if not all(f.good for f in findings):
        raise typer.Exit(1)


def _print_findings(out: Console, findings: Sequence[Finding]) -> None:
    """Wraps at spaces only, so that a path or a key can be copied in one piece."""
    widest = max(len(f.check) for f in findings)
    indent = len("fails  ") + widest + 2
    for f in findings:
        mark = "[red]fails[/]" if not f.good else "[yellow]warns[/]" if f.mended_by else "[green]ok[/]   "
        told = f"{f.detail}\n→ {f.mended_by}" if f.mended_by else f.detail
        lines = [
            line
            for part in told.splitlines()
            for line in wrap(part, max(20, out.width - indent), break_long_words=False, break_on_hyphens=False)
        ]
        out.print(f"{mark}  {f.check:<{widest}}  " + f"\n{' ' * indent}".join(map(literal, lines)))


def migrate() -> None:
    """Bring the database to this release's tables.

    Safe to run at any time, from several machines at once.
    """
    with opened(migrated=False) as application:
        Console(stderr=True).print(f"the database is at revision {application.migrate()}")


def settings(*, as_json: AsJson = False) -> None:
    """Show every setting, set or default, with secrets masked."""
    in_force = load_settings()
    values = _without_credentials(in_force.model_dump(mode="json"))
    if as_json:
        print_json(values)
        return
    given = set(_given(in_force))
    rows = [(name, _as_given(value)) for name, value in _flat(values)]
    widest = max(len(f"MONITOR_{name}") for name, _ in rows)
    out = Console(highlight=False, soft_wrap=True)  # a path can be copied in one piece
    for heading, is_set in (("set", True), ("default", False)):
        out.print(f"[bold]{heading:<{widest}}  value[/]")
        for name, value in rows:
            if (name in given) == is_set:
                out.print(f"{f'MONITOR_{name}':<{widest}}  {literal(value)}")


def _as_given(value: Any) -> str:
    """A setting as the environment takes it."""
    if isinstance(value, list):
        return json.dumps(value) if not value or any("," in one for one in value) else ",".join(value)
    return "–" if value is None else str(value)


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


def _given(value: Any, prefix: str = "") -> Iterator[str]:
    """Yields the name of each nested setting that the environment or a file gives."""
    if isinstance(value, BaseModel):
        value = {name: getattr(value, name) for name in value.model_fields_set}
    elif not isinstance(value, dict):
        yield prefix.removesuffix("__")
        return
    for name, inner in value.items():
        yield from _given(inner, f"{prefix}{name.upper()}__")


def _flat(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yields each nested setting as (environment name without `MONITOR_`, value)."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name.upper()}__")
        else:
            yield f"{prefix}{name.upper()}", value
