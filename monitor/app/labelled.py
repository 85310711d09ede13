"""The true rates of labelled periods, as alert rules read them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from monitor.alert.labelled import LabelledRate
from monitor.review.rates.estimate import Labels, rate
from monitor.review.rates.plan import Plan
from monitor.store.review.plans import OPEN_FOR, Plans

LOOKS_BACK = timedelta(days=366)  # an older period is too old for any rule
NEWEST, MOST = 3, 60  # plans of an app that are read for its newest rate, and for all of them
_AGAIN = timedelta(hours=1)  # erasures and time change what is complete, too


class LabelledPeriods:
    """Reads plans only when there are new labels or plans, or an hour has passed; may raise `Retriable`.

    A plan counts once nobody is asked for its labels any more: all are given, or the answers are gone, or it is closed.
    Judging it after every label would be many looks at an interval that is meant for one.
    """

    def __init__(self, plans: Plans, now: Callable[[], datetime]) -> None:
        self._plans = plans
        self._now = now
        self._known: list[tuple[Plan, Labels]] = []
        self._version: tuple[object, datetime] | None = None

    def newest(self, class_: str) -> list[LabelledRate]:
        """The rate of a class of `CLASSES` in the labelled period of each app that ended last, in order of the apps."""
        now, version = self._now(), self._plans.version()
        if self._version is None or self._version[0] != version or abs(now - self._version[1]) >= _AGAIN:
            self._known = list(self._complete(now, NEWEST))
            self._version = version, now
        found = {rate.app: rate for rate in _rates(self._known, class_)}
        return [found[app] for app in sorted(found)]

    def all(self, class_: str) -> list[LabelledRate]:
        """The rates of all labelled periods of the last year, in the order in which the periods ended."""
        return list(_rates(self._complete(self._now(), MOST), class_))

    def _complete(self, now: datetime, most: int) -> Iterator[tuple[Plan, Labels]]:
        for plan in self._plans.ended_after(now - LOOKS_BACK, most=most):
            labels = self._plans.labels(plan)
            closed = now - plan.made_at >= OPEN_FOR
            if closed or len(labels) >= len(plan.items) or len(labels) + self._plans.gone(plan) >= len(plan.items):
                yield plan, labels


def _rates(known: Iterable[tuple[Plan, Labels]], class_: str) -> Iterator[LabelledRate]:
    for plan, labels in known:
        estimated = rate(plan, labels, class_)
        if estimated.value is not None:
            yield LabelledRate(
                app=plan.app,
                plan=str(plan.number),
                since=plan.since,
                until=plan.until,
                labels=estimated.labels,
                estimate=estimated.value,
                lower=estimated.lower,
                upper=estimated.upper,
            )
