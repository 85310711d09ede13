"""The commands `monitor reference …`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import fitted
from monitor.cli.opening import only_app, opened
from monitor.cli.terminal import AsJson, actor, literal, plural, point_in_time, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from datetime import datetime

    from monitor.app.reference import Comparison
    from monitor.store.reference.draw import ReferencePeriod
    from monitor.store.reference.frozen import FrozenReference

reference_app = typer.Typer(
    name="reference",
    no_args_is_help=True,
    help="Freeze what is usual for an app, so that each later answer gets its rank among the usual ones.",
)
USUAL_SPAN = timedelta(days=28)
_Hash = Annotated[str, typer.Argument(metavar="HASH", help="The hash of a reference, or its first characters.")]
_From = Annotated[str | None, typer.Option("--from", help="Only answers from this time on, ISO 8601; UTC by default.")]
_To = Annotated[str | None, typer.Option("--to", help="Only answers before this time; default: now.")]


@reference_app.command("freeze")
def freeze(
    *,
    app_name: Annotated[
        str | None, typer.Option("--app", help="The app whose usual answers to freeze; default: the only one.")
    ] = None,
    start: _From = None,
    end: _To = None,
    model: Annotated[
        str | None, typer.Option(help="Only answers by this model; default: a reference for each model.")
    ] = None,
    highest: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Freeze nothing; list the N highest scores, to be labelled first."),
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who freezes; default: your login.")] = None,
    as_json: AsJson = False,
) -> None:
    """Freeze the scores of a good period, by default of the last 28 days, as the reference of later answers.

    Answers that people labelled self-generated are left out, and each wording counts once.
    """
    from monitor.app.reference import ListedReference, State
    from monitor.store.reference.references import ReferenceStore

    who = actor(by)
    with opened() as application:
        now, store = application.now(), ReferenceStore(application.engine)
        app = only_app(application, app_name)
        period = _period(app, start, end, model, now=now)
        if highest is not None:
            found = [{"app": app, "id": one.id, "score": one.score} for one in store.highest(period, highest)]
            _print_highest(found, as_json=as_json)
            return
        done = store.freeze(period, by=who, now=now)
    if as_json:
        print_json(
            {
                "frozen": [
                    ListedReference(hash=one.hash, frozen=one, state=State.IN_FORCE).facts() for one in done.frozen
                ],
                "too_few": [{"model": name or None, "answers": number} for name, number in done.too_few.items()],
            }
        )
        return
    for one in done.frozen:
        typer.echo(f"{one.hash}  {readable(_source(one))}, version {one.version}: {_size(one)}")
    for name, number in done.too_few.items():
        typer.echo(f"{readable(name) or 'answers without a model'}: only {plural(number, 'answer')}, nothing frozen")
    typer.echo("answers assessed from now on get their ranks in it; running processes notice it within 30 s")


@reference_app.command("list")
def list_(
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="Only this app.")] = None,
    as_json: AsJson = False,
) -> None:
    """List references and say whether answers are ranked in them."""
    from monitor.app.reference import State, listed
    from monitor.store.reference.references import ReferenceStore

    with opened() as application:
        found = listed(ReferenceStore(application.engine), app_name)
    if as_json:
        print_json([one.facts() for one in found])
        return
    if not found:
        name = "APP" if app_name is None else readable(shlex.quote(app_name))
        typer.echo(f"no reference is frozen: `monitor reference freeze --app {name}` freezes the last 28 days")
        return
    table = Table("hash", "app", "model", "topic", box=None, pad_edge=False)
    for heading in ("version", "scores"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("period", "state"):
        table.add_column(heading, no_wrap=True)
    for one in found:
        of = one.frozen
        names = (literal(of.app), literal(of.model) or "–", literal(of.topic) or "all")
        table.add_row(one.hash, *names, str(of.version), f"{len(of.scores):,}", _days(of.since, of.until), one.state)
    console = Console()
    console.print(fitted(table, console.width))
    for name in sorted({one.frozen.app for one in found if one.state is State.OTHER_PROFILE}):
        again = f"monitor reference freeze --app {readable(shlex.quote(name))}"
        typer.echo(f"{readable(name)}: answers have another profile now; freeze again: `{again}`", err=True)
    if any(one.state is State.CHANGED for one in found):
        typer.echo("changed: not what was frozen, and not used; see `monitor audit verify`", err=True)


@reference_app.command("show")
def show(hash_: _Hash, *, as_json: AsJson = False) -> None:
    """Show one reference; with --json everything that its SHA-256 is over, and the quantiles."""
    from monitor.app.reference import chosen, quantiles
    from monitor.store.reference.references import ReferenceStore

    with opened() as application:
        one = chosen(ReferenceStore(application.engine), hash_)
    of = one.frozen
    if as_json:
        print_json({**one.facts(), "quantiles": quantiles(of.scores), "content": of.content()})
        return
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    for name, value in (
        ("reference", f"{literal(_source(of))}, version {of.version}, {one.state}"),
        ("period", f"{of.since:%Y-%m-%d %H:%M} to {of.until:%Y-%m-%d %H:%M} UTC"),
        ("frozen", f"{of.frozen_at:%Y-%m-%d %H:%M} UTC by {literal(of.frozen_by)}"),
        ("made with", f"profile {of.profile_hash}, {literal(of.embedding_model)}"),
        ("scores", _size(of)),
        ("quantiles", _quantiles(quantiles(of.scores))),
        ("sha256", of.sha256),
    ):
        table.add_row(name, value)
    Console().print(table)


@reference_app.command("compare")
def compare_(
    hash_: _Hash,
    later: Annotated[
        str | None, typer.Argument(metavar="LATER", help="Another reference; default: the answers of a period.")
    ] = None,
    *,
    start: _From = None,
    end: _To = None,
    as_json: AsJson = False,
) -> None:
    """Show whether the level has moved: how later answers rank in a reference.

    Without LATER and --from the period begins where that of the reference ends.
    """
    from monitor.app.reference import LaterScores, chosen, compare, later_scores, left_out_of
    from monitor.store.reference.references import ReferenceStore

    if later is not None and (start or end):
        raise WrongSettings("give either LATER or --from and --to, not both")
    with opened() as application:
        store = ReferenceStore(application.engine)
        earlier = chosen(store, hash_).frozen
        if later is None:
            start = start or earlier.until.isoformat()
            period = _period(earlier.app, start, end, earlier.model, now=application.now())
            compared = compare(earlier, later_scores(store, earlier, period))
            name = _days(period.since, period.until)
        else:
            other = chosen(store, later).frozen
            if (other.profile_hash, other.embedding_model) != (earlier.profile_hash, earlier.embedding_model):
                raise WrongSettings("the two were made with different profiles: their scores cannot be compared")
            compared = compare(earlier, LaterScores(scores=other.scores, left_out=left_out_of(other)))
            name = other.hash
    if as_json:
        print_json({"earlier": earlier.hash, "later": name, **_comparison_json(compared)})
        return
    _print_comparison(earlier.hash, name, compared)


def _print_highest(found: Sequence[Mapping[str, object]], *, as_json: bool) -> None:
    if as_json:
        print_json(found)
        return
    for one in found:
        name = shlex.quote(f"{one['app']}/{one['id']}")
        typer.echo(f"{one['score']:.3f}  {readable(name)}")
    typer.echo("read each with `monitor explain ID`, label it with `monitor review label APP/ID LABEL`, then freeze")


def _period(app: str, start: str | None, end: str | None, model: str | None, *, now: datetime) -> ReferencePeriod:
    """The period of the options: without --from, `USUAL_SPAN` before its end.

    Raises:
        WrongSettings: a time cannot be read, or the period is empty.
    """
    from monitor.store.reference.draw import ReferencePeriod

    until = now if end is None else point_in_time(end, "--to")
    since = until - USUAL_SPAN if start is None else point_in_time(start, "--from")
    if since >= until:
        raise WrongSettings(f"--from {since:%Y-%m-%d %H:%M} is not before --to {until:%Y-%m-%d %H:%M}")
    return ReferencePeriod(app=app, since=since, until=until, model=model)


def _comparison_json(compared: Comparison) -> dict[str, object]:
    from monitor.app.reference import quantiles

    return {
        "sizes": {"earlier": len(compared.earlier), "later": len(compared.later)},
        "quantiles": {"earlier": quantiles(compared.earlier), "later": quantiles(compared.later)},
        "shares": [
            {"rank": one.rank, "share": one.share, "low": one.low, "high": one.high, "says": one.words}
            for one in compared.shares
        ],
    }


def _print_comparison(earlier: str, later: str, compared: Comparison) -> None:
    from monitor.app.reference import quantiles

    table = Table("", box=None, pad_edge=False)
    for heading in (earlier, later):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_row("scores", f"{len(compared.earlier):,}", f"{len(compared.later):,}")
    of_later = quantiles(compared.later)
    for name, value in quantiles(compared.earlier).items():
        table.add_row(f"quantile {name}", f"{value:.3f}", f"{of_later[name]:.3f}")
    console = Console()
    console.print(table)
    for one in compared.shares:
        console.print(
            f"rank ≤ {one.rank:g}: {one.share:.1%} of the later answers, {one.words} "
            f"({one.low:.1%} to {one.high:.1%} if nothing has changed)",
            highlight=False,
        )
    if compared.left_out:
        console.print("The ranges allow for answers labelled self-generated, which a reference leaves out.")


def _source(of: FrozenReference) -> str:
    model, topic = f", model {of.model}" if of.model else "", f", topic {of.topic}" if of.topic else ""
    return f"{of.app}{model}{topic}"


def _size(of: FrozenReference) -> str:
    left_out: Mapping[str, int] = {
        "labelled self-generated": of.labelled,
        "repeated": of.repeated,
        "under another profile": of.other_profile,
    }
    out: Sequence[str] = [f"{number:,} {why}" for why, number in left_out.items() if number]
    return f"{len(of.scores):,} scores of {of.answers:,} answers" + (f"; left out {', '.join(out)}" if out else "")


def _quantiles(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name}: {value:.3f}" for name, value in values.items())


def _days(since: datetime, until: datetime) -> str:
    return f"{since:%Y-%m-%d} to {until:%Y-%m-%d}"
