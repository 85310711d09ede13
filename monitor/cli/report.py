"""The commands `monitor report …`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.report import Format, Reporting, Written
    from monitor.report.weekly.week import Week

report_app = typer.Typer(name="report", no_args_is_help=True, help="Reports: what a week was like, app by app.")
_App = Annotated[str | None, typer.Option("--app", help="Only this app's; default: all that have answers.")]


@report_app.command("weekly")
def report_weekly(
    *,
    app_name: _App = None,
    week: Annotated[str | None, typer.Option(metavar="WEEK", help="As 2026-W46; default: the last one over.")] = None,
    ending: Annotated[
        datetime | None, typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Its last day, a Sunday, instead.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="A file, or a folder for several apps; - is standard output.")
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="html, md or json; default: as the file's name ends, else md.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Count anew what is stored, and say whether it differs: late answers.")
    ] = False,
    send: Annotated[bool, typer.Option("--send", help="Post it to Slack, with the page as a file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the report of a week; a stored one is shown as it was stored."""
    from monitor.app.report import chosen_week, reporting

    chosen_form = _form(form, output)
    with opened() as application:
        its_week = chosen_week(application.now(), name=week, ending=ending.date() if ending else None)
        its = reporting(application)
        found = list(_written(its, app_name, its_week, again=again))
        if output is not None:
            _write(its, found, output, chosen_form)
        for one in found:
            if send:
                its.send(one)
            typer.echo(_line(one, sent=send), err=True)
            if output is None and not as_json:
                sys.stdout.buffer.write(its.rendered(one, chosen_form))
                sys.stdout.flush()
    if as_json:
        print_json([_json(one) for one in found])


@report_app.command("list")
def report_list(
    *,
    app_name: _App = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List stored reports, the newest weeks first."""
    from monitor.report.weekly.week import week_of
    from monitor.store.report.reports import Reports

    with opened() as application:
        found = Reports(application.engine).listed(app=app_name, limit=limit)
    named = [(week_of(one.start.astimezone(UTC).date()).name, one) for one in found]
    if as_json:
        print_json([
            {"app": one.app, "week": name, "made_at": one.made_at, "sent_at": one.sent_at, "digest": one.digest}
            for name, one in named
        ])  # fmt: skip
    elif not found:
        typer.echo("no report is stored; `monitor report weekly` writes one")
    else:
        table = Table("app", "week", "made", "sent", "digest", box=None)
        for name, one in named:
            sent = "–" if one.sent_at is None else f"{one.sent_at:%Y-%m-%d %H:%M}"
            table.add_row(literal(one.app), name, f"{one.made_at:%Y-%m-%d %H:%M}", sent, one.digest[:16])
        Console(highlight=False).print(table)


def _form(named: str | None, output: Path | None) -> Format:
    from monitor.app.report import Format

    suffix = "" if output is None else output.suffix.removeprefix(".").lower()
    folder = output is not None and output != Path("-") and not suffix
    wanted = named or {"htm": "html", "markdown": "md"}.get(suffix, suffix) or (Format.HTML if folder else Format.MD)
    try:
        return Format(wanted)
    except ValueError:
        if named is None:
            return Format.MD
        raise WrongSettings(f"--format: {named!r} is none of {', '.join(Format)}") from None


def _written(its: Reporting, app: str | None, week: Week, *, again: bool) -> Iterator[Written]:
    apps = its.apps(week) if app is None else [app]
    if not apps:
        raise WrongSettings(
            f"no app has answers in {week.name} or the week before; --week names another one, the running one too"
        )
    return (its.written(name, week, again=again) for name in apps)


def _write(its: Reporting, found: list[Written], output: Path, form: Format) -> None:
    from monitor.app.report import file_name

    if output == Path("-"):
        for one in found:
            sys.stdout.buffer.write(its.rendered(one, form))
        sys.stdout.flush()
        return
    if len(found) > 1 and not output.suffix:
        output.mkdir(parents=True, exist_ok=True)
    if len(found) > 1 and not output.is_dir():
        names = ", ".join(readable(one.app) for one in found)
        raise WrongSettings(f"several apps have a report ({names}): name one with --app, or a folder with --output")
    for one in found:
        path = output / f"{file_name(one)}.{form}" if output.is_dir() else output
        try:
            path.write_bytes(its.rendered(one, form))
        except OSError as error:
            raise WrongSettings(f"cannot write {path}: {error.strerror}") from None


def _line(one: Written, *, sent: bool) -> str:
    parts = [f"{readable(one.app)}, {one.week.name}"]
    parts.append(
        "not stored, since the week is not over"
        if one.made_at is None
        else f"stored at {one.made_at:%Y-%m-%d %H:%M} UTC"
    )
    if one.differs is not None:
        differs = f"differs from the one before in: {', '.join(one.differs)}"
        parts.append(differs if one.differs else "the same as the one before")
    if sent:
        parts.append("posted to Slack")
    return f"{'; '.join(parts)}; content {one.digest[:16]}"


def _json(one: Written) -> dict[str, object]:
    return {
        "app": one.app, "week": one.week.name, "made_at": one.made_at, "digest": one.digest,
        "differs": one.differs, "content": one.content,
    }  # fmt: skip
