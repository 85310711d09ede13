"""A rate above a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from monitor.alert.window import Observation, WindowCount, wilson

if TYPE_CHECKING:
    from monitor.alert.rule import Rule


def threshold(rule: Rule, count: WindowCount) -> Observation:
    """Breaching when the rate exceeds `rule.above`; with `rule.confident`, when its Wilson lower bound does.

    Fewer than `rule.min_samples` answers say nothing either way.
    """
    value = count.matching / count.total if count.total else None
    lower, upper = wilson(count.matching, count.total)
    judged = lower if rule.confident else value
    enough = judged is not None and count.total >= rule.min_samples
    return Observation(
        labels=count.labels,
        breaching=judged > rule.above if enough and judged is not None else None,
        value=value,
        samples=count.total,
        lower=lower,
        upper=upper,
    )
