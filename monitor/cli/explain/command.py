"""The command `monitor explain`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, print_json
from monitor.core.errors import WrongSettings
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_OF_ONE, UNSCORED_PAGE
from monitor.core.text.interaction_name import meanings
from monitor.core.text.trace_link import trace_link

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application


def explain(
    name: Annotated[str, typer.Argument(metavar="APP/ID", help="The interaction; its id alone is enough.")],
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="The app, where several share the id.")] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show the figures too: scores, thresholds, features, log-odds.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one answer: the verdict, what the documents support and what they do not, and where to look next."""
    from monitor.assess.explain import findings_json
    from monitor.cli.explain.details import details_panel
    from monitor.cli.explain.panel import explanation

    with opened() as application:
        queries = application.queries
        app, interaction_id = _stored(application, name, app_name)
        rows = queries.with_assessments(interaction_id, app)
        judgements = {row["app"]: queries.judgements(row["app"], interaction_id) for row in rows}
        profiles = [queries.profile(row["profile_hash"]) for row in rows]
        traces = [_trace_url(application.settings.trace_url, row) for row in rows]
    if as_json:
        print_json(
            [
                {
                    **row,
                    "judgements": judgements[row["app"]],
                    "explanation": findings_json(row, profile),
                    "trace_url": trace_url,
                }
                for row, profile, trace_url in zip(rows, profiles, traces, strict=True)
            ]
        )
        return
    console = Console()
    for row, profile, trace_url in zip(rows, profiles, traces, strict=True):
        console.print(explanation(row, judgements[row["app"]] if row["live"] else (), trace_url))
        if details:
            console.print(details_panel(row, profile))
    if not details:
        console.print("[dim]--details shows the figures behind this[/]")


def _trace_url(templates: Mapping[str, str], row: Mapping[str, Any]) -> str | None:
    return trace_link(templates, app=row["app"], id_=row["id"], trace_id=row["trace_id"], span_id=row["span_id"])


def _stored(application: Application, name: str, app_name: str | None) -> tuple[str | None, str]:
    """The app, None for any, and the id of the assessed interaction that a name means; says why if there is none.

    Raises:
        WrongSettings: no such interaction is stored.
        typer.Exit: it is stored and waits for its assessment, or cannot be scored.
    """
    from monitor.store.interaction.turns.unscored_list import unscored_turns

    queries = application.queries
    meant = meanings(name, app_name)
    for app, id_ in meant:
        if queries.with_assessments(id_, app):
            return app, id_
    for app, id_ in meant:
        for turn in unscored_turns(application.engine, id_, app):
            reason = Unscored(turn["unscored"])
            typer.echo(f"{name} has no scores: this turn {UNSCORED_OF_ONE[reason]}", err=True)
            typer.echo(f"  {UNSCORED_ADVICE[reason]}; see {UNSCORED_PAGE}", err=True)
            raise typer.Exit(1)
    waiting: Sequence[Mapping[str, Any]] = [
        row for app, id_ in meant for row in queries.unassessed(id_) if app in {None, row["app"]}
    ]
    if not waiting:
        where = "" if app_name is None else f" in app {app_name!r}"
        raise WrongSettings(f"no interaction {name!r} is stored{where}")
    why = waiting[0]["last_error"] or "it waits for a worker"
    typer.echo(f"{name} is stored but not assessed yet: {why}; see `monitor pending`", err=True)
    raise typer.Exit(1)
