"""The command `monitor explain`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.model import Unscored
from monitor.core.reason_words import UNSCORED_ADVICE, UNSCORED_OF_ONE, UNSCORED_PAGE
from monitor.core.text.interaction_name import meanings
from monitor.core.text.trace_link import trace_link

if TYPE_CHECKING:
    from monitor.app.wiring.application import Application

_NEWEST = 10  # answers listed
_NEWEST_OF, _AHEAD = timedelta(days=28), timedelta(minutes=5)  # a chatbot's clock may be ahead
_FIRST_TIME = datetime(1, 1, 1, tzinfo=UTC)


def explain(
    name: Annotated[
        str | None,
        typer.Argument(
            metavar="APP/ID",
            help="The interaction; its id alone is enough. Without it, the newest answers are listed.",
            show_default=False,
        ),
    ] = None,
    *,
    app_name: Annotated[
        str | None, typer.Option("--app", help="The app, where several share the id; or whose newest answers to list.")
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Show the figures too: scores, thresholds, features, log-odds.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one answer: the verdict, what the documents support and what they do not, and where to look next."""
    if name is None:
        _list_newest(app_name, as_json=as_json)
        return
    from monitor.assess.explain_json import findings_json
    from monitor.cli.explain.details import details_panel
    from monitor.cli.explain.panel import explanation
    from monitor.store.interaction.feedback import feedback_on

    with opened() as application:
        queries = application.queries
        app, interaction_id = _stored(application, name, app_name)
        rows = queries.with_assessments(interaction_id, app)
        judgements = {row["app"]: queries.judgements(row["app"], interaction_id) for row in rows}
        said = {row["app"]: feedback_on(application.engine, row["app"], interaction_id) for row in rows}
        profiles = [queries.profile(row["profile_hash"]) for row in rows]
        traces = [_trace_url(application.settings.trace_url, row) for row in rows]
    if as_json:
        print_json(
            [
                {
                    **row,
                    "judgements": judgements[row["app"]],
                    "feedback": said[row["app"]],
                    "explanation": findings_json(row, profile),
                    "trace_url": trace_url,
                }
                for row, profile, trace_url in zip(rows, profiles, traces, strict=True)
            ]
        )
        return
    console = Console()
    for row, profile, trace_url in zip(rows, profiles, traces, strict=True):
        judged = judgements[row["app"]] if row["live"] else ()
        console.print(explanation(row, judged, trace_url, said[row["app"]]))
        if details:
            console.print(details_panel(row, profile))
    if not details:
        console.print("[dim]--details shows the figures behind this[/]")


def _list_newest(app: str | None, *, as_json: bool) -> None:
    """Prints the newest assessed answers, with the names that `explain` takes."""
    from monitor.cli.explain.newest import newest_lines
    from monitor.store.interaction.filters import Filters
    from monitor.store.interaction.listing.list import InteractionList

    with opened() as application:
        stored, now = InteractionList(application.engine), application.now()
        filters = Filters(since=now - _NEWEST_OF, until=now + _AHEAD, app=app)
        ever = replace(filters, since=_FIRST_TIME)  # an export of last year may be all that there is
        rows = stored.page(filters, most=_NEWEST).rows or stored.page(ever, most=_NEWEST).rows
        apps = () if rows else application.overview.labels("app")["app"]
        demo = application.settings.state_dir / "demo"
    if as_json:
        print_json(
            [{"app": row.app, "id": row.id, "occurred_at": row.occurred_at, "verdict": row.verdict} for row in rows]
        )
        return
    console = Console(highlight=False, emoji=False)
    if not rows:
        console.print(literal(_none_stored(app, apps, demo)), soft_wrap=True)
        return
    for row in rows:
        heading, question = newest_lines(row)
        console.print(heading, soft_wrap=True)
        console.print(question)
    console.print("the newest answers, times in UTC; `monitor explain APP/ID` explains one")


def _none_stored(app: str | None, apps: Sequence[str], demo: Path) -> str:
    """That there is no answer to list, of the app or of any, and where to look or what to do instead."""
    from monitor.cli.demo.place import in_the_demo

    if app is not None and apps:
        more = ", …" if len(apps) > _NEWEST else ""
        return f"no answer in app {app!r} has a verdict; apps with answers: {', '.join(apps[:_NEWEST])}{more}"
    where = f"; the demo's are in its own folder: {in_the_demo(demo, 'monitor')} explain" if demo.exists() else ""
    return f"no answer with a verdict is stored yet: `monitor replay FILE` stores some{where}"


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
        step = _in_the_demo(application.settings.state_dir, meant) or "`monitor explain` lists the newest"
        raise WrongSettings(f"no interaction {name!r} is stored{where}; {step}")
    why = waiting[0]["last_error"] or "it waits for a worker"
    typer.echo(f"{name} is stored but not assessed yet: {why}; see `monitor pending`", err=True)
    raise typer.Exit(1)


def _in_the_demo(state_dir: Path, meant: Sequence[tuple[str | None, str]]) -> str | None:
    """How to explain an answer that only the demo has, by its name; None where there is no demo."""
    from monitor.cli.demo.place import in_the_demo
    from monitor.simulate.traffic import ID_PREFIX

    own = state_dir / "demo"
    id_ = next((id_ for _, id_ in meant if id_.startswith(ID_PREFIX)), None)
    if id_ is None or not own.exists():
        return None
    return f"the demo's answers are in its own folder: {in_the_demo(own, 'monitor')} explain {shlex.quote(id_)}"
