"""How far each rule is from firing: its signal now, of the combination of labels that is nearest to its line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.alert.ports import AlertStore
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.window import Counts, window_at
from monitor.alert.wording import amount
from monitor.core.errors import Retriable


@dataclass(frozen=True, slots=True, kw_only=True)
class Latest:
    """`38.2 % of 212`, and whose: the values of the labels, which are foreign."""

    figure: str
    whose: str


def latest(rule: Rule, store: AlertStore, now: datetime) -> Latest | None:
    """The signal of `rule` over its window as it closed last; None where nothing was counted, or it took too long."""
    try:
        if rule.signal.is_momentary:
            found = store.momentary(rule.signal, now)
        else:
            span = window_at(now, rule.method.window, rule.lateness)
            found = store.counts(rule.signal, rule.selector, rule.by, [span])
    except Retriable:
        return None
    return nearest(rule, found)


def nearest(rule: Rule, found: Sequence[Counts]) -> Latest | None:
    """Of what was counted the worst by the rule's own measure."""
    if rule.signal.kind is SignalKind.NO_DATA:
        if not found:
            return None
        fewest = min(found, key=lambda its: its.counts[0].total)
        return Latest(figure=f"{fewest.counts[0].total:,}", whose=_whose(fewest))
    known = [(mean, its) for its in found if (mean := its.counts[0].mean) is not None]
    if not known:
        return None
    choose = min if rule.method.fires_below else max
    value, its = choose(known, key=lambda one: one[0])
    of = "" if rule.signal.is_momentary else f" of {its.counts[0].total:,}"
    return Latest(figure=amount(value, rule.unit) + of, whose=_whose(its))


def _whose(counts: Counts) -> str:
    return ", ".join(value for value in counts.labels.values() if value)
