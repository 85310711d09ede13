"""Tries alert rules on stored answers, labelled periods or simulated traffic before they go live."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from monitor.alert.answers import ListedAnswer, by_source
from monitor.alert.evaluation.answer_backtest import rehearse_answers, rehearse_labelled
from monitor.alert.evaluation.backtest import Episode, MinuteHistory, rehearse
from monitor.alert.evaluation.reading import MOST_SOURCES
from monitor.alert.labelled import LabelledRate
from monitor.alert.ports import SignalReader
from monitor.alert.rule import Rule
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import LEARNT_OVER
from monitor.alert.window import MINUTE, Count, Span
from monitor.core.figures.latency import LATENCY_BINS
from monitor.core.figures.proportions import wilson
from monitor.simulate.answers import simulated_answers
from monitor.simulate.minute_counts import WEEK_MINUTES, Ints, RateScenario, minute_counts

_PIECE = timedelta(days=1)  # of minutes that one query reads
LABELS = 100  # of each simulated week, for rules on labelled rates
SIMULATED_PAST = timedelta(weeks=2)  # of a rule on ranks, which would otherwise begin without any
_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a rule would have done, or why that is unknown."""

    rule: Rule
    episodes: tuple[Episode, ...] = ()
    answers: int = 0
    since: datetime | None = None  # time of the first answer in the span; None without answers
    why_not: str | None = None


class Past(Protocol):
    """What rules are tried on; every method may raise `Retriable`."""

    @property
    def counting(self) -> SignalReader: ...

    def answers(self, signal: Signal, selector: Mapping[str, tuple[str, ...]], span: Span) -> list[ListedAnswer]:
        """The stored answers of a span as the list of new answers would have given them."""

    def labelled(self, class_: str) -> list[LabelledRate]:
        """The rates of all labelled periods, in the order in which they ended."""


def on_history(rule: Rule, past: Past, span: Span) -> Rehearsed:
    """The episodes in which `rule` would have fired on what is stored of `span`.

    Raises:
        Retriable: the store is out of reach.
    """
    match rule.signal.kind:
        case SignalKind.RANKS:
            return _on_answers(rule, past, span)
        case SignalKind.TRUE_RATE:
            rates = [rate for rate in past.labelled(rule.signal.name) if rate.until <= span.end]
            within = [rate for rate in rates if rate.until > span.start]
            return Rehearsed(
                rule=rule,
                episodes=tuple(rehearse_labelled(rule, rates, span)),
                answers=sum(rate.labels for rate in within),
                since=span.start if within else None,
            )
    return _on_counts(rule, past.counting, span)


def _on_answers(rule: Rule, past: Past, span: Span) -> Rehearsed:
    """The rule knows the answers of the weeks before the span, as many as can be read."""
    answers = past.answers(rule.signal, rule.selector, Span(start=span.start - LEARNT_OVER, end=span.end))
    sources = by_source(answers, rule.by, rule.signal.name, known=(), most=MOST_SOURCES)
    within = [answer.at for answer in answers if span.start <= answer.at < span.end]
    return Rehearsed(
        rule=rule,
        episodes=tuple(rehearse_answers(rule, sources, span)),
        answers=len(within),
        since=within[0] if within else None,
    )


def _on_counts(rule: Rule, counting: SignalReader, span: Span) -> Rehearsed:
    if rule.signal.is_of_probe:
        return Rehearsed(rule=rule, why_not="runs of probes are not replayed; see monitor probe compare")
    if rule.signal.is_momentary:
        return Rehearsed(rule=rule, why_not="its signal is a current state without a history")
    begin = span.start - _lookback(rule)
    minutes = (span.end - begin) // MINUTE
    columns = 3 if rule.signal.percentile is None else 3 + LATENCY_BINS
    found: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for piece in _pieces(Span(start=begin, end=span.end)):
        spans = [Span(start=at, end=at + MINUTE) for at in _minutes(piece)]
        offset = (piece.start - begin) // MINUTE
        for counts in counting.counts(rule.signal, rule.selector, rule.by, spans):
            values = tuple(counts.labels[label] for label in rule.by)
            rows = found.setdefault(values, np.zeros((minutes, columns)))
            rows[offset : offset + len(spans)] = [_columns(count, columns) for count in counts.counts]
    history = MinuteHistory(begin, rule.by, found)
    length = span.length // MINUTE
    totals = [rows[-length:, 0] for rows in found.values()]
    answers = sum(int(total.sum()) for total in totals)
    first = min((int(total.argmax()) for total in totals if total.any()), default=None)
    since = None if first is None else span.start + first * MINUTE
    return Rehearsed(rule=rule, episodes=tuple(rehearse(rule, history, span)), answers=answers, since=since)


def _columns(count: Count, number: int) -> list[float]:
    counted = [count.total, count.sum, count.squares, *count.bins]
    return counted + [0.0] * (number - len(counted))


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulated:
    """What a rule does on simulated weeks: false pages, and the delay of each incident, None if it was missed."""

    rule: Rule
    weeks: int
    false_pages: int = 0
    delays: tuple[timedelta | None, ...] = ()
    pages_again: int = 0  # further pages for an incident
    why_not: str | None = None


def on_scenario(rule: Rule, scenario: RateScenario, *, weeks: int, seed: int) -> Simulated:
    """Runs `rule` on `weeks` simulated weeks of `scenario`, each after as much quiet history as the rule looks back on.

    The scenario's bad answers are those that the rule's signal counts. A rule on missing answers sees no incident.
    """
    if rule.signal.is_of_probe or not (rule.signal.is_share or rule.signal.kind is SignalKind.NO_DATA):
        return Simulated(rule=rule, weeks=weeks, why_not=f"{rule.signal} is not simulated")
    rng = np.random.default_rng(seed)
    before = -(-_lookback(rule) // timedelta(days=7)) * WEEK_MINUTES
    false, again = 0, 0
    delays: list[timedelta | None] = []
    for _ in range(weeks):
        quiet = minute_counts(replace(scenario, incident=None), weeks=1, rng=rng, minutes=before)
        week = minute_counts(scenario, weeks=1, rng=rng)
        start = _MONDAY + before * MINUTE
        span = Span(start=start, end=start + WEEK_MINUTES * MINUTE)
        total, bad = (
            np.concatenate([a[0], b[0]], axis=1) for a, b in ((quiet.total, week.total), (quiet.bad, week.bad))
        )
        episodes = _played(rule, total, bad, span, rng)
        if week.begins is None or not rule.signal.is_share:
            false += len(episodes)
            continue
        begun = start + int(week.begins[0]) * MINUTE
        over = begun + (scenario.incident.lasts if scenario.incident else timedelta())
        if rule.signal.kind is SignalKind.TRUE_RATE:  # known at the end of the week
            over = span.end + MINUTE
        seen = [episode for episode in episodes if begun <= episode.fired_at < over]
        false += len(episodes) - len(seen)
        again += max(len(seen) - 1, 0)
        delays.append(seen[0].fired_at - begun if seen else None)
    return Simulated(rule=rule, weeks=weeks, false_pages=false, delays=tuple(delays), pages_again=again)


def _played(rule: Rule, total: Ints, bad: Ints, span: Span, rng: np.random.Generator) -> list[Episode]:
    """The episodes in `span`, the end of the simulated minutes; both arrays have the shape (topics, minutes)."""
    labels = tuple(next(iter(rule.selector.get(label, ())), "simulated") for label in rule.by)
    match rule.signal.kind:
        case SignalKind.RANKS:
            begin = span.end - total.shape[1] * MINUTE
            answers = simulated_answers(rule.signal.name, total, bad, begin=begin, rng=rng)
            return rehearse_answers(rule, {labels: answers}, span)
        case SignalKind.TRUE_RATE:
            return rehearse_labelled(rule, [_labelled_week(total, bad, span, rng)], span)
    counts = np.stack([total.sum(axis=0), bad.sum(axis=0), bad.sum(axis=0)], axis=1).astype(np.float64)
    history = MinuteHistory(span.end - total.shape[1] * MINUTE, rule.by, {labels: counts})
    return rehearse(rule, history, span)


def _labelled_week(total: Ints, bad: Ints, span: Span, rng: np.random.Generator) -> LabelledRate:
    """`LABELS` answers of the span, drawn at random and labelled without error."""
    of_span = slice(-(span.length // MINUTE), None)
    share = bad[:, of_span].sum() / max(total[:, of_span].sum(), 1)
    positive = int(rng.binomial(LABELS, share))
    lower, upper = wilson(positive, LABELS)
    return LabelledRate(
        app="simulated",
        plan="simulated",
        since=span.start,
        until=span.end,
        labels=LABELS,
        estimate=positive / LABELS,
        lower=lower,
        upper=upper,
    )


def _lookback(rule: Rule) -> timedelta:
    """How far a rule looks back."""
    if rule.signal.kind is SignalKind.RANKS:
        return SIMULATED_PAST
    if rule.signal.kind is SignalKind.TRUE_RATE:
        return timedelta()
    if rule.method.target.is_learnt:
        return LEARNT_OVER + rule.method.window
    spans = rule.method.spans(_MONDAY, lateness=rule.lateness, until=None)
    return _MONDAY - min(span.start for span in spans)


def _pieces(span: Span) -> Iterator[Span]:
    start = span.start
    while start < span.end:
        yield Span(start=start, end=min(start + _PIECE, span.end))
        start += _PIECE


def _minutes(span: Span) -> Iterator[datetime]:
    return (span.start + MINUTE * number for number in range(span.length // MINUTE))
