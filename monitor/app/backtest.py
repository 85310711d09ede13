"""Tries alert rules on stored answers or on simulated traffic before they go live."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from monitor.alert.evaluation.backtest import Episode, MinuteHistory, rehearse
from monitor.alert.ports import SignalReader
from monitor.alert.rule import Rule
from monitor.alert.signal import SignalKind
from monitor.alert.target import LEARNT_OVER
from monitor.alert.window import MINUTE, Span
from monitor.simulate.minute_counts import WEEK_MINUTES, RateScenario, minute_counts

_PIECE = timedelta(days=1)  # of minutes that one query reads
_MONDAY = datetime(2026, 1, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rehearsed:
    """What a rule would have done, or why that is unknown."""

    rule: Rule
    episodes: tuple[Episode, ...] = ()
    answers: int = 0
    since: datetime | None = None  # time of the first answer in the span; None without answers
    why_not: str | None = None


def on_history(rule: Rule, counting: SignalReader, span: Span) -> Rehearsed:
    """The episodes in which `rule` would have fired on the answers stored in `span`.

    Raises:
        Retriable: the store is out of reach.
    """
    if rule.signal.is_momentary:
        return Rehearsed(rule=rule, why_not="its signal is a current state without a history")
    begin = span.start - _lookback(rule)
    minutes = (span.end - begin) // MINUTE
    found: dict[tuple[str, ...], NDArray[np.float64]] = {}
    for piece in _pieces(Span(start=begin, end=span.end)):
        spans = [Span(start=at, end=at + MINUTE) for at in _minutes(piece)]
        offset = (piece.start - begin) // MINUTE
        for counts in counting.counts(rule.signal, rule.selector, rule.by, spans):
            values = tuple(counts.labels[label] for label in rule.by)
            rows = found.setdefault(values, np.zeros((minutes, 3)))
            rows[offset : offset + len(spans)] = [(c.total, c.sum, c.squares) for c in counts.counts]
    history = MinuteHistory(begin, rule.by, found)
    length = span.length // MINUTE
    totals = [rows[-length:, 0] for rows in found.values()]
    answers = sum(int(total.sum()) for total in totals)
    first = min((int(total.argmax()) for total in totals if total.any()), default=None)
    since = None if first is None else span.start + first * MINUTE
    return Rehearsed(rule=rule, episodes=tuple(rehearse(rule, history, span)), answers=answers, since=since)


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
    if not (rule.signal.is_share or rule.signal.kind is SignalKind.NO_DATA):
        return Simulated(rule=rule, weeks=weeks, why_not=f"{rule.signal} is not simulated")
    rng = np.random.default_rng(seed)
    before = -(-_lookback(rule) // timedelta(days=7)) * WEEK_MINUTES
    labels = tuple(next(iter(rule.selector.get(label, ())), "simulated") for label in rule.by)
    false, again = 0, 0
    delays: list[timedelta | None] = []
    for _ in range(weeks):
        quiet = minute_counts(replace(scenario, incident=None), weeks=1, rng=rng, minutes=before)
        week = minute_counts(scenario, weeks=1, rng=rng)
        total, bad = (
            np.concatenate([a[0], b[0]]) for a, b in zip(quiet.of_all_topics, week.of_all_topics, strict=True)
        )
        history = MinuteHistory(_MONDAY, rule.by, {labels: np.stack([total, bad, bad], axis=1).astype(np.float64)})
        start = _MONDAY + before * MINUTE
        episodes = rehearse(rule, history, Span(start=start, end=start + WEEK_MINUTES * MINUTE))
        if week.begins is None or not rule.signal.is_share:
            false += len(episodes)
            continue
        begun = start + int(week.begins[0]) * MINUTE
        over = begun + (scenario.incident.lasts if scenario.incident else timedelta())
        seen = [episode for episode in episodes if begun <= episode.fired_at < over]
        false += len(episodes) - len(seen)
        again += max(len(seen) - 1, 0)
        delays.append(seen[0].fired_at - begun if seen else None)
    return Simulated(rule=rule, weeks=weeks, false_pages=false, delays=tuple(delays), pages_again=again)


def _lookback(rule: Rule) -> timedelta:
    """How far a rule looks back."""
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
