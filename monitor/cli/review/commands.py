"""The commands `monitor review …`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, print_json
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.app.review import Wish
    from monitor.app.wiring.application import Application
    from monitor.review.draw import Offer

review_app = typer.Typer(
    name="review", no_args_is_help=True, help="What people say of answers: offer, label, export, compare."
)
A_SITTING = 20  # offers of an interactive run
MOST = 200  # of one call: what is offered at random and never labelled weakens every figure
_Row = Mapping[str, Any]  # of `Queries.explained`
_App = Annotated[str | None, typer.Option("--app", help="Only this app's.")]
_Since = Annotated[str, typer.Option(metavar="DURATION", help="Only answers given since so long, as 7d.")]
_By = Annotated[str | None, typer.Option(metavar="NAME", help="Who labels; default: the login name.")]


@review_app.command("next")
def review_next(
    *,
    app_name: _App = None,
    since: _Since = "7d",
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, max=MOST, help=f"How many; default 1, or {A_SITTING} with -i.")
    ] = None,
    by: _By = None,
    random_only: Annotated[bool, typer.Option("--random", help="Only by chance, none that teach.")] = False,
    second_opinion: Annotated[
        bool, typer.Option("--second-opinion", help="Those that only others have labelled.")
    ] = False,
    reveal: Annotated[bool, typer.Option("--reveal", help="Show the verdict too; it leads people.")] = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Ask for one label after the other, by single keys.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Offer answers to label: in turn one that teaches and one by chance, each saying which."""
    from monitor.app.review import live_row, login_name, offers, person
    from monitor.review.presentation import label_command, offer_json

    if random_only and second_opinion:
        raise WrongSettings("either --random or --second-opinion")
    if interactive and as_json:
        raise WrongSettings("either --interactive or --json")
    if interactive and not _on_a_terminal():
        raise WrongSettings("--interactive needs a terminal; elsewhere use `next --json` and `label --file`")
    who = login_name() if by is None else person(by)
    span = _duration(since)
    with opened() as application:
        found = offers(
            application, app=app_name, span=span, count=count or (A_SITTING if interactive else 1), by=who,
            random_only=random_only, second_opinion=second_opinion,
        )  # fmt: skip
        rows = ((offer, row) for offer in found if (row := live_row(application, offer)) is not None)
        if as_json:
            shown = []
            for offer, row in rows:
                application.reviews.keep_offer(offer, to=who, now=application.now())
                shown.append(offer_json(row, offer, label_command(offer, by and who), reveal=reveal))
            print_json(shown)
        elif not found:
            typer.echo(f"nothing to label among the answers of the last {since}")
        elif interactive:
            _sit(application, rows, who, reveal=reveal)
        else:
            for offer, row in rows:
                _show(application, offer, row, who, reveal=reveal)
                typer.echo(f"{readable(label_command(offer, by and who))}\n")
            typer.echo(f"LABEL is one of {', '.join(Verdict)}")


@review_app.command("label")
def review_label(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="APP/ID… LABEL", help="Interactions, then grounded, refusal or self_generated."),
    ] = None,
    *,
    by: _By = None,
    note: Annotated[str | None, typer.Option(help="Why, in your words.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="JSON lines {app, id, label, by?, note?} instead; - is standard input.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Store what a person says; who says something else later is counted by that, and the first stays on record."""
    from monitor.app.review import label, login_name, person

    if bool(words) == (file is not None):
        raise WrongSettings("name interactions as APP/ID and then the label, or say --file")
    who = login_name() if by is None else person(by)
    wishes = _from_words(words, who, note) if words else _from_file(file, who, note)
    with opened() as application:
        done = label(application, wishes)
    if as_json:
        print_json(asdict(done))
        return
    known = f"; {done.unchanged} said so already" if done.unchanged else ""
    typer.echo(f"{done.stored} labelled{known}; {done.at_random} of these drawn at random")


@review_app.command("export")
def review_export(
    *,
    app_name: _App = None,
    since: Annotated[str | None, typer.Option(metavar="DURATION", help="Only answers given since so long.")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="Default: standard output.")] = None,
) -> None:
    """Write what is labelled as JSON lines that `monitor evaluate` and `monitor calibrate` read."""
    from monitor.app.review import export
    from monitor.core.files import output_file

    span = None if since is None else _duration(since)
    to_stdout = output is None or output == Path("-")
    target = nullcontext(sys.stdout) if to_stdout or output is None else output_file(output)
    with opened() as application, target as out:
        done = export(application, out, app=app_name, span=span)
    line = f"{done.labelled - done.gone} of {done.labelled} labelled interactions written"
    if done.disputed:
        line += f"; people disagree on {done.disputed}: the majority counts, of a tie the newest label"
    if done.gone:
        line += f"; {done.gone} are not stored any more"
    typer.echo(line, err=True)


@review_app.command("agreement")
def review_agreement(
    *,
    app_name: _App = None,
    weeks: Annotated[int, typer.Option(min=1, max=520, help="How many ISO weeks, this one included.")] = 8,
    as_json: AsJson = False,
) -> None:
    """How often verdicts agree with people, by the week of the answers; only what was drawn at random counts."""
    from monitor.app.review import agreement_report
    from monitor.cli.review.tables import pairs_table, weeks_table
    from monitor.review.presentation import agreement_json, remarks, week_json

    with opened() as application:
        report = agreement_report(application, app=app_name, weeks=weeks)
    if as_json:
        pairs = [{"people": list(pair.people), **agreement_json(pair.agreement)} for pair in report.pairs]
        by_week = [week_json(week) for week in report.weeks]
        print_json({"weeks": by_week, "all": week_json(report.together), "people": pairs, "left_out": report.left_out})
        return
    console = Console(highlight=False)
    if report.weeks:
        console.print(weeks_table([*report.weeks, report.together]))
    else:
        console.print("no answer of these weeks was drawn at random yet; `monitor review next` does it")
    for line in remarks(report.together, report.left_out):
        console.print(line, style="dim")
    if report.pairs:
        console.print(pairs_table(report.pairs))


def _show(application: Application, offer: Offer, row: _Row, who: str, *, reveal: bool) -> None:
    """Prints the offer, once it is remembered."""
    from monitor.cli.explain.panel import explanation
    from monitor.cli.review.tables import interaction_panel

    application.reviews.keep_offer(offer, to=who, now=application.now())
    console = Console(highlight=False)
    console.print(interaction_panel(row, offer))
    if reveal:
        console.print(explanation(row, application.queries.judgements(row["app"], row["id"])))


def _sit(application: Application, rows: Iterable[tuple[Offer, _Row]], who: str, *, reveal: bool) -> None:
    """One after the other, until all are through or the person ends it."""
    from monitor.app.review import Wish, label
    from monitor.cli.review.tables import keys

    labels, labelled = dict(keys()), 0
    for offer, row in rows:
        _show(application, offer, row, who, reveal=reveal)
        key = _pressed({*labels, "n", "q"}, typer.getchar)
        if key == "q":
            break
        if key in labels:
            c = offer.candidate
            wish = Wish(name=f"{c.app}/{c.id}", spellings=((c.app, c.id),), label=labels[key], by=who)
            labelled += label(application, [wish]).stored
    typer.echo(f"{labelled} labelled by {who}")


def _on_a_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _pressed(known: set[str], read: Callable[[], str]) -> str:
    """The next key that means something; the end of the input, Ctrl-C and Ctrl-D are `q`."""
    typer.echo("g grounded · r refusal · s self-generated · n next without a label · q quit  ", nl=False)
    try:
        while (key := read().lower()) not in known:
            pass
    except (KeyboardInterrupt, EOFError):
        key = "q"
    typer.echo(key)
    return key


def _from_words(words: list[str], by: str, note: str | None) -> list[Wish]:
    """`APP/ID… LABEL`; a label may be written with a dash."""
    from monitor.app.review import named

    *names, last = words
    try:
        said = Verdict(last.replace("-", "_"))
    except ValueError:
        raise WrongSettings(f"{last!r} is no label: end with one of {', '.join(Verdict)}") from None
    if not names:
        raise WrongSettings(f"which interactions are {said}? Name them as APP/ID before the label")
    return [named(name, said, by=by, note=note) for name in names]


def _from_file(path: Path | None, by: str, note: str | None) -> list[Wish]:
    from monitor.app.review import listed

    if path is None or path == Path("-"):
        return listed(sys.stdin, by=by, note=note)
    try:
        with path.open(encoding="utf-8") as lines:
            return listed(lines, by=by, note=note)
    except OSError as error:
        raise WrongSettings(f"{path}: cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise WrongSettings(f"{path}: is not UTF-8") from None


def _duration(text: str) -> timedelta:
    from monitor.core.duration import parse_duration

    try:
        return parse_duration(text)
    except ValueError as error:
        raise WrongSettings(f"--since: {error}") from None
