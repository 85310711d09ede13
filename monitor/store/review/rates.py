"""Reads what is known of true rates: the counts of a period, and the labels of its plan."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import Engine

from monitor.core.figures.verdict_counts import Verdicts
from monitor.review.rates.estimate import CLASSES, rate
from monitor.review.rates.period import Period, PeriodRates
from monitor.review.rates.plan import Plan
from monitor.store.interaction.feedback import thumbs
from monitor.store.interaction.overview import OverviewStore
from monitor.store.review.plans import Plans

SPAN = timedelta(days=7)  # of an app without a plan


def known_rates(
    engine: Engine, overview: OverviewStore, app: str | None, period: Period | None, now: datetime
) -> list[PeriodRates]:
    """The rates of the app, or of every app with answers in the period or, without a period, with a plan.

    Without a period it is that of the app's newest plan, or the last `SPAN` where an app has no plan.

    Raises:
        Retriable: the database is out of reach.
    """
    plans = Plans(engine)
    wanted = period or Period.last(SPAN, now)
    counted = overview.totals(wanted.since, wanted.until)
    planned = set(plans.apps())
    apps = [app] if app is not None else sorted({*counted, *(planned if period is None else ())})
    found = []
    for name in apps:
        plan, others = None, list[Period]()
        if name in planned:
            plan = plans.newest(name) if period is None else plans.newest(name, period.since, period.until)
            others = [Period(since=since, until=until) for since, until in plans.periods(name)]
        if plan is not None:
            found.append(planned_rates(engine, overview, plan))
        else:
            known = PeriodRates(
                app=name,
                period=wanted,
                counts=counted.get(name, Verdicts()),
                rates={},
                others=others,
                thumbs=thumbs(engine, name, wanted.since, wanted.until),
                over=wanted.until <= now,
            )
            found.append(known)
    return found


def planned_rates(engine: Engine, overview: OverviewStore, plan: Plan) -> PeriodRates:
    """The rates of a plan's period.

    Raises:
        Retriable: the database is out of reach.
    """
    plans = Plans(engine)
    labels = plans.labels(plan)
    return PeriodRates(
        app=plan.app,
        period=Period(since=plan.since, until=plan.until),
        counts=overview.totals(plan.since, plan.until, app=plan.app).get(plan.app, Verdicts()),
        plan=plan,
        rates={class_: rate(plan, labels, class_) for class_ in CLASSES},
        once=sum(len(given) == 1 and next(iter(given.values())).negative for given in labels.values()),
        gone=sum(not given for given in labels.values()),
        drawn=plans.drawn(plan),
        thumbs=thumbs(engine, plan.app, plan.since, plan.until),
    )
