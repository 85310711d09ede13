"""Rates and plans as JSON and in words; a rate that nobody knows is never a number."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

from monitor.core.text.plain import moment, percent, plural
from monitor.review.rates.estimate import CLASSES, Rate
from monitor.review.rates.period import Period, PeriodRates
from monitor.review.rates.plan import Draw, Plan

UNKNOWN = "not known yet"
METHODS = {
    Draw.STRATA: "labels drawn within six strata of the score, score interval",
    Draw.JUDGE: "labels drawn within three strata of the score and what the judge says of a random sample",
    Draw.RANDOM: "labels drawn at random from all answers, Clopper–Pearson interval",
}


def rates_json(known: PeriodRates) -> list[dict[str, Any]]:
    """One object for each class of `CLASSES`; shares are null where they are not known."""
    plan = known.plan
    about = {"app": known.app, "from": known.period.since, "to": known.period.until}
    return [
        {
            **about,
            "class": class_,
            "answers": known.counts.total,
            "flagged": known.flagged(class_),
            **_rate_json(known.rates.get(class_)),
            "judged": 0 if plan is None else plan.judged,
            "method": None if plan is None else plan.draw.value,
            "seed": None if plan is None else plan.seed,
            "plan": None if plan is None else plan.number,
            "items": 0 if plan is None else len(plan.items),
            "feedback": {thumb: known.thumbs.get(thumb, 0) for thumb in ("up", "down")},
        }
        for class_ in CLASSES
    ]


def _rate_json(rate: Rate | None) -> dict[str, Any]:
    if rate is None or not rate.labels:
        return {"estimate": None, "lower": None, "upper": None, "labels": 0, "divided": 0}
    return {
        "estimate": rate.value,
        "lower": rate.lower,
        "upper": rate.upper,
        "labels": rate.labels,
        "divided": rate.divided,
    }


def plan_json(plan: Plan) -> dict[str, Any]:
    """The plan with its items, in the order in which they are to be labelled; strata are numbered from 0."""
    return {
        "plan": plan.number,
        "seed": plan.seed,
        "app": plan.app,
        "from": plan.since,
        "to": plan.until,
        "method": plan.draw.value,
        "answers": plan.answers,
        "frame": plan.frame,
        "items": [{"app": item.app, "id": item.id, "stratum": plan.parts[item.part].stratum} for item in plan.items],
    }


def interval(rate: Rate | None) -> str:
    """`3.8 % (1.4 to 8.6 %)`; without an estimate the bounds alone, and without labels that it is not known."""
    if rate is None or not rate.labels:
        return UNKNOWN
    bounds = f"{rate.lower * 100:.1f} to {rate.upper * 100:.1f} %"
    return bounds if rate.value is None else f"{percent(rate.value)} ({bounds})"


def progress(plan: Plan, rate: Rate) -> str:
    """`41 of 100 labelled, 2.1 to 9.8 %`: the bounds of the rate so far."""
    done = f"{rate.labels} of {len(plan.items)} labelled"
    return f"{done}, {rate.lower * 100:.1f} to {rate.upper * 100:.1f} %" if rate.labels else done


def period_words(period: Period | Plan) -> str:
    """`2026-11-16 00:00 UTC to 2026-11-23 00:00 UTC`: the period, or that of the plan."""
    return f"{moment(period.since)} to {moment(period.until)}"


def plan_command(app: str, period: Period) -> str:
    """The command that draws labels for the period."""
    return f"monitor review plan --app {shlex.quote(app)} {_options(period)}"


def next_steps(app: str, period: Period) -> Iterator[str]:
    """Yields what to do once labels are drawn, with the commands."""
    yield f"label them: monitor review next --app {shlex.quote(app)} --interactive"
    yield f"then: {rates_command(app, period)}"


def rates_command(app: str | None, period: Period) -> str:
    """The command that shows the rates of the period, of one app or all."""
    return f"monitor rates {'' if app is None else f'--app {shlex.quote(app)} '}{_options(period)}"


def _options(period: Period) -> str:
    start, end = (f"{at:%Y-%m-%dT%H:%MZ}" for at in (period.since, period.until))
    return f"--from {start} --to {end}"


def remarks(known: PeriodRates) -> Iterator[str]:
    """Yields how the rates came about, what they cannot know, and what to do next."""
    yield from _of_labels(known)
    up, down = (known.thumbs.get(thumb, 0) for thumb in ("up", "down"))
    if up + down:
        yield f"{down} of {up + down} thumbs of end users point down; who presses them is no sample, so this is no rate"


def _of_labels(known: PeriodRates) -> Iterator[str]:
    if known.plan is None:
        yield from _without_plan(known)
        return
    plan = known.plan
    yield f"plan {plan.number} of {moment(plan.made_at)}: {METHODS[plan.draw]}; seed {plan.seed}"
    if known.drawn > 1:
        yield f"{known.drawn} plans were drawn for this period; the newest counts, and the audit trail has all of them"
    if plan.draw is Draw.JUDGE:
        yield f"the judge has spoken of {plan.judged:,} of {plan.answers:,} answers ({percent(plan.judged_share)})"
    yield from _open_work(known, len(plan.items) - known.rates["negative"].labels)
    if known.late > 0:
        late = plural(known.late, "answer")
        yield f"{late} came after the draw; the true rate is that of the {plan.answers:,} before"


def _without_plan(known: PeriodRates) -> Iterator[str]:
    if known.others:
        periods = "; ".join(period_words(period) for period in known.others[:3])
        yield f"there are labels for other periods, and they say nothing about this one: {periods}"
    if not known.counts.total:
        yield "no answers of this app are stored in this period"
    elif not known.over:
        yield "the true rate is not known; answers to label can be drawn once the period is over"
    else:
        yield f"the true rate is not known; draw answers to label: {plan_command(known.app, known.period)}"


def _open_work(known: PeriodRates, missing: int) -> Iterator[str]:
    """What people can still do about the plan, of which so many labels are `missing`, and what they cannot."""
    label = f"monitor review next --app {shlex.quote(known.app)} --interactive"
    if missing > known.gone:
        left = missing - known.gone
        yield f"{plural(left, 'answer')} of the plan {'is' if left == 1 else 'are'} not labelled yet: {label}"
    if known.gone:
        yield f"{plural(known.gone, 'answer')} of the plan can no longer be labelled: erased, or past retention"
    if known.once:
        alone = f"one person alone calls {plural(known.once, 'answer')} negative"
        yield f"{alone}; have a second one look: {label} --by NAME"
    divided = known.rates["negative"].divided
    if divided:
        yield f"people are divided on {divided}; these count for the upper limit and not for the lower one"
