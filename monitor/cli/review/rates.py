"""`monitor rates`, and the commands of `monitor review` that draw labels for rates."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from monitor.cli.opening import only_app, opened
from monitor.cli.terminal import AsJson, actor, plural, point_in_time, print_json, text_of
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import moment, readable

if TYPE_CHECKING:
    from monitor.app.review.labels import Wish
    from monitor.review.rates.period import Period

LABELS, MOST_LABELS = 100, 5_000
_Start = Annotated[
    str | None,
    typer.Option("--from", metavar="TIME", help="Only answers from this time on, ISO 8601; UTC without an offset."),
]
_End = Annotated[str | None, typer.Option("--to", metavar="TIME", help="Only answers before this time.")]


def rates(
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="Only this app.")] = None,
    start: _Start = None,
    end: _End = None,
    as_json: AsJson = False,
) -> None:
    """Show how many answers are flagged, and beside it the true rate as far as labels tell it.

    Without a period: that of each app's newest plan of labels, or the last seven days.
    """
    from monitor.cli.review.tables import rates_table
    from monitor.review.rates.period import Period
    from monitor.review.rates.presentation import period_words, rates_command, rates_json, remarks
    from monitor.store.interaction.overview import HOUR
    from monitor.store.review.rates import SPAN, known_rates

    period = None if start is None and end is None else period_between(start, end)
    with opened() as application:
        found = known_rates(application.engine, application.overview, app_name, period, application.now())
        empty = not any(known.counts.total for known in found)
        newest = application.overview.newest(app_name) if empty else None
    if as_json:
        print_json([line for known in found for line in rates_json(known)])
        return
    console = Console(highlight=False, soft_wrap=True)
    if not found:
        span = "of the last seven days" if period is None else "in this period"
        console.print(f"no answers {span} are stored")
    for known in found:
        total = known.counts.total
        answers = f"{total:,} answer{'s' * (total != 1)} from {period_words(known.period)}"
        console.print(f"{readable(known.app)}: {answers}", markup=False)
        console.print(rates_table(known))
        for line in remarks(known):
            console.print(readable(line), style="dim", markup=False)
    if newest is not None:
        until = newest + HOUR
        command = rates_command(app_name, Period(since=until - SPAN, until=until))
        console.print(f"the newest answers are of {moment(newest)}; that week: {readable(command)}", markup=False)
    elif empty:
        console.print("none is stored of any other time; `monitor replay FILE` stores some", markup=False)


def review_plan(
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="The app; default: the only one.")] = None,
    start: _Start = None,
    end: _End = None,
    labels: Annotated[int, typer.Option(min=1, max=MOST_LABELS, help="How many answers to draw.")] = LABELS,
    guaranteed: Annotated[
        bool,
        typer.Option("--guaranteed", help="Draw at random from all answers: wider, but right whatever the scores are."),
    ] = False,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who draws; default: your login.")] = None,
    as_json: AsJson = False,
) -> None:
    """Draw answers to label, from which the true rates of the period follow; seed and draw go into the audit trail.

    Without a period: the last seven days, up to now.
    """
    from monitor.app.review.rates import make_plan
    from monitor.app.wiring.models import sampling
    from monitor.review.rates.period import Period
    from monitor.review.rates.plan import FEWEST, Draw, PlanRequest
    from monitor.review.rates.presentation import METHODS, next_steps, period_words, plan_json
    from monitor.store.review.rates import SPAN

    who = actor(by)
    with opened() as application:
        now, app = application.now(), only_app(application, app_name)
        period = Period.last(SPAN, now) if start is None and end is None else period_between(start, end)
        request = PlanRequest(
            app=app,
            since=period.since,
            until=period.until,
            labels=labels,
            guaranteed=guaranteed,
            judge_share=sampling(application.settings.judge).of(app).random_share,
        )
        plan = make_plan(application.plans, request, by=who, now=now)
        earlier = application.plans.drawn(plan) - 1
    if as_json:
        print_json(plan_json(plan))
        return
    typer.echo(
        f"plan {plan.number}: {len(plan.items)} of {plan.answers:,} answers of {readable(plan.app)}, "
        f"{period_words(period)}"
    )
    typer.echo(f"{METHODS[plan.draw]}; seed {plan.seed}")
    if plan.draw is Draw.RANDOM and not guaranteed:
        typer.echo(f"at random from all, since there are fewer than {FEWEST} answers")
    if earlier:
        typer.echo(f"it replaces {plural(earlier, 'earlier plan')} for this period")
    for line in next_steps(plan.app, period):
        typer.echo(readable(line))


def review_import(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="CSV or JSON lines; - is standard input, JSON lines.")],
    *,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who labelled, where a line names nobody.")] = None,
    as_json: AsJson = False,
) -> None:
    """Store labels that were given elsewhere, from lines with `app`, `id`, `label` and `by`; all or none."""
    from monitor.app.review.label_file import from_csv, from_json_lines

    who = actor(by)
    with nullcontext(sys.stdin) if path == Path("-") else text_of(path) as lines:
        read = from_csv if path.suffix.lower() == ".csv" else from_json_lines
        wishes = read(lines, by=who)
    keep_labels(wishes, as_json=as_json)


def keep_labels(wishes: Sequence[Wish], *, as_json: bool) -> None:
    """Stores labels, all or none, and prints how many were new."""
    from monitor.app.review.labels import label

    with opened() as application:
        done = label(application.reviews, wishes, now=application.now())
    if as_json:
        print_json(asdict(done))
        return
    unchanged = f"; {done.unchanged} had this label already" if done.unchanged else ""
    typer.echo(f"{done.stored} labelled{unchanged}; {done.at_random} of them drawn at random")


def period_between(start: str | None, end: str | None) -> Period:
    """The period of `--from` and `--to`, of which both are needed.

    Raises:
        WrongSettings: one is missing or no time, or the period is empty or no whole minutes.
    """
    from monitor.review.rates.period import Period

    if start is None or end is None:
        raise WrongSettings("give both --from and --to, or neither")
    return Period.of(point_in_time(start, "--from"), point_in_time(end, "--to"))
