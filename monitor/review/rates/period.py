"""What is known of the rates of an app in a period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from monitor.core.errors import WrongSettings
from monitor.core.figures.verdict_counts import Verdicts
from monitor.review.rates.estimate import Rate
from monitor.review.rates.plan import Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """The answers of [since, until), which are whole minutes in UTC."""

    since: datetime
    until: datetime

    @classmethod
    def last(cls, span: timedelta, now: datetime) -> Period:
        """The last `span` up to the last whole minute."""
        until = now.astimezone(UTC).replace(second=0, microsecond=0)
        return cls(since=until - span, until=until)

    @classmethod
    def of(cls, since: datetime, until: datetime) -> Period:
        """A period that a person gives.

        Raises:
            WrongSettings: it is empty, or begins or ends within a minute.
        """
        if since >= until:
            raise WrongSettings("--from must be before --to")
        if any(at.second or at.microsecond for at in (since, until)):
            raise WrongSettings("--from and --to must be whole minutes: answers are counted by the minute")
        return cls(since=since, until=until)


@dataclass(frozen=True, slots=True, kw_only=True)
class PeriodRates:
    """What is known of the rates of an app in a period.

    `counts` are the answers by verdict as they are counted now. `rates` has the true rate of each class; it is empty
    without a plan for the period. `gone` items can no longer be labelled. `others` are the periods that have a plan.
    """

    app: str
    period: Period
    counts: Verdicts
    plan: Plan | None = None
    rates: Mapping[str, Rate]
    once: int = 0  # items with a negative label by one person only
    gone: int = 0
    drawn: int = 1  # plans for this period, of which the newest counts
    over: bool = True  # whether the period has ended
    thumbs: Mapping[str, int] = field(default_factory=dict)  # of end users, `up` and `down`
    others: Sequence[Period] = ()

    def flagged(self, class_: str) -> float | None:
        """The share of answers with that verdict; None without answers."""
        return self.counts.share(class_)

    @property
    def late(self) -> int:
        """How many answers more are counted now than when the plan was made; below 0 if some were erased since."""
        return 0 if self.plan is None else self.counts.total - self.plan.answers
