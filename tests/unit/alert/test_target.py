from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from math import sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.alert.target import HIGHEST, LOWEST, Baseline, HourSums, Target, learn, parse_target
from monitor.alert.window import Count
from monitor.core.figures.proportions import CONFIDENCE, wilson

NOW = datetime(2026, 3, 2, 12, tzinfo=UTC)
USUAL = Baseline(rate=0.04, lower=0.035, upper=0.046, samples=60_000, hours=672, learnt_at=NOW)


def hours(*pairs: tuple[int, int]) -> list[Count]:
    return [Count(total=n, sum=k, squares=k) for k, n in pairs]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        (0.06, Target(value=0.06)),
        (300, Target(value=300.0)),
        ("baseline", Target()),
        ("baseline + 1pp", Target(margin=0.01)),
        ("baseline+2.5 pp", Target(margin=0.025)),
        (" baseline - 0.5pp ", Target(margin=-0.005)),
        ("max(0.30, baseline + 15pp)", Target(margin=0.15, least=0.3)),
        ("max( .5 ,baseline)", Target(least=0.5)),
    ],
)
def test_targets_are_read_and_shown(text, target):
    assert parse_target(text) == target
    assert parse_target(str(target) if target.is_learnt else float(str(target))) == target


@pytest.mark.parametrize(
    "text",
    [
        "6 %",
        "base",
        "baseline + 1",
        "baseline + 100pp",
        "max(0.3, 0.4)",
        "max(30, baseline)",
        "",
        True,
        float("nan"),
        float("inf"),
    ],
)
def test_anything_else_is_no_target(text):
    with pytest.raises(ValueError, match="is not a target: write a number, baseline"):
        parse_target(text)


def test_a_bound_is_given_or_learnt():
    assert Target(value=0.06).bound(None) == Target(value=0.06).bound(USUAL) == 0.06
    assert Target(margin=0.01).bound(USUAL) == pytest.approx(0.056)
    assert Target(margin=0.01).bound(None) is None


def test_the_higher_of_a_fixed_line_and_the_usual_level_counts():
    higher = Target(margin=0.15, least=0.3)
    assert higher.bound(None) is None
    assert higher.bound(USUAL) == 0.3
    assert higher.bound(replace(USUAL, upper=0.28)) == pytest.approx(0.43)


def test_a_line_says_what_it_rests_on():
    assert Target(value=0.3).basis == "a fixed line"
    assert "(max(0.3, baseline + 15pp)), held until 24 hours" in Target(margin=0.15, least=0.3).basis


def test_a_learnt_bound_stays_within_reason():
    assert Target(margin=-0.2).bound(USUAL) == LOWEST
    assert Target(margin=0.5).bound(replace(USUAL, upper=0.9)) == HIGHEST


def test_hours_that_differ_by_chance_give_wilsons_interval():
    rng = np.random.default_rng(2)
    counts = hours(*((int(k), 100) for k in rng.binomial(100, 0.04, 500)))
    found = learn(HourSums.of({}, counts), NOW)
    assert found is not None
    assert (found.samples, found.hours, found.learnt_at) == (50_000, 500, NOW)
    lower, upper = wilson(round(found.rate * 50_000), 50_000)
    assert found.lower <= lower < found.rate < upper <= found.upper
    assert found.upper - found.lower == pytest.approx(upper - lower, rel=0.1)


def test_hours_that_differ_more_make_it_wider():
    """Half of the hours 0 %, half 8 %: by the estimator's formula, margin 1.96·√(m/(m−1)·m·4²)/(100·m)."""
    found = learn(HourSums.of({}, hours(*[(0, 100), (8, 100)] * 50)), NOW)
    assert found is not None
    assert found.rate == pytest.approx(0.04)
    assert found.upper - found.rate == pytest.approx(1.95996 * 0.04 / 99**0.5, rel=1e-4)
    assert found.lower == pytest.approx(0.04 - (found.upper - 0.04))


def test_a_past_without_bad_answers_is_learnt_with_wilsons_bound():
    found = learn(HourSums.of({}, hours(*[(0, 100)] * 48)), NOW)
    assert found is not None
    assert (found.rate, found.lower, found.upper) == (0.0, 0.0, wilson(0, 4800)[1])
    assert Target().bound(found) == LOWEST


@pytest.mark.parametrize("counts", [[], hours(*[(1, 100)] * 23), hours(*[(0, 8)] * 24), hours(*[(0, 0)] * 1000)])
def test_too_little_teaches_nothing(counts):
    assert learn(HourSums.of({}, counts), NOW) is None


def test_a_baseline_is_stored_as_json():
    assert Baseline.from_json(json.loads(json.dumps(USUAL.to_json()))) == USUAL
    with pytest.raises(ValueError, match="lacks 'rate'"):
        Baseline.from_json({})


busy = st.integers(0, 10**6).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(busy, min_size=24, max_size=100))
def test_from_sums_the_same_is_learnt_as_from_the_hours_themselves(pairs):
    found = learn(HourSums.of({}, hours(*pairs)), NOW)
    some = [(k, n) for k, n in pairs if n]
    samples = sum(n for _, n in some)
    if len(some) < 24 or samples < 200:
        assert found is None
        return
    rate = sum(k for k, _ in some) / samples
    residual = sum((k - rate * n) ** 2 for k, n in some)
    margin = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * sqrt(len(some) / (len(some) - 1) * residual) / samples
    lower, upper = wilson(sum(k for k, _ in some), samples)
    assert found is not None
    assert (found.rate, found.samples, found.hours) == (pytest.approx(rate), samples, len(some))
    assert found.lower == pytest.approx(max(min(lower, rate - margin), 0), abs=1e-6)
    assert found.upper == pytest.approx(min(max(upper, rate + margin), 1), abs=1e-6)
