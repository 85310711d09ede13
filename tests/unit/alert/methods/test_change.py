from __future__ import annotations

from datetime import timedelta
from math import comb

import numpy as np
import pytest

from monitor.alert.methods.change import Change
from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.proportion_change import compare, student_tail
from monitor.alert.window import Count, Outcome
from monitor.core.figures.proportions import Share, greater
from tests.factories.alert.counts import START, observe, share

EVEN = [share(40, 1000)] * 12
UNEVEN = [share(k, 1000) for k in (10, 70, 40, 15, 80, 30, 90, 5, 40, 20, 60, 20)]


# Quantiles as every table of Student's t has them.
@pytest.mark.parametrize(
    ("t", "freedom", "chance"),
    [(12.706, 1, 0.025), (4.303, 2, 0.025), (10.215, 3, 0.001), (4.025, 11, 0.001), (1.372, 10, 0.1), (0.0, 5, 0.5)],
)
def test_students_tail(t, freedom, chance):
    assert student_tail(t, freedom) == pytest.approx(chance, rel=2e-3)
    assert student_tail(-t, freedom) == pytest.approx(1 - chance, rel=2e-3)


def test_a_clear_rise_breaches_and_says_what_is_usual():
    seen = observe(Change(), share(80, 1000), *EVEN)
    assert seen.outcome is Outcome.BREACHING
    assert (seen.value, seen.bound) == (0.08, pytest.approx(0.06))
    assert seen.detail is not None
    assert seen.detail.startswith(
        "4.0 % at the same hours of earlier weeks; chance alone would show this in one look of 20,000"
    )


def test_weeks_that_differ_by_themselves_ask_for_more():
    assert observe(Change(), share(80, 1000), *UNEVEN).outcome is Outcome.UNSURE
    even, uneven = (compare(share(80, 1000), past) for past in (EVEN, UNEVEN))
    assert even.usual == uneven.usual == pytest.approx(0.04)
    assert even.chance < 0.0001
    assert uneven.chance > 0.02


def test_few_bad_answers_of_few_breach_no_more_often_than_promised():
    """Of 13 alike windows of 30 at 1 %: the t test alone is below .001 in .0021 of them."""
    found = [
        compare(share(int(bad[0]), 30), [share(int(k), 30) for k in bad[1:]]).chance
        for bad in np.random.default_rng(7).binomial(30, 0.01, (20_000, 13))
    ]
    assert np.mean(np.array(found) < 0.001) <= 0.001
    few = compare(share(3, 30), [share(1, 30)] * 4 + [share(0, 30)] * 8)
    exact = sum(comb(7, k) * comb(383, 30 - k) for k in range(3, 8)) / comb(390, 30)
    assert few.chance == pytest.approx(exact)


def test_a_rise_too_small_to_matter_or_a_fall_is_normal():
    assert observe(Change(), share(5_500, 100_000), *[share(4_000, 100_000)] * 12).outcome is Outcome.NORMAL
    assert observe(Change(at_least=0.0), share(10, 1000), *EVEN).outcome is Outcome.NORMAL


def test_it_is_unsure_without_two_weeks_of_enough_answers():
    one_week = [*EVEN[:3], *[share(3, 9)] * 9]
    seen = observe(Change(), share(80, 1000), *one_week)
    assert (seen.outcome, seen.detail) == (
        Outcome.UNSURE,
        "only 1 of the last 4 weeks, too few, have enough answers at these hours",
    )
    assert observe(Change(), share(29, 29), *EVEN).outcome is Outcome.UNSURE
    assert observe(Change(), Count(), *EVEN).outcome is Outcome.NO_DATA


def test_a_past_without_any_bad_answer_compares_too():
    assert observe(Change(), share(80, 1000), *[share(0, 1000)] * 12).outcome is Outcome.BREACHING
    assert observe(Change(), share(0, 1000), *[share(0, 1000)] * 12).outcome is Outcome.NORMAL


def test_it_counts_the_same_hours_of_past_weeks_with_their_neighbours():
    now, *past = Change(weeks=2).spans(START, lateness=timedelta(), until=None)
    assert (now.start, now.end) == (START - timedelta(hours=1), START)
    hours = [(now.start - span.start) / timedelta(hours=1) for span in past]
    assert hours == [169, 168, 167, 337, 336, 335]
    assert {span.length for span in past} == {timedelta(hours=1)}


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"weeks": 1}, "weeks"),
        ({"weeks": 1_000_000_000}, "weeks"),
        ({"alpha": 0.0}, "alpha"),
        ({"at_least": 2.0}, "at_least"),
        ({"min_samples": 0}, "min_samples"),
        ({"window": timedelta(0)}, "window"),
    ],
)
def test_wrong_parameters(given, field):
    with pytest.raises(WrongParameter) as error:
        Change(**given)
    assert error.value.field == field


@pytest.mark.parametrize("usual", [0.04, 0.96])
def test_of_many_answers_the_exact_test_would_say_no_more(usual):
    past = [Count(total=50_000, sum=50_000 * usual) for _ in range(6)]
    for more in range(0, 1_500, 100):
        current = Count(total=50_000, sum=50_000 * usual + more)
        exact = greater(
            Share(matching=round(current.sum), total=current.total),
            Share(matching=round(6 * past[0].sum), total=300_000),
        )
        assert more == 0 or compare(current, past).chance >= exact
    assert compare(Count(total=10**9, sum=5e7), [Count(total=10**9, sum=4e7)] * 2).chance < 0.01
