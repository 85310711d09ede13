"""Shows how far each rule is from firing: its present signal, for the labels that are nearest to the threshold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from monitor.alert.labelled import LabelledRate
from monitor.alert.ports import AlertStore
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.window import Counts, window_at
from monitor.alert.wording import amount
from monitor.core.errors import Retriable


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFigure:
    """A figure such as `38.2 % of 212`, and the values of its labels, which are foreign text."""

    figure: str
    labels: str


def rule_figure(rule: Rule, store: AlertStore, now: datetime) -> RuleFigure | None:
    """The signal of `rule` over its last closed window; None when nothing was counted, or it takes too long."""
    try:
        if rule.signal.kind is SignalKind.TRUE_RATE:
            return highest_rate(rule, store.labelled(rule.signal))
        if rule.signal.is_momentary:
            found = store.momentary(rule.signal, now)
        else:
            span = window_at(now, rule.method.window, rule.lateness)
            found = store.counts(rule.signal, rule.selector, rule.by, [span])
    except Retriable:
        return None
    return nearest_to_firing(rule, found)


def highest_rate(rule: Rule, rates: Sequence[LabelledRate]) -> RuleFigure | None:
    """The labelled period whose lower limit is the highest."""
    apps = rule.selector.get("app", ())
    rate = max((r for r in rates if not apps or r.app in apps), key=lambda r: r.lower, default=None)
    if rate is None:
        return None
    limits = f"{amount(rate.lower, 'share')} to {amount(rate.upper, 'share')}"
    return RuleFigure(figure=f"{limits} by {rate.labels:,} labels", labels=rate.app)


def nearest_to_firing(rule: Rule, found: Sequence[Counts]) -> RuleFigure | None:
    """The worst of the counted combinations of labels, as the rule measures it."""
    if rule.signal.kind is SignalKind.NO_DATA:
        if not found:
            return None
        fewest = min(found, key=lambda counts: counts.counts[0].total)
        return RuleFigure(figure=f"{fewest.counts[0].total:,}", labels=_label_values(fewest))
    known = [(mean, counts) for counts in found if (mean := counts.counts[0].mean) is not None]
    if not known:
        return None
    choose = min if rule.method.fires_below else max
    value, counts = choose(known, key=itemgetter(0))
    total = "" if rule.signal.is_momentary else f" of {counts.counts[0].total:,}"
    return RuleFigure(figure=amount(value, rule.unit) + total, labels=_label_values(counts))


def _label_values(counts: Counts) -> str:
    return ", ".join(value for value in counts.labels.values() if value)
