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


def test_wscore_of_conversations_of_different_lengths_is_not_compared() -> None:
    runs = [scored("a", 1.0)], [scored("a", 1.0)]
    assert "wscore" in compare(*runs).differences
    assert set(compare(*runs, same_turns=False).differences) == {"correctness", "unsure"}


def test_an_answer_that_is_not_sure_at_first_is_unsure_whatever_follows() -> None:
    def late(n: int) -> Scored:
        return Scored(item=f"q{n}", state=ItemState.GRADED, correctness=None, wscore=2.0, lscore=2, mscore=5.0)

    at_once = [scored(f"q{n}", 5.0) for n in range(30)]
    found = compare(at_once, [*map(late, range(15)), *at_once[15:]]).differences
    assert (found["unsure"].mean, found["unsure"].outcome) == (0.5, "worse")
    assert found["correctness"].pairs == 15


@pytest.mark.parametrize(("number", "most"), [(10, 0.02), (20, 0.02), (50, 0.02)])
def test_few_questions_show_no_difference_by_chance(number: int, most: float) -> None:
    """Plain percentiles call 4 to 5 of 100 such comparisons of 10 questions real."""
    rng = np.random.default_rng(7)
    real = 0
    for _ in range(300):
        before, after = rng.normal(3, 1, (2, number))
        pairs = [[scored(f"q{n}", value) for n, value in enumerate(run)] for run in (before, after)]
        real += compare(*pairs).differences["correctness"].outcome in {"better", "worse"}
    assert real / 300 <= most


def test_five_of_twenty_questions_that_fell_alike_may_be_chance() -> None:
    before = [scored(f"q{n}", 5.0) for n in range(20)]
    after = [scored(f"q{n}", 4.0 if n < 5 else 5.0) for n in range(20)]
    assert compare(before, after).differences["correctness"].outcome == "no_difference_shown"
