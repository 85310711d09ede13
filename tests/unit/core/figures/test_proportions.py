"""Tests and decompositions against figures worked out by hand."""

from __future__ import annotations

import tracemalloc
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.figures.proportions import Share, adjusted, greater, greater_in_strata, split_rise, two_sided


def share(matching, total):
    return Share(matching=matching, total=total)


def test_fishers_lady_tasting_tea():
    """Three of four cups right, of eight with four: 17/70; all four: 1/70 (Fisher, The Design of Experiments, 1935)."""
    assert greater(share(3, 4), share(1, 4)) == pytest.approx(17 / 70)
    assert greater(share(4, 4), share(0, 4)) == pytest.approx(1 / 70)


def test_many_answers_take_no_memory():
    tracemalloc.start()
    found = greater(share(30, 10**6), share(100, 10**7))
    assert tracemalloc.get_traced_memory()[1] < 2**24
    tracemalloc.stop()
    # 130 bad answers, each in the part with the chance 1/11: P(X >= 30)
    expected = sum(comb(130, k) * (1 / 11) ** k * (10 / 11) ** (130 - k) for k in range(30, 131))
    assert found == pytest.approx(expected, rel=1e-3)


def test_no_higher_rate_is_no_evidence():
    assert greater(share(1, 10), share(10, 100)) == 1.0
    assert greater(share(5, 10), share(0, 0)) == 1.0


COUNTS = st.tuples(st.integers(1, 60), st.floats(0, 1)).map(lambda drawn: share(round(drawn[0] * drawn[1]), drawn[0]))


@given(COUNTS, COUNTS)
def test_a_p_value_is_one(part, rest):
    assert 0 < greater(part, rest) <= 1


def test_the_level_is_held_for_rare_answers():
    rng = np.random.default_rng(3)
    drawn = [(share(int(a), 12), share(int(b), 400)) for a, b in rng.binomial([12, 400], 0.04, size=(2_000, 2))]
    assert np.mean([greater(part, rest) <= 0.05 for part, rest in drawn]) <= 0.05


@given(COUNTS, COUNTS)
def test_one_stratum_is_tested_as_fisher_does(part, rest):
    if part.rate > rest.rate:
        assert greater_in_strata([(part, rest)]) == pytest.approx(greater(part, rest), rel=1e-6)


def test_strata_are_tested_together():
    """Two ladies: of the 70² ways 1 has eight right cups, 2 · 16 have seven."""
    ladies = [(share(4, 4), share(0, 4)), (share(3, 4), share(1, 4))]
    assert greater_in_strata(ladies) == pytest.approx((1 + 2 * 16) / 70**2)


def test_another_mix_of_strata_is_no_rise():
    hard, easy = (share(45, 90), share(50, 100)), (share(1, 10), share(90, 900))
    assert greater(hard[0], hard[1] - share(0, 0)) == 1.0
    assert greater(share(46, 100), share(140, 1_000)) < 1e-9
    assert greater_in_strata([hard, easy]) > 0.3
    assert greater_in_strata([]) == 1.0


def test_a_test_looks_at_both_sides():
    # the lady tasting tea: 3 of 4 against 1 of 4, one-sided 17/70
    assert two_sided(share(3, 4), share(1, 4)) == pytest.approx(34 / 70)
    assert two_sided(share(1, 4), share(3, 4)) == two_sided(share(3, 4), share(1, 4))
    assert two_sided(share(2, 4), share(2, 4)) == 1.0


def test_large_counts_need_no_exact_test():
    one, other = share(5_200, 20_000), share(5_000, 20_000)
    exact = 2 * greater(one, other)
    assert two_sided(one, other) == pytest.approx(exact, rel=0.01)
    huge = share(10**8, 10**9)
    assert two_sided(huge, huge) == 1.0


def test_adjusted_as_in_the_paper():
    """Benjamini and Hochberg's own example: of these 15, four are discoveries at 5 %, where Bonferroni gives three."""
    p = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459]
    p += [0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0]
    q = adjusted(p)
    assert list(q <= 0.05) == [True] * 4 + [False] * 11
    assert q[3] == pytest.approx(0.0095 * 15 / 4)
    assert list(adjusted(p[::-1])) == list(q[::-1])


def test_adjusting_nothing_gives_nothing():
    assert list(adjusted([])) == []


def test_a_rise_comes_apart_into_rates_mix_and_new_groups():
    assert split_rise([share(20, 50), share(5, 50)], [share(10, 50), share(5, 50)]) == pytest.approx((0, 0.1, 0))
    assert split_rise([share(30, 75), share(0, 25)], [share(10, 25), share(0, 75)]) == pytest.approx((0, 0, 0.2))
    assert split_rise([share(30, 50), share(5, 50)], [share(0, 0), share(10, 100)]) == pytest.approx((0.25, 0, 0))


GROUPS = st.lists(
    st.tuples(st.integers(0, 50), st.floats(0, 1)).map(lambda drawn: share(round(drawn[0] * drawn[1]), drawn[0])),
    min_size=3,
    max_size=3,
)


@given(GROUPS, GROUPS)
def test_the_parts_add_up_to_the_rise(now, before):
    totals = [(sum(s.matching for s in side), sum(s.total for s in side)) for side in (now, before)]
    rise = totals[0][0] / totals[0][1] - totals[1][0] / totals[1][1] if all(total for _, total in totals) else 0
    assert sum(split_rise(now, before)) == pytest.approx(rise)
