"""The line that a signal is held against: a number, or what is usual plus a margin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from monitor.alert.window import Count

LEARNT_OVER = timedelta(days=28)
_BASELINE = re.compile(r"baseline\s*([+-])\s*([0-9]{1,2}(?:\.[0-9]{1,4})?)\s*pp")


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What is usual: the rate over `hours` hours with answers, and its interval at `window.CONFIDENCE`."""

    rate: float
    lower: float
    upper: float
    samples: int
    hours: int
    learnt_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """`value` as it is, or, where that is None, the baseline's upper bound plus `margin` (a share: 0.01 is 1 pp)."""

    value: float | None = None
    margin: float = 0.0
