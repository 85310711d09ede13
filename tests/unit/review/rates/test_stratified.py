"""The interval of a rate from strata: against Wilson's, by hand, and over all outcomes of small frames."""

from __future__ import annotations

from itertools import product
from math import comb, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.figures.proportions import wilson
from monitor.review.rates.stratified import Stratum, estimate, interval

Z = 1.959963984540054
MANY = 10**12  # answers without number


def stratum(positive, labels, answers=MANY):
    return Stratum(answers=answers, labels=labels, positive=positive)


@pytest.mark.parametrize(("positive", "labels"), [(0, 20), (1, 30), (7, 50), (50, 50), (3.5, 40)])
def test_one_large_stratum_has_wilsons_upper_bound_and_a_lower_one_with_room_for_skewness(positive, labels):
    (lower, upper), (wilsons_lower, wilsons_upper) = interval([stratum(positive, labels)]), wilson(positive, labels)
    assert upper == pytest.approx(wilsons_upper, abs=1e-6)
    if positive in {0, labels}:
        assert lower == pytest.approx(wilsons_lower, abs=1e-6)
    else:
        skewness = (1 - 2 * lower) / sqrt(labels * lower * (1 - lower))
        deviation = (positive / labels - lower) / sqrt(lower * (1 - lower) / labels)
        assert deviation == pytest.approx(Z + (Z * Z - 1) / 6 * skewness, rel=1e-6)
        assert lower < wilsons_lower


def test_two_strata_by_hand():
    """docs/quality/rates.md works it out: 1,000 answers, of which 100 score highest; 4 of 10 and 1 of 20 labels."""
    strata = [stratum(4, 10, 100), stratum(1, 20, 900)]
    assert estimate(strata) == pytest.approx(0.1 * 0.4 + 0.9 * 0.05)
    lower, upper = interval(strata)
    for theta in (lower, upper):  # the interval ends where the deviation is so many standard errors of the fitted rates
        low, high = 0.0, 1.0
        for _ in range(100):  # the rates under the constraint that are likeliest, by search on the first
            first = [low + (high - low) / 3, high - (high - low) / 3]
            likely = [_log_likelihood(strata, p, theta) for p in first]
            low, high = (first[0], high) if likely[0] < likely[1] else (low, first[1])
        second = (theta - 0.1 * low) / 0.9
        n = [10 / (1 - 10 / 100), 20 / (1 - 20 / 900)]
        variance = 0.01 * low * (1 - low) / n[0] + 0.81 * second * (1 - second) / n[1]
        third = 0.001 * low * (1 - low) * (1 - 2 * low) / n[0] ** 2 * (80 / 90)
        third += 0.729 * second * (1 - second) * (1 - 2 * second) / n[1] ** 2 * (860 / 880)
        most = Z + (Z * Z - 1) / 6 * third / variance**1.5 if theta < 0.085 else Z
        assert abs(0.085 - theta) == pytest.approx(most * variance**0.5, rel=1e-3)
    assert (lower, upper) == pytest.approx((0.0286, 0.2516), abs=5e-5)


def _log_likelihood(strata, first, theta):
    second = (theta - 0.1 * first) / 0.9
    if not 0 < first < 1 or not 0 < second < 1:
        return -1e9
    return sum(
        s.positive / s.labels * s.effective * log(p) + (1 - s.positive / s.labels) * s.effective * log(1 - p)
        for s, p in zip(strata, (first, second), strict=True)
    )


def test_a_frame_that_is_labelled_to_the_end_leaves_no_doubt():
    strata = [stratum(3, 10, 10), stratum(1, 30, 30)]
    assert interval(strata) == (pytest.approx(0.1), pytest.approx(0.1))
    assert estimate(strata) == pytest.approx(0.1)


def test_a_stratum_without_labels_may_have_any_rate():
    labelled = [stratum(0, 20, 500), stratum(0, 0, 500)]
    assert estimate(labelled) is None
    lower, upper = interval(labelled)
    assert lower == 0.0
    assert upper > 0.5
    assert interval([stratum(0, 0, 5)]) == (0.0, 1.0)
    assert interval([]) == (0.0, 1.0)
    assert estimate([]) is None


STRATA = st.lists(
    st.tuples(st.integers(1, 60), st.floats(0, 1), st.integers(0, 5_000)).map(
        lambda drawn: stratum(round(drawn[0] * drawn[1]), drawn[0], drawn[0] + drawn[2])
    ),
    min_size=1,
    max_size=6,
)


@given(STRATA, st.data())
def test_more_positive_labels_never_lower_a_bound(strata, data):
    place = data.draw(st.integers(0, len(strata) - 1))
    one = strata[place]
    if one.positive == one.labels:
        return
    more = [*strata[:place], stratum(one.positive + 1, one.labels, one.answers), *strata[place + 1 :]]
    (lower, upper), (lower_more, upper_more) = interval(strata), interval(more)
    assert 0 <= lower <= upper <= 1
    assert lower <= estimate(strata) + 1e-9
    assert upper >= estimate(strata) - 1e-9
    assert lower_more >= lower - 1e-9
    assert upper_more >= upper - 1e-9


def test_it_holds_the_true_rate_in_about_95_of_100_draws():
    """Exactly, over every outcome of two strata of 60 and 240 answers with 12 and 18 labels."""
    covered, missed_below = [], []
    for bad in ((30, 2), (20, 8), (6, 24), (54, 0)):  # bad answers in each stratum: scores that tell much or nothing
        truth = sum(bad) / 300
        total = below = 0.0
        for x in product(range(13), range(19)):
            chance = _hypergeometric(x[0], 12, bad[0], 60) * _hypergeometric(x[1], 18, bad[1], 240)
            lower, upper = interval([stratum(x[0], 12, 60), stratum(x[1], 18, 240)])
            total += chance * (lower - 1e-9 <= truth <= upper + 1e-9)
            below += chance * (lower - 1e-9 > truth)
        covered.append(total)
        missed_below.append(below)
    assert min(covered) > 0.945
    assert max(missed_below) < 0.035


def _hypergeometric(x, labels, bad, answers):
    return comb(bad, x) * comb(answers - bad, labels - x) / comb(answers, labels)


@given(STRATA)
def test_what_is_said_of_bad_answers_says_the_same_of_good_ones(strata):
    good = [stratum(s.labels - s.positive, s.labels, s.answers) for s in strata]
    (lower, upper), (lower_good, upper_good) = interval(strata), interval(good)
    assert (lower_good, upper_good) == pytest.approx((1 - upper, 1 - lower), abs=1e-6)
