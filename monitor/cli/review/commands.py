"""The commands `monitor review …`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.review.rates import keep_labels, review_import, review_plan
from monitor.cli.terminal import AsJson, actor, duration, print_json, text_of
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.review.labels import Wish
    from monitor.app.wiring.application import Application
    from monitor.review.draw import Offer

review_app = typer.Typer(
    name="review",
    no_args_is_help=True,
    help="Offer answers to label, store and export labels, compare verdicts with people.",
)
review_app.command("plan")(review_plan)
review_app.command("import")(review_import)
OFFERS_PER_SESSION = 20  # of an interactive run
MOST = 200  # offers of one call; an answer drawn at random and never labelled weakens every figure
_Row = Mapping[str, Any]  # of `AssessmentQueries.with_assessments`
_App = Annotated[str | None, typer.Option("--app", help="Only this app.")]
_Since = Annotated[str, typer.Option(metavar="DURATION", help="Only answers from the last DURATION, such as 7d.")]
_By = Annotated[str | None, typer.Option(metavar="NAME", help="Who labels; default: your login.")]


@review_app.command("next")
def review_next(
    *,
    app_name: _App = None,
    since: _Since = "7d",
    count: Annotated[
        int | None,
        typer.Option("--count", "-n", min=1, max=MOST, help=f"How many; default 1, or {OFFERS_PER_SESSION} with -i."),
    ] = None,
    by: _By = None,
    random_only: Annotated[bool, typer.Option("--random", help="Only random answers.")] = False,
    second_opinion: Annotated[
        bool, typer.Option("--second-opinion", help="Only answers that others have labelled and you have not.")
    ] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the verdict too; it biases labels.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for one label after another, by single keys.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Offer answers to label: those of open plans, then alternately an informative one and a random one.

    Each says which it is. While calibration lacks labels of a class, informative ones are likely of that class; what is
    lacking is said at the end.
    """
    from monitor.app.review.labels import live_row, offers
    from monitor.review.presentation import label_command, offer_json
    from monitor.store.review.shortage import shortage

    if random_only and second_opinion:
        raise WrongSettings("give either --random or --second-opinion, not both")
    if interactive and as_json:
        raise WrongSettings("give either --interactive or --json, not both")
    if interactive and not _on_a_terminal():
        raise WrongSettings("--interactive needs a terminal; elsewhere use `next --json` and `label --file`")
    who = actor(by)
    span = duration(since, "--since")
    with opened() as application:
        found = offers(
            application.reviews,
            application.plans,
            now=application.now(),
            app=app_name,
            span=span,
            count=count or (OFFERS_PER_SESSION if interactive else 1),
            by=who,
            random_only=random_only,
            second_opinion=second_opinion,
            lacks=shortage(application.engine, app_name).lacks,
        )
        rows = ((offer, row) for offer in found if (row := live_row(application.queries, offer)) is not None)
        if as_json:
            shown = []
            for offer, row in rows:
                application.reviews.save_offer(offer, to=who, now=application.now())
                shown.append(offer_json(row, offer, label_command(offer, by and who), reveal=reveal))
            print_json(shown)
        elif not found:
            typer.echo(f"nothing to label among the answers{_of(app_name)} of the last {since}")
            typer.echo("--since 90d looks further back; `monitor explain` lists the newest answers", err=True)
        elif interactive:
            _label_one_by_one(application, rows, who, reveal=reveal)
        else:
            for offer, row in rows:
                _show(application, offer, row, who, reveal=reveal)
                typer.echo(f"{readable(label_command(offer, by and who))}\n")
            typer.echo(f"LABEL is one of {', '.join(Verdict)}")
        typer.echo(shortage(application.engine, app_name).words, err=True)


@review_app.command("label")
def review_label(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="APP/ID… LABEL", help="Interactions, then grounded, refusal or self_generated."),
    ] = None,
    *,
    by: _By = None,
    note: Annotated[str | None, typer.Option(help="Why, in your own words.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="Read JSON lines {app, id, label, by?, note?}; - is standard input.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Label interactions.

    Your newest label of an interaction counts; the earlier ones stay on record.
    """
    if bool(words) == (file is not None):
        raise WrongSettings("give interactions as APP/ID and then the label, or --file")
    who = actor(by)
    wishes = _from_words(words, who, note) if words else _from_file(file, who, note)
    keep_labels(wishes, as_json=as_json)


@review_app.command("export")
def review_export(
    *,
    app_name: _App = None,
    since: Annotated[str | None, typer.Option(metavar="DURATION", help="Only answers from the last DURATION.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: standard output.")
    ] = None,
) -> None:
    """Write labelled interactions as JSON lines, for `monitor evaluate` and `monitor calibrate`."""
    from monitor.app.review.labels import export
    from monitor.core.files import output_file

    span = None if since is None else duration(since, "--since")
    to_stdout = output is None or output == Path("-")
    target = nullcontext(sys.stdout) if to_stdout or output is None else output_file(output)
    with opened() as application, target as out:
        done = export(application.reviews, out, app=app_name, span=span, now=application.now())
    line = f"{done.labelled - done.gone} of {done.labelled} labelled interactions written"
    if done.disputed:
        line += f"; people disagree on {done.disputed}: the majority counts, or the newest label in a tie"
    if done.gone:
        line += f"; {done.gone} are no longer stored"
    typer.echo(line, err=True)


@review_app.command("agreement")
def review_agreement(
    *,
    app_name: _App = None,
    weeks: Annotated[int, typer.Option(min=1, max=520, help="How many ISO weeks, including this one.")] = 8,
    as_json: AsJson = False,
) -> None:
    """Show how often verdicts agree with people, week by week.

    Only answers drawn at random count.
    """
    from monitor.app.review.labels import agreement_report
    from monitor.cli.review.tables import pairs_table, weeks_table
    from monitor.review.presentation import agreement_json, remarks, week_json

    with opened() as application:
        report = agreement_report(application.reviews, app=app_name, weeks=weeks, now=application.now())
    if as_json:
        pairs = [{"people": list(pair.people), **agreement_json(pair.agreement)} for pair in report.pairs]
        by_week = [week_json(week) for week in report.weeks]
        print_json({"weeks": by_week, "all": week_json(report.together), "people": pairs, "left_out": report.left_out})
        return
    console = Console(highlight=False)
    if report.weeks:
        console.print(weeks_table([*report.weeks, report.together]))
    else:
        none = f"no answer{_of(app_name)} of these weeks was drawn at random yet; `monitor review next` draws some"
        console.print(none, markup=False)
    for line in remarks(report.together, report.left_out):
        console.print(line, style="dim")
    if report.pairs:
        console.print(pairs_table(report.pairs))


def _of(app: str | None) -> str:
    return "" if app is None else f" of the app {readable(app)!r}"


def _show(application: Application, offer: Offer, row: _Row, who: str, *, reveal: bool) -> None:
    """Stores the offer, then prints it."""
    from monitor.cli.explain.panel import explanation
    from monitor.cli.review.tables import interaction_panel

    application.reviews.save_offer(offer, to=who, now=application.now())
    console = Console(highlight=False)
    console.print(interaction_panel(row, offer))
    if reveal:
        console.print(explanation(row, application.queries.judgements(row["app"], row["id"])))


def _label_one_by_one(application: Application, rows: Iterable[tuple[Offer, _Row]], who: str, *, reveal: bool) -> None:
    """Asks for a label of each row until none is left or the person quits."""
    from monitor.app.review.labels import Wish, label
    from monitor.cli.review.tables import keys

    labels, labelled = dict(keys()), 0
    for offer, row in rows:
        _show(application, offer, row, who, reveal=reveal)
        key = _pressed({*labels, "n", "q"}, typer.getchar)
        if key == "q":
            break
        if key in labels:
            app, id_ = offer.candidate.app, offer.candidate.id
            wish = Wish(name=f"{app}/{id_}", spellings=((app, id_),), label=labels[key], by=who)
            labelled += label(application.reviews, [wish], now=application.now()).stored
    typer.echo(f"{labelled} labelled by {who}")


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _pressed(known: set[str], read: Callable[[], str]) -> str:
    """The next known key; the end of the input, Ctrl-C and Ctrl-D count as `q`."""
    typer.echo("g grounded · r refusal · s self-generated · n skip · q quit  ", nl=False)
    try:
        while (key := read().lower()) not in known:
            pass
    except (KeyboardInterrupt, EOFError):
        key = "q"
    typer.echo(key)
    return key


def _from_words(words: list[str], by: str, note: str | None) -> list[Wish]:
    """Reads `APP/ID… LABEL`; the label may be written with a dash."""
    from monitor.app.review.labels import named

    *names, last = words
    try:
        verdict = Verdict(last.replace("-", "_"))
    except ValueError:
        raise WrongSettings(f"{last!r} is not a label: end with one of {', '.join(Verdict)}") from None
    if not names:
        raise WrongSettings(f"which interactions are {verdict}? Give them as APP/ID before the label")
    return [named(name, verdict, by=by, note=note) for name in names]


def _from_file(path: Path | None, by: str, note: str | None) -> list[Wish]:
    from monitor.app.review.label_file import from_json_lines

    if path is None or path == Path("-"):
        return from_json_lines(sys.stdin, by=by, note=note)
    with text_of(path) as lines:
        return from_json_lines(lines, by=by, note=note)
