"""Learns the baselines of rules whose target needs one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from monitor.alert.evaluation.memory import RuleMemory, SeriesMemory
from monitor.alert.ports import SignalReader
from monitor.alert.rule import Rule
from monitor.alert.state import fingerprint
from monitor.alert.target import LEARNT_OVER, Baseline, HourSums, learn
from monitor.alert.window import HOUR, Span

LEARN_AGAIN = timedelta(hours=1)


def with_baselines(rule: Rule, signals: SignalReader, memory: RuleMemory, now: datetime) -> RuleMemory:
    """The memory with new baselines, if the rule's target needs them and the old ones are older than `LEARN_AGAIN`.

    Hours in which the alert was active are left out: an incident is not usual.
    """
    if not rule.method.target.is_learnt:
        return memory
    if memory.learnt_at is not None and now - memory.learnt_at < LEARN_AGAIN:
        return memory
    end = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    span = Span(start=end - LEARNT_OVER, end=end)
    active = signals.active_spans(rule.digest, span.start)
    by_fingerprint = dict(memory.by_fingerprint)
    all_sums = {
        fingerprint(rule, sums.labels): sums for sums in signals.hour_sums(rule.signal, rule.selector, rule.by, span)
    }
    all_sums |= _without_incidents(
        rule, signals, span, {i: all_sums[i].labels for i in active if i in all_sums}, active
    )
    for identity, sums in all_sums.items():
        baseline: Baseline | None = learn(sums, now)
        before = by_fingerprint.get(identity) or SeriesMemory(labels=sums.labels, seen_at=now)
        by_fingerprint[identity] = replace(before, baseline=baseline or before.baseline)
    return replace(memory, learnt_at=now, by_fingerprint=by_fingerprint)


def _without_incidents(
    rule: Rule,
    signals: SignalReader,
    span: Span,
    labels: Mapping[str, Mapping[str, str]],
    active: Mapping[str, Sequence[Span]],
) -> dict[str, HourSums]:
    """The sums over the hours in which the alerts with these `labels` were not `active`; all by fingerprint."""
    if not labels:
        return {}
    narrowed: dict[str, tuple[str, ...]] = {
        label: tuple(sorted({own[label] for own in labels.values()})) for label in rule.by
    }
    hours = [Span(start=at, end=at + HOUR) for at in (span.start + HOUR * i for i in range(span.length // HOUR))]
    found = {}
    for counts in signals.counts(rule.signal, {**rule.selector, **narrowed}, rule.by, hours):
        identity = fingerprint(rule, counts.labels)
        if identity in labels:
            pairs = zip(hours, counts.counts, strict=True)
            usual = [count for hour, count in pairs if not any(_overlap(hour, span) for span in active[identity])]
            found[identity] = HourSums.of(counts.labels, usual)
    return found


def _overlap(one: Span, other: Span) -> bool:
    return one.start < other.end and other.start < one.end
