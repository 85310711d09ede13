"""Reads what a rule measures: counts over its spans, a momentary state, new answers, labelled rates, or probes."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from monitor.alert.answers import by_source
from monitor.alert.evaluation.memory import RuleMemory
from monitor.alert.methods.decline import Decline, pinned_runs
from monitor.alert.methods.threshold import Threshold
from monitor.alert.ports import SignalReader
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.window import Count, Counts
from monitor.core.text.plain import plain

MOST_ANSWERS = 5_000  # that a rule reads in one round; after a backlog the rest follows in the next rounds
MOST_SOURCES = 200  # of a rule that has a history for each; further ones count as `other`


def read(rule: Rule, signals: SignalReader, memory: RuleMemory, now: datetime) -> tuple[list[Counts], int, int | None]:
    """The counts of the rule, how many counts each set of labels has, and the place of the last answer read."""
    match rule.signal.kind:
        case SignalKind.RANKS:
            counted, place = _new_answers(rule, signals, memory)
            return counted, 1, place
        case SignalKind.TRUE_RATE:
            return _labelled(rule, signals), 1, None
        case SignalKind.PROBE:
            return probed(rule, signals, memory, now), 1, None
    if rule.signal.is_momentary:
        return _worst(signals.momentary(rule.signal, now), rule), 1, None
    spans = rule.method.spans(now, lateness=rule.lateness, until=memory.until)
    return signals.counts(rule.signal, rule.selector, rule.by, spans), len(spans), None


def _new_answers(rule: Rule, signals: SignalReader, memory: RuleMemory) -> tuple[list[Counts], int]:
    """The answers listed since the last round, by source."""
    new = signals.new_answers(rule.signal, rule.selector, after=memory.place, most=MOST_ANSWERS)
    known = {tuple(series.labels.get(label, "") for label in rule.by) for series in memory.by_fingerprint.values()}
    batches = by_source(new.answers, rule.by, rule.signal.name, known=known, most=MOST_SOURCES)
    return [
        Counts(
            labels=dict(zip(rule.by, source, strict=True)), counts=(Count(total=len(batch), sum=0.0),), answers=batch
        )
        for source, batch in sorted(batches.items())
    ], new.through


def _labelled(rule: Rule, signals: SignalReader) -> list[Counts]:
    """The newest true rate of each app that the rule selects; without labels to group by, only the highest."""
    apps = rule.selector.get("app", ())
    found = [rate for rate in signals.labelled(rule.signal) if not apps or rate.app in apps]
    if not rule.by:
        found = sorted(found, key=lambda rate: rate.lower)[-1:]
    return [
        Counts(labels=dict.fromkeys(rule.by, rate.app), counts=(Count(total=rate.labels),), labelled=rate)
        for rate in found
    ]


def probed(rule: Rule, signals: SignalReader, memory: RuleMemory, now: datetime) -> list[Counts]:
    """The probes that the rule selects, each for itself: runs of different probes have nothing in common."""
    also = {number for series in memory.by_fingerprint.values() for number in pinned_runs(series.memory)}
    selected = []
    for found in signals.probed(rule.signal, also=also, now=now):
        if any(values and found.labels[label] not in values for label, values in rule.selector.items()):
            continue
        newest = found.runs[0]
        if rule.signal.is_of_questions:
            unjudged = newest.items if newest.error else newest.items - newest.judged
            count = Count(total=newest.items, sum=unjudged, squares=unjudged)
        else:
            values = newest.values.values()
            count = Count(total=len(values), sum=sum(values), squares=sum(value * value for value in values))
        labels: dict[str, str] = {label: found.labels[label] for label in rule.by}
        selected.append(Counts(labels=labels, counts=(count,), probed=found))
    return selected


def least_answers(rule: Rule) -> int:
    """The graded answers that a rule on a probe needs to judge a run; 0 for any other rule."""
    of_answers = rule.signal.is_of_probe and not rule.signal.is_of_questions
    return rule.method.min_samples if of_answers and isinstance(rule.method, Threshold | Decline) else 0


def too_small(rules: Iterable[Rule], signals: SignalReader, now: datetime) -> list[str]:
    """Sentences on the probes that rules cannot judge, since their newest run has too few answers.

    Raises:
        Retriable: the store is out of reach.
    """
    return [
        f"{rule.name}: not judged: run {counts.probed.runs[0].number} of {plain(counts.probed.probe)} has "
        f"{counts.counts[0].total} graded answers, and min_samples is {least}"
        for rule in rules
        if (least := least_answers(rule))
        for counts in probed(rule, signals, RuleMemory(), now)
        if counts.probed is not None and counts.probed.runs[0].says_enough and counts.counts[0].total < least
    ]


def _worst(counts: Iterable[Counts], rule: Rule) -> list[Counts]:
    """The counts that the rule selects, the largest one for each combination of its labels."""
    worst: dict[tuple[str, ...], Count] = {}
    for counted in counts:
        if all(counted.labels.get(label, "") in values for label, values in rule.selector.items()):
            key = tuple(counted.labels.get(label, "") for label in rule.by)
            worst[key] = max(worst.get(key, counted.counts[0]), counted.counts[0], key=lambda count: count.sum)
    return [Counts(labels=dict(zip(rule.by, key, strict=True)), counts=(count,)) for key, count in worst.items()]
