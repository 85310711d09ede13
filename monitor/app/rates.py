"""True rates of verdicts: makes plans of labels, and estimates rates from the labels of a plan."""

from __future__ import annotations

from datetime import datetime, timedelta

from monitor.core.errors import WrongSettings
from monitor.core.text.plain import moment
from monitor.core.verdict_counts import Verdicts
from monitor.review.rates.estimate import CLASSES, Labels, rate
from monitor.review.rates.period import Period, PeriodRates
from monitor.review.rates.plan import Plan
from monitor.store.interaction.overview import OverviewStore
from monitor.store.review.plans import Plans

SPAN = timedelta(days=7)  # of an app without a plan
MOST_LABELS = 5_000


def make_plan(
    plans: Plans,
    app: str,
    period: Period,
    *,
    labels: int,
    guaranteed: bool,
    judge_share: float,
    by: str,
    now: datetime,
) -> Plan:
    """Draws and stores a plan for a period that has ended.

    Raises:
        WrongSettings: the period has not ended, or the app has no assessed answers in it.
    """
    if period.until > now:
        raise WrongSettings(f"the period ends in the future, and labels are drawn once; it is {moment(now)} now")
    plan = plans.make(
        app,
        period.since,
        period.until,
        labels=labels,
        guaranteed=guaranteed,
        judge_share=judge_share,
        by=by,
        now=now,
    )
    if plan is None:
        span = f"from {moment(period.since)} to {moment(period.until)}"
        raise WrongSettings(f"no assessed answers of the app {app!r} are stored {span}")
    return plan


def rates(
    plans: Plans, overview: OverviewStore, app: str | None, period: Period | None, now: datetime
) -> list[PeriodRates]:
    """The rates of the app, or of every app with answers in the period.

    Without a period it is that of the app's newest plan, or the last `SPAN` where an app has no plan.
    """
    wanted = period or Period.last(SPAN, now)
    counted = overview.totals(wanted.since, wanted.until)
    apps = [app] if app is not None else sorted(counted)
    found = []
    for name in apps:
        plan = plans.newest(name) if period is None else plans.newest(name, period.since, period.until)
        if plan is None:
            counts = counted.get(name, Verdicts())
            others = [Period(since=since, until=until) for since, until in plans.periods(name)]
            found.append(PeriodRates(app=name, period=wanted, counts=counts, rates={}, others=others))
        else:
            found.append(planned_rates(plans, overview, plan))
    return found


def planned_rates(plans: Plans, overview: OverviewStore, plan: Plan) -> PeriodRates:
    """The rates of a plan's period."""
    labels = plans.labels(plan)
    return PeriodRates(
        app=plan.app,
        period=Period(since=plan.since, until=plan.until),
        counts=overview.totals(plan.since, plan.until, app=plan.app).get(plan.app, Verdicts()),
        plan=plan,
        rates={class_: rate(plan, labels, class_) for class_ in CLASSES},
        once=_labelled_once(labels),
        gone=plans.gone(plan),
    )


def _labelled_once(labels: Labels) -> int:
    return sum(len(given) == 1 and next(iter(given.values())).negative for given in labels.values())
