"""Makes plans of labels for the true rates of a period."""

from __future__ import annotations

from datetime import datetime

from monitor.core.errors import WrongSettings
from monitor.core.text.plain import moment
from monitor.review.rates.plan import Plan, PlanRequest
from monitor.store.review.plans import Plans


def make_plan(plans: Plans, request: PlanRequest, *, by: str, now: datetime) -> Plan:
    """Draws and stores a plan for a period that has ended.

    Raises:
        WrongSettings: the period has not ended, or the app has no assessed answers in it.
    """
    if request.until > now:
        raise WrongSettings(f"the period ends in the future, and labels are drawn once; it is {moment(now)} now")
    plan = plans.make(request, by=by, now=now)
    if plan is None:
        span = f"from {moment(request.since)} to {moment(request.until)}"
        raise WrongSettings(f"no assessed answers of the app {request.app!r} are stored {span}")
    return plan
