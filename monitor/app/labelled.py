"""The true rates of labelled periods, as alert rules read them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta

from monitor.alert.labelled import LabelledRate
from monitor.review.rates.estimate import Labels, rate
from monitor.review.rates.plan import Plan
from monitor.store.review.plans import OPEN_FOR, Plans

LOOKS_BACK = timedelta(days=366)  # an older period is too old for any rule
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
        found: dict[str, LabelledRate] = {}
        for labelled in self.all(class_):
            found[labelled.app] = labelled
        return [found[app] for app in sorted(found)]

    def all(self, class_: str) -> list[LabelledRate]:
        """The rates of all labelled periods of the last year, in the order in which the periods ended."""
        return list(self._rates(class_))

    def _rates(self, class_: str) -> Iterator[LabelledRate]:
        for plan, labels in self._complete():
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

    def _complete(self) -> list[tuple[Plan, Labels]]:
        now, version = self._now(), self._plans.version()
        if self._version is None or self._version[0] != version or abs(now - self._version[1]) >= _AGAIN:
            pairs = [(plan, self._plans.labels(plan)) for plan in self._plans.ended_after(now - LOOKS_BACK)]
            self._known = [pair for pair in pairs if self._is_complete(*pair, now)]
            self._version = version, now
        return self._known

    def _is_complete(self, plan: Plan, labels: Labels, now: datetime) -> bool:
        if now - plan.made_at >= OPEN_FOR or len(labels) >= len(plan.items):
            return True
        return len(labels) + self._plans.gone(plan) >= len(plan.items)
