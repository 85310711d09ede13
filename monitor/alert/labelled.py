"""The true rate of a period of an app, as people's labels show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledRate:
    """The share of answers with a verdict in [since, until) of `app`, with its 95 % interval, from `labels` labels.

    `plan` names the plan that drew the labels.
    """

    app: str
    plan: str
    since: datetime
    until: datetime
    labels: int
    estimate: float
    lower: float
    upper: float
