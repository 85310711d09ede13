"""Shows how far each rule is from firing: its present signal, for the labels that are nearest to the threshold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter

from monitor.alert.evaluation.reading import least_answers, probed
from monitor.alert.figures import amount
from monitor.alert.labelled import LabelledRate
from monitor.alert.ports import AlertStore
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.state import fingerprint
from monitor.alert.window import Counts, measured, window_at
from monitor.core.errors import Retriable


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleFigure:
    """A figure such as `38.2 % of 212`, and the values of its labels, which are foreign text.

    `limit` is the line for these labels, where the rule learns one.
    """

    figure: str
    labels: str
    limit: str = ""


def rule_figure(rule: Rule, store: AlertStore, now: datetime) -> RuleFigure | None:
    """The signal of `rule` over its last closed window; None when nothing was counted, or it takes too long."""
    try:
        if rule.signal.kind is SignalKind.TRUE_RATE:
            return highest_rate(rule, store.labelled(rule.signal))
        if rule.signal.is_of_probe:
            found = probed(rule, store, store.memory(rule.digest), now)
        elif rule.signal.is_momentary:
            found = store.momentary(rule.signal, now)
        else:
            span = window_at(now, rule.method.window, rule.lateness)
            found = store.counts(rule.signal, rule.selector, rule.by, [span])
        return nearest_to_firing(rule, found, store)
    except Retriable:
        return None


def highest_rate(rule: Rule, rates: Sequence[LabelledRate]) -> RuleFigure | None:
    """The labelled period whose lower limit is the highest."""
    apps = rule.selector.get("app", ())
    rate = max((r for r in rates if not apps or r.app in apps), key=lambda r: r.lower, default=None)
    if rate is None:
        return None
    limits = f"{amount(rate.lower, 'share')} to {amount(rate.upper, 'share')}"
    return RuleFigure(figure=f"{limits} by {rate.labels:,} labels", labels=rate.app)


def nearest_to_firing(rule: Rule, found: Sequence[Counts], store: AlertStore) -> RuleFigure | None:
    """The worst of the counted combinations of labels, as the rule measures it; `store` knows the learnt lines."""
    if rule.signal.kind is SignalKind.NO_DATA:
        if not found:
            return None
        fewest = min(found, key=lambda counts: counts.counts[0].total)
        return RuleFigure(figure=f"{fewest.counts[0].total:,}", labels=_label_values(fewest))
    known = [(value, counts) for counts in found if (value := measured(rule.signal, counts.counts[0])) is not None]
    if not known:
        return None
    choose = min if rule.method.fires_below(rule.signal) else max
    value, counts = choose(known, key=itemgetter(0))
    total = "" if rule.signal.is_momentary and not rule.signal.is_of_probe else f" of {counts.counts[0].total:,}"
    if counts.counts[0].total < (least := least_answers(rule)):
        total += f", {least} are needed"
    figure, labels = amount(value, rule.unit) + total, _label_values(counts)
    return RuleFigure(figure=figure, labels=labels, limit=_learnt_line(rule, counts.labels, store))


def _learnt_line(rule: Rule, labels: Mapping[str, str], store: AlertStore) -> str:
    if not rule.method.target.is_learnt:
        return ""
    series = store.memory(rule.digest).by_fingerprint.get(fingerprint(rule, labels))
    line = rule.method.target.bound(series.baseline if series else None)
    return "" if line is None else amount(line, rule.unit)


def _label_values(counts: Counts) -> str:
    return ", ".join(value for value in counts.labels.values() if value)
