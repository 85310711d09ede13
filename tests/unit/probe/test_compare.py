"""Two runs compared question by question."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from monitor.probe.compare import compare
from monitor.probe.result import ItemState, Scored

ANSWERS, TRIALS, NOISE = 200, 100, 1.0


def scored(item: str, correctness: float | None, state: ItemState = ItemState.GRADED) -> Scored:
    return Scored(item=item, state=state, correctness=correctness, wscore=correctness, lscore=1, mscore=correctness)


def judged_twice(fall: float, seed: int) -> str:
    """The outcome for 200 answers judged twice with noise of 1 point, the second time `fall` points lower."""
    rng = np.random.default_rng(seed)
    true = rng.uniform(2.0, 4.5, ANSWERS)

    def once(by: float) -> list[Scored]:
        scores = np.clip(np.round(true - by + rng.normal(0, NOISE, ANSWERS)), 1, 5)
        return [replace(scored(f"q{n}", float(score)), wscore=None) for n, score in enumerate(scores)]

    return compare(once(0.0), once(fall)).differences["correctness"].outcome


def test_a_difference_of_half_a_point_is_called_real() -> None:
    assert sum(judged_twice(0.5, seed) == "worse" for seed in range(TRIALS)) >= 95


def test_where_there_is_no_difference_none_is_called_real() -> None:
    assert sum(judged_twice(0.0, seed) == "no_difference_shown" for seed in range(TRIALS)) >= 95


def test_a_share_of_unsure_answers_that_rises_is_worse() -> None:
    before = [scored(f"q{n}", 4.0) for n in range(40)]
    after = [scored(f"q{n}", 0.0, ItemState.UNSURE) if n < 20 else scored(f"q{n}", 4.0) for n in range(40)]
    found = compare(before, after).differences
    assert found["unsure"].outcome == "worse"
    assert found["unsure"].mean == pytest.approx(0.5)
    assert (found["correctness"].pairs, found["correctness"].mean) == (20, 0.0)


def test_only_items_that_both_runs_judged_are_compared() -> None:
    before = [*(scored(f"q{n}", 4.0) for n in range(12)), scored("gone", 1.0), scored("failed", 5.0)]
    after = [*(scored(f"q{n}", 3.0) for n in range(12)), scored("failed", None, ItemState.FAILED)]
    found = compare(before, after)
    assert (found.differences["correctness"].pairs, found.unpaired) == (12, 2)
    assert found.differences["correctness"].outcome == "worse"


def test_items_whose_texts_differ_are_left_out() -> None:
    runs = [scored("a", 4.0), scored("b", 4.0)], [scored("a", 4.0), scored("b", 1.0)]
    assert compare(*runs, same={"a"}).moved == []
    assert [one.item for one in compare(*runs).moved] == ["b"]


def test_few_pairs_show_nothing() -> None:
    found = compare([scored("a", 5.0)], [scored("a", 1.0)]).differences["correctness"]
    assert (found.outcome, found.mean, found.lower) == ("too_few", -4.0, None)
    assert compare([], []).differences["correctness"].mean is None


def test_the_items_that_fell_most_come_first() -> None:
    before = [scored("a", 5.0), scored("b", 5.0), scored("c", 2.0)]
    after = [scored("a", 4.0), scored("b", 1.0), scored("c", 3.0)]
    assert [(one.item, one.by) for one in compare(before, after).moved] == [("b", -4.0), ("a", -1.0), ("c", 1.0)]
