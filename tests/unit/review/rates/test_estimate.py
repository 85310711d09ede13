"""Rates from the labels of a plan: who counts, what divided people do to the interval, and each way of drawing."""

from __future__ import annotations

import pytest

from monitor.core.figures.proportions import clopper_pearson
from monitor.core.model import Verdict
from monitor.review.rates.estimate import rate, tallies
from monitor.review.rates.plan import Draw, Part, Plan, turns, way
from monitor.review.rates.queue import open_items
from tests.factories.review.plans import a_plan, at_random, said

G, R, S = Verdict.GROUNDED, Verdict.REFUSAL, Verdict.SELF_GENERATED


def test_at_random_it_is_the_share_with_the_interval_of_clopper_and_pearson():
    found = rate(at_random(20), said(*[S] * 2, *[G] * 17, R), "self_generated")
    assert found.value == pytest.approx(0.1)
    assert (found.lower, found.upper) == pytest.approx(clopper_pearson(2, 20))
    assert (found.lower, found.upper) == pytest.approx((0.0123, 0.3170), abs=1e-4)
    assert rate(at_random(20), said(*[S] * 2, *[G] * 17, R), "negative").value == pytest.approx(0.15)


def test_labels_of_what_was_not_drawn_do_not_count():
    labels = {**said(S, G), ("bot", "chosen by somebody"): {"ann": S}, ("other", "0"): {"ann": S}}
    assert rate(at_random(2), labels, "self_generated").labels == 2


def test_the_majority_counts_and_divided_people_widen_the_interval():
    plan = at_random(10)
    agreed = rate(plan, said((S, S, G), *[G] * 9), "self_generated")
    assert agreed.value == pytest.approx(0.1)
    assert agreed.divided == 0
    divided = rate(plan, said((S, G), *[G] * 9), "self_generated")
    assert (divided.value, divided.divided) == (pytest.approx(0.05), 1)
    assert divided.lower == rate(plan, said(*[G] * 10), "self_generated").lower
    assert divided.upper == agreed.upper


def test_two_kinds_of_negative_are_divided_about_the_kind_only():
    labels = said((S, R), *[G] * 9)
    assert rate(at_random(10), labels, "negative").divided == 0
    assert rate(at_random(10), labels, "refusal").divided == 1


def test_without_labels_nothing_is_known():
    found = rate(at_random(5), {}, "self_generated")
    assert (found.value, found.lower, found.upper, found.labels) == (None, 0.0, 1.0, 0)


def strata():
    sizes = (10, 15, 25, 50, 100, 300)
    return [Part(stratum=n, answers=size, lowest=0.0) for n, size in enumerate(sizes)]


def test_by_strata_there_is_no_estimate_until_each_has_a_label():
    plan = a_plan(Draw.STRATA, strata(), turns(Draw.STRATA, strata(), 50))
    assert sorted(item.part for item in plan.items[:6]) == list(range(6))
    five = rate(plan, said(*[G] * 5), "self_generated")
    assert five.value is None
    assert five.upper < 1.0
    assert rate(plan, said(*[G] * 6), "self_generated").value == 0.0


def test_by_the_judge_a_stratum_that_it_has_not_read_is_not_forgotten():
    cells = [
        Part(stratum=0, answers=100, lowest=0.5, says="unsupported", judged=30),
        Part(stratum=0, answers=100, lowest=0.5, says="supported", judged=20),
        Part(stratum=1, answers=300, lowest=0.2, says="supported", judged=100),
    ]
    plan = a_plan(Draw.JUDGE, cells, [0, 0, 1, 1, 2, 2, 2])
    labels = said(S, S, G, G, G, G, G)
    assert rate(plan, labels, "self_generated").value == pytest.approx(0.25 * 0.6)
    assert [(t.labels, t.positive) for t in tallies(plan, labels, "self_generated")] == [(2, 2), (2, 0), (3, 0)]
    more = Plan(**{**{name: getattr(plan, name) for name in plan.__slots__}, "answers": 1_000})
    assert rate(more, labels, "self_generated").value is None
    assert rate(more, labels, "self_generated").upper > 0.6


def test_how_labels_are_drawn():
    assert way(10_000, 0, 100, guaranteed=False) is Draw.STRATA
    assert way(10_000, 0, 100, guaranteed=True) is Draw.RANDOM
    assert way(499, 400, 100, guaranteed=False) is Draw.RANDOM
    assert way(10_000, 199, 100, guaranteed=False) is Draw.STRATA
    assert way(10_000, 200, 100, guaranteed=False) is Draw.JUDGE
    assert way(10_000, 399, 200, guaranteed=False) is Draw.STRATA


def test_a_person_is_asked_for_new_answers_then_for_second_opinions_on_negative_ones():
    plan = at_random(7)
    labels = {
        ("bot", "0"): {"ann": S},  # by one person: needs another
        ("bot", "1"): {"ann": G},
        ("bot", "3"): {"ann": S, "bob": S},  # settled
        ("bot", "4"): {"ann": S, "bob": G},  # divided: needs a third
        ("bot", "5"): {"ann": S, "bob": G, "eve": G},
    }
    assert [item.id for item in open_items(plan, labels, by="ann")] == ["2", "6"]
    assert [item.id for item in open_items(plan, labels, by="bob")] == ["2", "6", "0"]
    assert [item.id for item in open_items(plan, labels, by="eve")] == ["2", "6", "0", "4"]


def test_a_label_given_out_of_turn_counts_when_its_turn_comes():
    plan = at_random(10)
    waiting = rate(plan, said(S, G, None, S, S), "self_generated")
    assert (waiting.labels, waiting.value) == (2, 0.5)
    assert rate(plan, said(S, G, G, S, S), "self_generated").labels == 5


def test_an_item_that_nobody_can_label_any_more_is_passed_over():
    plan = at_random(4)
    labels = {**said(S, None, G, G), ("bot", "1"): {}}
    assert rate(plan, labels, "self_generated").labels == 3
    assert open_items(plan, labels, by="bob") == [plan.items[0]]
