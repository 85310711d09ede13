"""Dates the evidence of an observation: a breach begins and lasts only while answers come, and silence has a beginning.

A window slides on while nothing is counted. Good answers may leave it before bad ones, and `for` goes by, though nobody
has asked anything: without this, an alert would fire minutes after the last answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from monitor.alert.ports import CountReader
from monitor.alert.rule import Rule
from monitor.alert.signal import AMOUNTS, COUNTED_SHARES, SignalKind
from monitor.alert.state import Alert, State
from monitor.alert.window import MINUTE, Counts, Observation, Outcome, Span, window_at

LOOK_BACK = timedelta(days=1)  # how far back the last answer is looked for
_PIECES = 60
_COUNTED = COUNTED_SHARES | AMOUNTS | {SignalKind.MEAN}


def with_evidence(
    rule: Rule,
    signals: CountReader,
    observation: Observation,
    alert: Alert | None,
    now: datetime,
    *,
    bound: float | None,
) -> Observation:
    """The observation with `as_of` or `quiet_since`, where its outcome needs one; `alert` is the present one.

    With a `bound`, a breach is looked at again as of the last answer: one that is there only because the window slid on
    is unsure.

    Raises:
        Retriable: the store is out of reach.
    """
    active = alert is not None and alert.state.active
    missing = rule.signal.kind is SignalKind.NO_DATA and not observation.samples
    quiet = missing or (observation.outcome is Outcome.NO_DATA and rule.signal.kind in _COUNTED)
    if quiet and (active or observation.outcome is Outcome.BREACHING):
        return replace(observation, quiet_since=_quiet_since(rule, signals, observation.labels, alert, now))
    if observation.outcome is not Outcome.BREACHING or active or rule.signal.kind not in _COUNTED:
        return observation
    window = window_at(now, rule.method.window, rule.lateness)
    last = last_counted(rule, signals, observation.labels, window) or window.start
    if bound is not None and last < window.end and not _breached(rule, signals, observation.labels, last, bound):
        return replace(observation, outcome=Outcome.UNSURE)
    return replace(observation, as_of=min(now, last + rule.lateness + MINUTE))


def last_counted(rule: Rule, signals: CountReader, labels: Mapping[str, str], span: Span) -> datetime | None:
    """The end of the last minute of `span` in which something was counted for `labels`; None if nothing was.

    Each query narrows the span to a sixtieth: one for an hour, two for two days.
    """
    while True:
        step = max(-(-span.length // _PIECES // MINUTE), 1) * MINUTE
        starts = [span.start + step * number for number in range(-(-span.length // step))]
        pieces = [Span(start=at, end=min(at + step, span.end)) for at in starts]
        counted = _count(rule, signals, labels, pieces)
        filled = [piece for piece, count in zip(pieces, counted.counts, strict=True) if count.total] if counted else []
        if not filled:
            return None
        span = filled[-1]
        if span.length == MINUTE:
            return span.end


def _breached(rule: Rule, signals: CountReader, labels: Mapping[str, str], end: datetime, bound: float) -> bool:
    """Whether the rule was breached when its window ended at `end`."""
    then = end + rule.lateness
    found = _count(rule, signals, labels, rule.method.spans(then, lateness=rule.lateness, until=None))
    if found is None:
        return False
    seen, _ = rule.method.observe(found, signal=rule.signal, bound=bound, memory=None, now=then)
    return seen.outcome is Outcome.BREACHING


def _count(rule: Rule, signals: CountReader, labels: Mapping[str, str], spans: Sequence[Span]) -> Counts | None:
    selector = {**rule.selector, **{label: (value,) for label, value in labels.items()}}
    return next(iter(signals.counts(rule.signal, selector, rule.by, spans)), None)


def _quiet_since(
    rule: Rule, signals: CountReader, labels: Mapping[str, str], alert: Alert | None, now: datetime
) -> datetime | None:
    if alert is not None and alert.quiet_since is not None and alert.state not in (State.RESOLVED, State.INACTIVE):
        return alert.quiet_since
    return last_counted(rule, signals, labels, window_at(now, LOOK_BACK, timedelta()))
