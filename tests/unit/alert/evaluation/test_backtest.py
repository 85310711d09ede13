from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.evaluation.backtest import MinuteHistory, rehearse
from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.methods.sequential import Sequential
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.state import State
from monitor.alert.target import parse_target
from monitor.alert.window import Count, Span
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import NEGATIVE, a_method, a_rule
from tests.factories.alert.notifications import NOON, at

LENGTH = 40
APPS = ("shop", "bank")


def counted(seed: int, length: int = LENGTH, low: float = 0.0) -> tuple[MinuteHistory, MemoryAlertStore]:
    """The same random answers in a history and in a store; some minutes are empty."""
    dice = np.random.default_rng(seed)
    store, by_app = MemoryAlertStore(), {}
    for app in APPS:
        totals = dice.integers(0, 20, length) * (dice.random(length) > 0.3)
        bad = dice.binomial(totals, np.clip(dice.normal(0.3, 0.2, length), low, 1))
        for minute, (total, matching) in enumerate(zip(totals, bad, strict=True)):
            if total:
                store.count(at(minute), {"app": app}, int(total), negative=int(matching))
        by_app[app,] = np.column_stack([totals, bad, bad]).astype(float)
    return MinuteHistory(NOON, ("app",), by_app), store


@given(
    st.integers(0, 2**32),
    st.lists(st.tuples(st.integers(-9, LENGTH + 9), st.integers(1, 30)), min_size=1, max_size=5),
    st.sampled_from([{}, {"app": ("shop",)}, {"app": ("shop", "bank")}, {"app": ("nobody",)}, {"app": ()}]),
)
def test_it_counts_as_a_store_does(seed, pieces, selector):
    history, store = counted(seed)
    spans = [Span(start=at(start), end=at(start + length)) for start, length in pieces]
    found, expected = (its.counts(NEGATIVE, selector, ("app",), spans) for its in (history, store))
    assert sorted(found, key=lambda c: c.labels["app"]) == expected


def test_without_labels_there_is_always_one_count():
    history = MinuteHistory(NOON, (), {(): np.zeros((5, 3))})
    (found,) = history.counts(NEGATIVE, {}, (), [Span(start=at(0), end=at(5))])
    assert (found.labels, found.counts) == ({}, (Count(),))


def test_it_answers_only_for_the_labels_it_was_counted_by():
    with pytest.raises(ValueError, match="counted by"):
        counted(1)[0].counts(NEGATIVE, {}, ("topic",), [])


RULES = {
    "at once": a_rule(for_=timedelta()),
    "patient": a_rule(for_=timedelta(minutes=2), keep_firing_for=timedelta(minutes=3), no_data="no_data"),
    "late": a_rule(for_=timedelta(), lateness=timedelta(minutes=1), method=a_method(confident=True)),
    "sequential": a_rule(method=Sequential(target=parse_target(0.25), false_alarm_every=timedelta(days=1))),
}


@given(st.integers(0, 2**32), st.sampled_from(list(RULES)))
def test_it_fires_when_the_evaluation_would_step_by_step(seed, name):
    rule = RULES[name]
    history, store = counted(seed)
    for minute in range(LENGTH + 10):
        evaluate([rule], store, at(minute), ("memory",))
    fired = {}
    for change in store.history:
        if change.alert.state.active or change.alert.state is State.RESOLVED:
            fired[change.alert.episode] = change.alert
    found = rehearse(rule, history, Span(start=at(0), end=at(LENGTH + 9)))
    assert sorted((e.labels["app"], e.fired_at, e.resolved_at) for e in found if e.resolved_at) == sorted(
        (a.labels["app"], a.fired_at, a.resolved_at) for a in fired.values() if a.state is State.RESOLVED
    )
    assert len(found) == len(fired)
    assert [episode.fired_at for episode in found] == sorted(episode.fired_at for episode in found)


def test_an_episode_tells_the_worst_of_it():
    totals = np.full(30, 100.0)
    bad = np.array([0] * 10 + [40, 80, 50] + [0] * 17, dtype=float)
    history = MinuteHistory(NOON, ("app",), {("shop",): np.column_stack([totals, bad, bad])})
    rule = a_rule(for_=timedelta(), method=a_method(window=timedelta(minutes=1)))
    (episode,) = rehearse(rule, history, Span(start=at(0), end=at(29)))
    assert (episode.fired_at, episode.resolved_at, episode.worst) == (at(11), at(14), 0.8)


def test_a_rule_that_fires_below_its_line_reports_the_lowest_value():
    means = np.array([0.9] * 10 + [0.4, 0.2, 0.3] + [0.9] * 7)
    history = MinuteHistory(
        NOON, ("app",), {("shop",): np.column_stack([np.full(20, 100.0), 100 * means, 100 * means**2])}
    )
    method = a_method(above=None, below=0.5, window=timedelta(minutes=1))
    rule = a_rule(signal=Signal(kind=SignalKind.MEAN, name="sda"), for_=timedelta(), method=method)
    (episode,) = rehearse(rule, history, Span(start=at(0), end=at(19)))
    assert episode.worst == pytest.approx(0.2)


def test_what_still_fires_at_the_end_has_none():
    history = MinuteHistory(NOON, ("app",), {("shop",): np.full((10, 3), 50.0)})
    (episode,) = rehearse(a_rule(), history, Span(start=at(1), end=at(9)))
    assert (episode.fired_at, episode.resolved_at) == (at(3), None)


def test_a_state_of_now_leaves_nothing_to_rehearse():
    history = MinuteHistory(NOON, ("source",), {})
    rule = a_rule(signal=Signal(kind=SignalKind.LAG), by=("source",), method=a_method(above=parse_target(300)))
    assert rehearse(rule, history, Span(start=at(0), end=at(9))) == []


@given(st.integers(0, 2**32), st.sampled_from([{}, {"app": ("bank",)}, {"app": ("nobody",)}]))
def test_it_adds_up_hours_as_a_store_does(seed, selector):
    history, store = counted(seed, length=200)
    span = Span(start=at(-60), end=at(240))
    found, expected = (its.hour_sums(NEGATIVE, selector, ("app",), span) for its in (history, store))
    assert sorted(found, key=lambda sums: sums.labels["app"]) == expected
