"""The commands `monitor rules versions`, `show`, `export` and `save`: the rules that are saved in the database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.alert.commands import By
from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, actor, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.alert.rules.version import RulesVersion
    from monitor.app.wiring.application import Application

_Version = Annotated[int | None, typer.Argument(metavar="VERSION", help="Default: the rules in force.")]


def rules_versions(*, as_json: AsJson = False) -> None:
    """List the saved versions: who saved each, when and why, and which is in force."""
    from monitor.alert.rules.version import name_of

    with opened() as application:
        found = application.alerting.rules_versions.list()
        in_force = application.alerting.rules_in_force()
    if as_json:
        print_json([{**_facts(each), "in_force": each.version == in_force.version} for each in found])
        return
    table = Table("version", "saved (UTC)", "by", "why", box=None)
    for each in found:
        state = " (in force)" if each.version == in_force.version else "" if each.authentic else " (not as saved)"
        saved = f"{each.saved_at:%Y-%m-%d %H:%M}"
        table.add_row(f"{each.version}{state}", saved, literal(each.saved_by), literal(each.why))
    if found:
        console = Console(highlight=False, emoji=False)
        console.print(fitted(table, console.width))
    typer.echo(f"in force: {readable(in_force.origin)}")
    if in_force.problem:
        typer.echo(f"because {readable(in_force.problem)}", err=True)
    if in_force.version is None and found:
        typer.echo(f"MONITOR_RULES names the file; without it, {name_of(found[0].version)} would be in force")


def rules_show(version: _Version = None, *, as_json: AsJson = False) -> None:
    """Show a version, and how it differs from the one that it is based on."""
    from monitor.alert.rules.file import read_rules
    from monitor.alert.rules.version import SHIPPED, name_of
    from monitor.app.rules import difference

    with opened() as application:
        found = _found(application, version)
        if found is None:
            raise WrongSettings("the rules in force are not a saved version; `monitor rules export` prints them")
        based_on = found.based_on
        before = None if based_on == SHIPPED else application.alerting.rules_versions.get(based_on)
    if as_json:
        print_json({**_facts(found), "source": found.source})
        return
    saved = f"saved {found.saved_at:%Y-%m-%d %H:%M} UTC by {readable(found.saved_by)}"
    typer.echo(f"version {found.version}, {saved}: {readable(found.why)}")
    if not found.authentic:
        typer.echo("this is not what was saved, and not used: see `monitor audit verify`", err=True)
    typer.echo(f"difference from {name_of(based_on)}:")
    for line in difference(read_rules(None) if before is None else before.source, found.source):
        typer.echo(readable(line))


def rules_export(
    version: _Version = None,
    *,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="File to write; default: print it.")] = None,
) -> None:
    """Write the YAML of the rules in force, or of a version, for a file that MONITOR_RULES names."""
    with opened() as application:
        found = _found(application, version)
        text = application.alerting.rules.source if found is None else found.source
    if output is None:
        typer.echo(text, nl=False)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongSettings(f"{output}: cannot write the rules: {error.strerror}") from None
    typer.echo(f"{output}: written")


def rules_save(
    file: Annotated[
        Path, typer.Argument(help="Rules file; try it first with `monitor rules check FILE --against 7d`.")
    ],
    *,
    why: Annotated[str, typer.Option(help="The reason, for the versions and the audit trail.")],
    based_on: Annotated[
        int | None, typer.Option(min=0, help="Save only if this is still the newest version; 0: none is saved.")
    ] = None,
    by: By = None,
) -> None:
    """Save a file as a new version of the rules, which is in force unless MONITOR_RULES names a file."""
    from monitor.alert.rules.file import read_rules
    from monitor.app.rules import normal_text
    from monitor.store.alert.rules_versions import NotNewest

    with opened() as application:
        alerting, text = application.alerting, normal_text(read_rules(file))
        alerting.parse_rules(text, str(file))
        newest = alerting.rules_versions.newest()
        base = based_on if based_on is not None else 0 if newest is None else newest.version
        try:
            saved = alerting.rules_versions.save(text, based_on=base, by=actor(by), why=why, now=application.now())
        except NotNewest as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from None
        path = application.settings.rules
    typer.echo(f"saved as version {saved.version}")
    if path is not None:
        typer.echo(f"not in force: MONITOR_RULES names {path}. Start monitor without it", err=True)


def _found(application: Application, version: int | None) -> RulesVersion | None:
    """A version, or the one in force; None while no version is.

    Raises:
        WrongSettings: there is no version of that number.
    """
    versions = application.alerting.rules_versions
    number = application.alerting.rules_in_force().version if version is None else version
    found = versions.get(number) if number else None
    if version is not None and found is None:
        raise WrongSettings(f"there is no version {version}; `monitor rules versions` lists them")
    return found


def _facts(found: RulesVersion) -> dict[str, Any]:
    names = ("version", "based_on", "saved_at", "saved_by", "why", "digest", "authentic")
    return {name: getattr(found, name) for name in names}
