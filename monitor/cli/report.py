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

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.report import Format, Reporting, Written
    from monitor.report.weekly.week import Week
    from monitor.store.report.reports import ListedReport

report_app = typer.Typer(name="report", no_args_is_help=True, help="Write, send and list weekly reports, one per app.")
_App = Annotated[str | None, typer.Option("--app", help="Only this app; default: all apps with answers.")]


@report_app.command("weekly")
def report_weekly(
    *,
    app_name: _App = None,
    week: Annotated[
        str | None,
        typer.Option(
            metavar="WEEK",
            help="ISO week, such as 2026-W46; default: the last complete one, or this one if nothing is older.",
        ),
    ] = None,
    ending: Annotated[
        datetime | None,
        typer.Option(formats=["%Y-%m-%d"], metavar="DATE", help="Choose the week by its last day, a Sunday."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A file, or without a suffix a folder, made if missing; - is standard output."
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", help="html, md or json; default: by the file's suffix, else md.")
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Count again, to include late answers, and say what differs.")
    ] = False,
    send: Annotated[bool, typer.Option("--send", help="Post the report to Slack, with the page as a file.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write the report of a week.

    A stored report is shown as it was stored.
    """
    from monitor.app.report import Format, chosen_week, reporting

    chosen_form = _form(form, output)
    with opened(migrated=False) as application:
        period = chosen_week(application.now(), name=week, ending=ending.date() if ending else None)
        application.migrate()  # after the week is checked: a wrong one needs no database
        service = reporting(application)
        if week is None and ending is None:
            period = service.or_this_week(period, app_name)
        reports = list(_written(service, app_name, period, again=again))
        if output is not None:
            _write(service, reports, output, chosen_form)
        for report in reports:
            if send:
                service.send(report)
            typer.echo(_status_line(report, sent=send), err=True)
            if output is None and not as_json:
                _show(service.rendered(report, chosen_form), laid_out=form is None)
        if chosen_form is not Format.JSON and not as_json and not service.address:
            typer.echo("MONITOR_PUBLIC_URL is not set, so the report has paths in place of links", err=True)
    if as_json:
        print_json([_report_json(report) for report in reports])


@report_app.command("list")
def report_list(
    *,
    app_name: _App = None,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="How many to list.")] = 20,
    as_json: AsJson = False,
) -> None:
    """List the stored reports, the newest weeks first."""
    from monitor.report.weekly.week import week_of
    from monitor.store.report.reports import Reports

    with opened() as application:
        found = Reports(application.engine).listed(app=app_name, limit=limit)
    weeks = [(week_of(stored.start.astimezone(UTC).date()).name, stored) for stored in found]
    if as_json:
        print_json([_stored_json(week, stored) for week, stored in weeks])
    elif not found:
        typer.echo("no report is stored yet; `monitor report weekly` writes one")
    else:
        table = Table("app", "week", "made (UTC)", "sent (UTC)", "digest", box=None)
        for week, stored in weeks:
            sent = "–" if stored.sent_at is None else f"{stored.sent_at:%Y-%m-%d %H:%M}"
            table.add_row(literal(stored.app), week, f"{stored.made_at:%Y-%m-%d %H:%M}", sent, stored.digest[:16])
        console = Console(highlight=False)
        console.print(fitted(table, console.width))


def _show(rendered: bytes, *, laid_out: bool) -> None:
    """Prints a report: Markdown that nobody asked for by name is laid out on a terminal."""
    if laid_out and sys.stdout.isatty():
        from rich.markdown import Markdown

        Console(highlight=False).print(Markdown(rendered.decode()))
        return
    sys.stdout.buffer.write(rendered)
    sys.stdout.flush()


def _form(name: str | None, output: Path | None) -> Format:
    """The format asked for, else the one of the file's suffix: HTML into a folder, Markdown otherwise."""
    from monitor.app.report import Format

    suffix = "" if output is None else output.suffix.removeprefix(".").lower()
    into_folder = output is not None and output != Path("-") and not suffix
    by_suffix = {"htm": "html", "markdown": "md"}.get(suffix, suffix)
    try:
        return Format(name or by_suffix or (Format.HTML if into_folder else Format.MD))
    except ValueError:
        if name is None:
            return Format.MD
        raise WrongSettings(f"--format: {name!r} is not one of {', '.join(Format)}") from None


def _written(service: Reporting, app: str | None, week: Week, *, again: bool) -> Iterator[Written]:
    apps = service.apps(week) if app is None else [app]
    if not apps:
        raise WrongSettings(
            f"no app has answers in {week.name} or the week before: `monitor replay FILE` stores some, "
            "--week names another week"
        )
    return (service.written(name, week, again=again) for name in apps)


def _write(service: Reporting, reports: list[Written], output: Path, form: Format) -> None:
    from monitor.app.report import file_name

    if output == Path("-"):
        for report in reports:
            sys.stdout.buffer.write(service.rendered(report, form))
        sys.stdout.flush()
        return
    if not output.suffix and not output.exists():
        try:
            output.mkdir(parents=True)
        except OSError as error:
            raise WrongSettings(f"cannot make the folder {output}: {error.strerror}") from None
    if len(reports) > 1 and not output.is_dir():
        names = ", ".join(readable(report.app) for report in reports)
        raise WrongSettings(f"several apps have a report ({names}): name one with --app, or a folder with --output")
    for report in reports:
        path = output / f"{file_name(report)}.{form}" if output.is_dir() else output
        try:
            path.write_bytes(service.rendered(report, form))
        except OSError as error:
            raise WrongSettings(f"cannot write {path}: {error.strerror}") from None


def _status_line(report: Written, *, sent: bool) -> str:
    parts = [f"{readable(report.app)}, {report.week.name}"]
    if report.made_at is None:
        parts.append("not stored, because the week is not over")
    else:
        parts.append(f"stored at {report.made_at:%Y-%m-%d %H:%M} UTC")
    if report.differs:
        parts.append(f"differs from the one before in: {', '.join(report.differs)}")
    elif report.differs is not None:
        parts.append("the same as the one before")
    if sent:
        parts.append("posted to Slack")
    return f"{'; '.join(parts)}; content {report.digest[:16]}"


def _report_json(report: Written) -> dict[str, object]:
    return {
        "app": report.app,
        "week": report.week.name,
        "made_at": report.made_at,
        "digest": report.digest,
        "differs": report.differs,
        "content": report.content,
    }


def _stored_json(week: str, stored: ListedReport) -> dict[str, object]:
    return {
        "app": stored.app,
        "week": week,
        "made_at": stored.made_at,
        "sent_at": stored.sent_at,
        "digest": stored.digest,
    }
