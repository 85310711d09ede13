from __future__ import annotations

from datetime import timedelta

import numpy as np
import pytest

from monitor.alert.evaluation.answer_backtest import pieces, rehearse_answers, rehearse_labelled
from monitor.alert.labelled import LabelledRate
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.shift import Shift
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Span
from monitor.simulate.answers import simulated_answers
from tests.factories.alert.alerts import a_rule
from tests.factories.alert.counts import START

SCORE = Signal(kind=SignalKind.RANKS, name="score")
TRUE = Signal(kind=SignalKind.TRUE_RATE, name="refusal")
CHANGED = a_rule(signal=SCORE, method=Shift(), by=("app",), for_=timedelta())
HIGH = a_rule(signal=TRUE, method=Rate(above=0.1), by=("app",), for_=timedelta())
DAY = 24 * 60


def simulated(name="score", *, worse_from=None):
    """Five days of two answers a minute; 4 % bad, from the minute `worse_from` on 20 %."""
    rng = np.random.default_rng(1)
    total = np.full((1, 5 * DAY), 2)
    rate = np.where(np.arange(5 * DAY) < (worse_from or 5 * DAY), 0.04, 0.2)
    return simulated_answers(name, total, rng.binomial(total, rate), begin=START, rng=rng)


@pytest.mark.parametrize("name", ["score", "refusal"])
def test_a_change_is_found_and_its_past_is_learnt(name):
    span = Span(start=START + timedelta(days=3), end=START + timedelta(days=5))
    rule = a_rule(signal=Signal(kind=SignalKind.RANKS, name=name), method=Shift(), by=("app",), for_=timedelta())
    (episode,) = rehearse_answers(rule, {("shop",): simulated(name, worse_from=4 * DAY)}, span)
    assert episode.labels["app"] == "shop"
    assert timedelta(days=4) < episode.fired_at - START < timedelta(days=4, hours=4)
    assert episode.worst > 0.1


def test_weeks_without_a_change_page_nobody():
    assert rehearse_answers(CHANGED, {("shop",): simulated()}, Span(start=START, end=START + timedelta(days=5))) == []


def test_what_fired_before_the_span_is_left_out():
    span = Span(start=START + timedelta(days=4), end=START + timedelta(days=5))
    assert rehearse_answers(CHANGED, {("shop",): simulated(worse_from=2 * DAY)}, span) == []


def test_steps_without_answers_are_passed_over():
    at = np.array([0.0, 10.0, 70.0, 500.0])
    assert list(pieces(at, 60.0)) == [(0, 2), (2, 3), (3, 4)]
    assert list(pieces(np.array([]), 60.0)) == []


def labelled(week, lower, estimate, app="shop"):
    until = START + timedelta(weeks=week)
    return LabelledRate(
        app=app,
        plan=str(week),
        since=until - timedelta(weeks=1),
        until=until,
        labels=100,
        estimate=estimate,
        lower=lower,
        upper=0.5,
    )


def test_labelled_periods_fire_at_their_end_and_resolve_with_a_better_one():
    rates = [labelled(1, 0.02, 0.05), labelled(2, 0.12, 0.2), labelled(3, 0.08, 0.12), labelled(4, 0.0, 0.02)]
    span = Span(start=START, end=START + timedelta(weeks=6))
    (episode,) = rehearse_labelled(HIGH, [*rates, labelled(2, 0.0, 0.02, app="bank")], span)
    assert episode.fired_at == START + timedelta(weeks=2)
    assert episode.resolved_at == START + timedelta(weeks=4)
    assert episode.worst == 0.2


def test_the_last_labelled_period_counts_until_it_is_too_old():
    (episode,) = rehearse_labelled(HIGH, [labelled(1, 0.2, 0.3)], Span(start=START, end=START + timedelta(weeks=20)))
    assert timedelta(weeks=6) < episode.resolved_at - START < timedelta(weeks=6, hours=1)
