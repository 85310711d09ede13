"""Whether the difference between two ways of finding contexts is real."""

from __future__ import annotations

import random

import pytest

from monitor.probe.agreement.coefficients import agreement
from monitor.probe.agreement.difference import FEWEST, Paired, difference


def noisy(rng, human, size):
    return min(5, max(1, human + rng.choice((-size, 0, size))))


def pairs(*, before, after, count=60, seed=7):
    rng = random.Random(seed)
    people = [rng.randint(1, 5) for _ in range(count)]
    return [Paired(f"q{n}", noisy(rng, h, before), noisy(rng, h, after), h) for n, h in enumerate(people)]


def test_the_values_are_those_of_the_coefficients():
    given = pairs(before=2, after=1)
    human = [one.human for one in given]
    first, second = (agreement([one[place] for one in given], human) for place in (1, 2))
    found = difference(given)
    assert found.answers == 60
    for name in ("pearson", "kappa", "bias"):
        assert found.changes[name].value == pytest.approx(getattr(second, name) - getattr(first, name))


def test_a_judge_with_less_noise_is_shown_to_agree_better():
    found = difference(pairs(before=3, after=1)).changes
    assert found["pearson"].is_shown
    assert found["kappa"].is_shown
    assert found["pearson"].interval.low > 0


def test_none_is_shown_where_there_is_none():
    shown = [difference(pairs(before=1, after=1, seed=seed)).changes["pearson"].is_shown for seed in range(40)]
    assert sum(shown) <= 6


def test_the_same_scores_differ_by_nothing():
    found = difference([Paired(f"q{n}", n % 5, n % 5, n % 3) for n in range(30)]).changes
    for one in found.values():
        assert (one.value, tuple(one.interval), one.is_shown) == (0.0, (0.0, 0.0), False)


def test_answers_to_one_question_are_no_independent_evidence():
    given = pairs(before=3, after=1)
    few = [one._replace(question=f"q{n % (FEWEST - 1)}") for n, one in enumerate(given)]
    found = difference(few).changes["pearson"]
    assert (found.interval, found.is_shown) == (None, False)
    assert "fewer than 10 different questions" in found.reason
    wide, narrow = (difference(one).changes["bias"].interval for one in (given + given + given, given))
    assert wide.high - wide.low == pytest.approx(narrow.high - narrow.low, rel=0.2)


def test_what_is_undefined_has_a_reason():
    for given in ([], [Paired(f"q{n}", 3, n % 5, n % 3) for n in range(30)]):
        found = difference(given).changes["pearson"]
        assert (found.value, found.interval) == (None, None)
        assert "undefined" in found.reason
