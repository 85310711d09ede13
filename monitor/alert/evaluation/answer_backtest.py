"""Replays rules that judge single answers, or labelled periods, on the past."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from monitor.alert.answers import AnswerBatch, Floats
from monitor.alert.evaluation.backtest import Episode, episode_of
from monitor.alert.labelled import LabelledRate
from monitor.alert.methods.method import Memory
from monitor.alert.methods.rate import Rate
from monitor.alert.rule import Rule
from monitor.alert.state import Alert, State, transition
from monitor.alert.window import Count, Counts, Observation, Span

STEP = timedelta(minutes=15)  # between two looks


def rehearse_answers(
    rule: Rule, sources: Mapping[tuple[str, ...], AnswerBatch], span: Span, *, step: timedelta = STEP
) -> list[Episode]:
    """The episodes that begin in `span`, in order of firing; each answer counts at its time, earlier ones are learnt.

    `sources` are the answers by the values of the rule's `by` labels.
    """
    found: list[Episode] = []
    for source, answers in sources.items():
        labels: dict[str, str] = dict(zip(rule.by, source, strict=True))
        found += _episodes(rule, _looks(rule, labels, answers, step))
    return sorted((e for e in found if span.start <= e.fired_at <= span.end), key=lambda episode: episode.fired_at)


def rehearse_labelled(rule: Rule, rates: Sequence[LabelledRate], span: Span) -> list[Episode]:
    """The episodes that begin in `span`, as if each period had been labelled at its end, in order of firing.

    `rates` are in the order in which their periods ended.
    """
    apps = rule.selector.get("app", ())
    by_app: dict[str, list[LabelledRate]] = {}
    for rate in rates:
        if not apps or rate.app in apps:
            by_app.setdefault(rate.app if rule.by else "", []).append(rate)
    found: list[Episode] = []
    for app, of_app in by_app.items():
        found += _episodes(rule, _periods(rule, dict.fromkeys(rule.by, app), of_app, span.end))
    return sorted((e for e in found if span.start <= e.fired_at <= span.end), key=lambda episode: episode.fired_at)


def _looks(
    rule: Rule, labels: Mapping[str, str], answers: AnswerBatch, step: timedelta
) -> Iterator[tuple[datetime, Observation]]:
    """What the rule observes at each look that brings answers."""
    memory: Memory | None = None
    every = step.total_seconds()
    for start, end in pieces(answers.at, every):
        part = answers.part(start, end)
        now = datetime.fromtimestamp((answers.at[end - 1] // every + 1) * every, UTC)
        counts = Counts(labels=labels, counts=(Count(total=len(part)),), answers=part)
        observation, memory = rule.method.observe(
            counts, signal=rule.signal, bound=rule.method.target.bound(None) or 0.0, memory=memory, now=now
        )
        yield now, observation


def pieces(at: Floats, every: float) -> Iterator[tuple[int, int]]:
    """The first row and the row after the last of each step that has rows; `at` rises, in seconds."""
    if not len(at):
        return
    steps = at // every
    edges = np.concatenate([[0], np.flatnonzero(np.diff(steps)) + 1, [len(at)]])
    yield from zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)


def _periods(
    rule: Rule, labels: Mapping[str, str], rates: Sequence[LabelledRate], end: datetime
) -> Iterator[tuple[datetime, Observation]]:
    """What the rule observes at the end of each period, and once the last one is too old."""
    looks = [(rate.until, rate) for rate in rates]
    if isinstance(rule.method, Rate):
        looks.append((min(rates[-1].until + rule.method.max_age + STEP, end), rates[-1]))
    for now, rate in looks:
        counts = Counts(labels=labels, counts=(Count(total=rate.labels),), labelled=rate)
        observation, _ = rule.method.observe(
            counts, signal=rule.signal, bound=rule.method.target.bound(None) or 0.0, memory=None, now=now
        )
        yield now, observation


def _episodes(rule: Rule, looks: Iterator[tuple[datetime, Observation]]) -> list[Episode]:
    alert: Alert | None = None
    episodes: dict[str, Episode] = {}
    for now, observation in looks:
        change = transition(rule, alert, observation, now)
        if change is not None:
            alert = change.alert
            if alert.fired_at is not None and alert.state is not State.INACTIVE:
                episodes[alert.episode] = episode_of(alert, episodes.get(alert.episode), rule)
    return list(episodes.values())
