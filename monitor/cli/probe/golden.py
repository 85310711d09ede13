"""The commands `monitor golden …`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, actor, literal, plural, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application
    from monitor.probe.golden import GoldenSet

golden_app = typer.Typer(
    name="golden",
    no_args_is_help=True,
    help="Keep golden sets: questions with reference answers, which probes ask.",
)
_Name = Annotated[str, typer.Argument(metavar="NAME", help="The name of a golden set.")]
_Set = Annotated[str, typer.Option("--set", metavar="NAME", help="The golden set; a new name begins a new one.")]
_By = Annotated[str | None, typer.Option(metavar="NAME", help="Who does it; default: your login.")]
_Version = Annotated[int | None, typer.Option(min=1, help="Its version; default: the newest.")]


@golden_app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="JSON, JSON lines or CSV; - is standard input.")],
    *,
    name: _Set,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Check the file, and store nothing.")] = False,
    by: _By = None,
    as_json: AsJson = False,
) -> None:
    """Make a file the newest version of a golden set.

    Reads questions and references of your own, RAGAS test sets, Langfuse dataset exports, and OpenAI evals.
    """
    from monitor.probe.formats.read import read_golden, read_stream

    origin = "standard input" if file == Path("-") else str(file)
    items = read_stream(sys.stdin.buffer, name=origin) if file == Path("-") else read_golden(file)
    who = actor(by)
    if dry_run:
        if as_json:
            print_json({"name": name, "items": len(items), "dry_run": True})
        else:
            typer.echo(f"{origin}: {plural(len(items), 'golden item')}; nothing is stored")
        return
    with opened() as application:
        before = application.probing.golden.newest(name)
        made = application.probing.golden.save(name, items, by=who, now=application.now())
    _print_made(made, before, as_json=as_json)


@golden_app.command("add")
def add(
    interaction: Annotated[str, typer.Argument(metavar="APP/ID", help="The interaction, as `explain` names it.")],
    *,
    name: _Set,
    reference: Annotated[
        str | None, typer.Option(help="The right answer; default: its own, if people labelled it grounded.")
    ] = None,
    by: _By = None,
    as_json: AsJson = False,
) -> None:
    """Make a golden item of an interaction: its question, with the right answer."""
    from monitor.app.probe.golden import item_of

    who = actor(by)
    with opened() as application:
        item = item_of(application, interaction, reference=reference)
        before = application.probing.golden.newest(name)
        made = application.probing.golden.add(name, item, by=who, now=application.now())
    _print_made(made, before, as_json=as_json)


@golden_app.command("remove")
def remove(
    name: _Name,
    item: Annotated[str, typer.Argument(metavar="ID", help="The id of the item.")],
    *,
    by: _By = None,
    as_json: AsJson = False,
) -> None:
    """Make a version of a golden set without an item; earlier versions keep it."""
    who = actor(by)
    with opened() as application:
        before = application.probing.golden.newest(name)
        made = application.probing.golden.remove(name, item, by=who, now=application.now())
    _print_made(made, before, as_json=as_json)


@golden_app.command("list")
def list_(*, as_json: AsJson = False) -> None:
    """List golden sets with their newest versions."""
    with opened() as application:
        found = application.probing.golden.every()
    if as_json:
        print_json([asdict(one) for one in found])
        return
    if not found:
        typer.echo("there is no golden set yet: monitor golden import FILE --set NAME")
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("golden set", "version", "items", "made (UTC)", "by", "hash"):
        table.add_column(heading, justify="right" if heading in {"version", "items"} else "left")
    for one in found:
        made_at = f"{one.made_at:%Y-%m-%d %H:%M}"
        table.add_row(literal(one.name), str(one.version), str(one.items), made_at, literal(one.made_by), one.hash[:16])
    console = Console()
    console.print(fitted(table, console.width))


@golden_app.command("show")
def show(name: _Name, *, version: _Version = None, as_json: AsJson = False) -> None:
    """Show the questions of a golden set with their references, tags, and the interactions that they were made of."""
    with opened() as application:
        found = _set(application, name, version)
    if as_json:
        items = [item.to_json() for item in found.items]
        print_json({"name": found.name, "version": found.version, "hash": found.hash, "items": items})
        return
    typer.echo(
        f"{readable(found.name)}, version {found.version}, {plural(len(found.items), 'item')}, {found.hash[:16]}"
    )
    console = Console(highlight=False)
    for item in found.items:
        console.print(f"\n[bold]{literal(item.id)}[/bold] {literal(item.question)}", soft_wrap=True)
        console.print(f"  {literal(item.reference)}", soft_wrap=True)
        if item.tags:
            tags = ", ".join(f"{tag}={text}" for tag, text in item.tags.items())
            console.print(f"  tags: {literal(tags)}", soft_wrap=True)
        if item.source is not None:
            console.print(f"  made of {literal(str(item.source))}", soft_wrap=True)


@golden_app.command("export")
def export(name: _Name, *, version: _Version = None) -> None:
    """Write a golden set to standard output as JSON lines, which `golden import` reads."""
    with opened() as application:
        found = _set(application, name, version)
    for item in found.items:
        sys.stdout.write(json.dumps(item.to_json(), ensure_ascii=False) + "\n")


def _set(application: Application, name: str, version: int | None) -> GoldenSet:
    golden = application.probing.golden
    found = golden.newest(name) if version is None else golden.version(name, version)
    if found is None:
        which = "" if version is None else f" version {version} of"
        raise WrongSettings(f"there is no{which} golden set {readable(name)!r}: monitor golden list")
    return found


def _print_made(made: GoldenSet, before: GoldenSet | None, *, as_json: bool) -> None:
    """Tells the version that a change has made, and how its items differ from those of the newest one before."""
    from monitor.probe.golden import changes

    found = changes(before, made)
    if as_json:
        about = {"name": made.name, "version": made.version, "hash": made.hash, "items": len(made.items)}
        print_json({**about, "changes": found})
        return
    line = f"{readable(made.name)}, version {made.version}: {plural(len(made.items), 'item')}, {made.hash[:16]}"
    if before is not None:
        line += "; " + ", ".join(f"{what}: {number}" for what, number in found.items() if number)
    if before is not None and before.version == made.version:
        line += ", so there is no new version"
    typer.echo(line)
