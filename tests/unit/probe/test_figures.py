"""Figures of a run, against hand-worked cases and tables of Student's t."""

from __future__ import annotations

from math import inf

import pytest

from monitor.probe.figures import figures, mean, student_quantile
from monitor.probe.result import ItemState, Scored

ANY = (-inf, inf)


@pytest.mark.parametrize(("freedom", "t"), [(1, 12.706), (2, 4.303), (10, 2.228), (100, 1.984)])
def test_quantiles_are_those_of_the_tables(freedom: int, t: float) -> None:
    assert student_quantile(freedom) == pytest.approx(t, abs=5e-4)


def test_a_mean_has_students_interval() -> None:
    found = mean([1.0, 2.0, 3.0], ANY)  # s = 1, t = 4.303 at 2 degrees of freedom: 2 ± 4.303 / √3
    assert (found.mean, found.count) == (2.0, 3)
    assert (found.lower, found.upper) == (pytest.approx(-0.484, abs=1e-3), pytest.approx(4.484, abs=1e-3))


def test_one_value_has_no_interval_and_none_has_no_mean() -> None:
    assert (mean([4.0], ANY).mean, mean([4.0], ANY).lower) == (4.0, None)
    assert (mean([], ANY).mean, mean([], ANY).count) == (None, 0)


def test_answers_that_are_not_sure_stay_out_of_means() -> None:
    def one(state: ItemState, score: float | None) -> Scored:
        return Scored(item="q", state=state, correctness=score, wscore=score, lscore=1, mscore=score)

    states = ItemState.GRADED, ItemState.GRADED, ItemState.UNSURE, ItemState.FAILED, ItemState.UNGRADED
    found = figures([one(state, score) for state, score in zip(states, (5.0, 3.0, 0.0, None, None), strict=True)])
    assert (found.correctness.mean, found.correctness.count) == (4.0, 2)
    assert (found.unsure.mean, found.unsure.count) == (pytest.approx(1 / 3), 3)
    assert found.to_json()["states"] == {"graded": 2, "unsure": 1, "failed": 1, "ungraded": 1}


def test_an_interval_stays_on_the_scale_of_its_score() -> None:
    scores = [
        Scored(item=str(n), state=ItemState.GRADED, correctness=one, wscore=one, lscore=1, mscore=one)
        for n, one in enumerate([5.0] * 9 + [1.0])
    ]
    found = figures(scores)
    assert (found.correctness.mean, found.correctness.upper) == (4.6, 5.0)
    assert found.correctness.lower == pytest.approx(3.695, abs=1e-3)
