"""The true rates of labelled periods, as alert rules read them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from itertools import chain

from monitor.alert.labelled import LabelledRate
from monitor.review.rates.estimate import CLASSES, Labels, rate
from monitor.review.rates.plan import Plan
from monitor.review.rates.queue import open_items
from monitor.store.review.plans import OPEN_FOR, Plans

LOOKS_BACK = timedelta(days=366)  # an older period is too old for any rule
MOST = 60  # plans of an app that are read for all its rates
_AGAIN = timedelta(hours=1)  # erasures and time change what is complete, too


class LabelledPeriods:
    """Reads a plan again only when it gets a label, and all once an hour; may raise `Retriable`.

    A plan counts once nobody is asked for its labels any more: each answer that can still be read has a label, and the
    second or third one that it needs. A plan that is closed counts without those, but never with an answer that nobody
    has labelled. Judging it after every label would be many looks at an interval that is meant for one.
    """

    def __init__(self, plans: Plans, now: Callable[[], datetime]) -> None:
        self._plans = plans
        self._now = now
        # By plan: the rates by class, none while it does not count; only plans that `newest` has looked at.
        self._known: Mapping[int, Mapping[str, LabelledRate]] = {}
        self._version = 0, 0
        self._read_at: datetime | None = None

    def newest(self, class_: str) -> list[LabelledRate]:
        """The rate of a class of `CLASSES` in the last period of each app whose plan counts, in order of the apps.

        A label that was committed after one given later may be seen only after an hour.
        """
        self._refresh()
        return [rates[class_] for rates in self._known.values() if rates]

    def all(self, class_: str) -> list[LabelledRate]:
        """The rates of labelled periods of the last year, in the order in which they ended; the last 60 of each app."""
        now = self._now()
        numbers = chain.from_iterable(of_app[:MOST] for of_app in self._plans.ended_after(now - LOOKS_BACK).values())
        found = [rates[class_] for rates in (self._rates(number, now) for number in numbers) if rates]
        return sorted(found, key=lambda rate: (rate.until, int(rate.plan)))

    def _refresh(self) -> None:
        """Looks at the plans of each app, the latest period first, until one counts."""
        now, version = self._now(), self._plans.version()
        known: Mapping[int, Mapping[str, LabelledRate]] = {}
        read_at = now
        if self._read_at is not None and abs(now - self._read_at) < _AGAIN:
            if version == self._version:
                return
            changed, read_at = self._plans.labelled_after(self._version[1]), self._read_at
            known = {number: rates for number, rates in self._known.items() if number not in changed}
        found: dict[int, Mapping[str, LabelledRate]] = {}
        for numbers in self._plans.ended_after(now - LOOKS_BACK).values():
            for number in numbers:
                found[number] = known[number] if number in known else self._rates(number, now)
                if found[number]:
                    break
        self._known, self._version, self._read_at = found, version, read_at

    def _rates(self, number: int, now: datetime) -> dict[str, LabelledRate]:
        """The rates of the plan by class, none while it does not count."""
        plan = self._plans.numbered(number)
        labels = self._plans.labels(plan)
        asked = open_items(plan, labels, by="")
        if now - plan.made_at >= OPEN_FOR:
            asked = [item for item in asked if (item.app, item.id) not in labels]
        return {} if self._plans.readable(asked) else _estimated(plan, labels)


def _estimated(plan: Plan, labels: Labels) -> dict[str, LabelledRate]:
    """By class; none if there is a part without any label."""
    found = {}
    for class_ in CLASSES:
        estimated = rate(plan, labels, class_)
        if estimated.value is not None:
            found[class_] = LabelledRate(
                app=plan.app,
                plan=str(plan.number),
                since=plan.since,
                until=plan.until,
                labels=estimated.labels,
                estimate=estimated.value,
                lower=estimated.lower,
                upper=estimated.upper,
            )
    return found
