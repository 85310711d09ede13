"""Which interactions are offered: what teaches, and a random sample that nothing but chance decides on."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.judge.word import SUPPORTED, UNSUPPORTED
from monitor.core.model import Probabilities
from monitor.review.draw import draw, second_opinions
from monitor.review.label import Drawn
from tests.factories.review.labels import G, R, S, a_candidate, labelled


def drawn(offers):
    return [(offer.candidate.id, offer.drawn.value) for offer in offers]


def test_one_that_teaches_and_one_by_chance_take_turns():
    candidates = [a_candidate(n, margin=1 - n / 10) for n in range(8)]
    assert drawn(draw(candidates, 4)) == [("7", "margin"), ("0", "random"), ("6", "margin"), ("1", "random")]


def test_the_rarest_answer_of_an_app_comes_before_a_close_call():
    """The app's usual answers look made up: its close calls are good ones."""
    candidates = [
        *(a_candidate(n) for n in range(3)),
        a_candidate("usual", margin=0.0, rank=0.6),
        a_candidate("rare", margin=0.9, rank=0.004),
        a_candidate("unranked", margin=0.2),
    ]
    informative = [id_ for id_, reason in drawn(draw(candidates, 6)) if reason == "margin"]
    assert informative == ["rare", "unranked", "usual"]


def test_each_reason_has_its_turn():
    candidates = [
        *(a_candidate(n) for n in range(4)),
        a_candidate("close", margin=0.1),
        a_candidate("rule", margin=0.9, rule_verdict=S),
        a_candidate("judge", margin=0.9, faithfulness=0.0),
        a_candidate("close too", margin=0.2),
    ]
    teaching = [pair for pair in drawn(draw(candidates, 8)) if pair[1] != "random"]
    assert teaching[:4] == [("close", "margin"), ("rule", "rule"), ("judge", "judge"), ("close too", "margin")]


def test_one_call_after_the_other_takes_the_same_turns_as_one_for_all():
    candidates = [a_candidate(n, margin=(7 * n % 10) / 10, rule_verdict=S if n % 3 else G) for n in range(12)]
    at_once = drawn(draw(candidates, 8))
    one_by_one = []
    for _ in range(8):
        (offer,) = draw(candidates, 1)
        one_by_one += drawn([offer])
        place = candidates.index(offer.candidate)
        candidates[place] = replace(offer.candidate, people=frozenset({"ann"}), drawn=offer.drawn)
    assert [reason for _, reason in one_by_one] == [reason for _, reason in at_once]


def test_what_was_not_labelled_is_offered_again():
    candidates = [a_candidate(n, margin=n / 10) for n in range(9)]
    assert draw(candidates, 4) == draw(candidates, 4)


def test_what_anybody_has_labelled_is_not_offered_again():
    candidates = [labelled(0), a_candidate(1), labelled(2, by="bob"), a_candidate(3)]
    assert {id_ for id_, _ in drawn(draw(candidates, 9))} == {"1", "3"}


def test_the_margin_lies_between_the_two_largest():
    assert a_candidate(1, probabilities=Probabilities(grounded=0.2, refusal=0.5, self_generated=0.3)).margin == (
        pytest.approx(0.2)
    )


@pytest.mark.parametrize(
    ("verdict", "score", "contradicts"),
    [
        (G, 0.0, True),
        (G, UNSUPPORTED, False),
        (S, 1.0, True),
        (S, SUPPORTED, True),
        (S, 0.5, False),
        (R, 0.0, False),
        (R, 1.0, False),
        (G, None, False),
    ],
)
def test_the_judge_contradicts_a_grounded_answer_by_a_low_score_and_a_made_up_one_by_a_high_one(
    verdict, score, contradicts
):
    assert bool(a_candidate(1, verdict=verdict, faithfulness=score).contradiction) is contradicts


def test_the_strongest_contradiction_comes_first():
    scores = enumerate([(G, None)] * 7 + [(G, 0.4), (S, 0.85), (G, 0.1)])
    candidates = [a_candidate(n, verdict=v, rule_verdict=v, faithfulness=score) for n, (v, score) in scores]
    by_judge = [id_ for id_, reason in drawn(draw(candidates, 7)) if reason == "judge"]
    assert by_judge == ["9", "8"]


def test_only_by_chance_is_the_order_of_chance():
    candidates = [a_candidate(n, margin=7 * n % 10 / 10) for n in range(9)]
    assert drawn(draw(candidates, 4, random_only=True)) == [(str(n), "random") for n in range(4)]


def test_those_labelled_before_that_the_random_draw_meets_are_in_the_sample():
    candidates = [
        labelled(0),
        labelled(1, Drawn.RANDOM),
        labelled(2, Drawn.CHOSEN),
        a_candidate(3),
        labelled(4),
        a_candidate(5),
        labelled(6),
    ]
    first, second = draw(candidates, 2, random_only=True)
    assert [c.id for c in first.passed] == ["0", "2"]  # 1 is in it already
    assert [c.id for c in second.passed] == ["4"]  # and 6 is not yet


@given(st.data())
def test_the_random_sample_is_a_beginning_of_the_order_of_chance_whoever_labels_what(data):
    """Otherwise it would lack what was labelled for teaching: the doubtful ones."""
    margins = data.draw(st.lists(st.floats(0, 1), min_size=1, max_size=25))
    candidates = [a_candidate(n, margin=m) for n, m in enumerate(margins)]
    sample = set()
    for _ in range(data.draw(st.integers(1, 6))):
        for offer in draw(candidates, data.draw(st.integers(1, 5)), random_only=data.draw(st.booleans())):
            if offer.drawn is Drawn.RANDOM:
                sample |= {c.id for c in (offer.candidate, *offer.passed)}
            if not data.draw(st.integers(0, 3)):  # the person goes on without a label
                continue
            place = int(offer.candidate.id)
            candidates[place] = replace(candidates[place], people=frozenset({"ann"}), drawn=offer.drawn)
        candidates = [replace(c, drawn=Drawn.RANDOM) if c.people and c.id in sample else c for c in candidates]
    assert sample == {str(n) for n in range(len(sample))}


@given(st.integers(0, 12), st.integers(1, 20), st.booleans())
def test_nothing_is_offered_twice_and_all_of_it_while_there_is_something_left(number, count, random_only):
    candidates = [a_candidate(n, margin=n / 20, rule_verdict=S if n % 2 else G) for n in range(number)]
    ids = [id_ for id_, _ in drawn(draw(candidates, count, random_only=random_only))]
    assert len(ids) == len(set(ids)) == min(number, count)


def test_a_second_opinion_is_asked_of_what_others_have_labelled_the_random_sample_first():
    candidates = [
        a_candidate(0),
        labelled(1),
        labelled(2, Drawn.RANDOM),
        labelled(3, by="bob"),
        labelled(4, Drawn.RANDOM, by="bob"),
    ]
    assert drawn(second_opinions(candidates, 9, by="bob")) == [("2", "random"), ("1", "margin")]
    assert drawn(second_opinions(candidates, 1, by="dan")) == [("2", "random")]


@pytest.mark.parametrize("lacks", [S, G])
def test_what_calibration_lacks_comes_before_what_is_doubtful(lacks):
    """The half drawn at random stays the beginning of the random order."""
    p = [Probabilities(grounded=1 - n / 60, refusal=0.0, self_generated=n / 60) for n in range(60)]
    candidates = [a_candidate(n, probabilities=p[7 * n % 60], rule_verdict=S) for n in range(60)]
    offers = draw(candidates, 10, lacks=lacks)
    assert [o.candidate.id for o in offers if o.drawn is Drawn.RANDOM] == ["0", "1", "2", "3", "4"]
    of_class = [o.candidate for o in offers if o.drawn is Drawn.CLASS]
    assert len(of_class) == 5
    assert [c.likely(lacks) for c in of_class] == sorted((c.likely(lacks) for c in of_class), reverse=True)
    assert min(c.likely(lacks) for c in of_class) > 0.9 - 1 / 60


def test_answers_that_calibration_cannot_use_are_not_offered_for_it():
    candidates = [a_candidate(n, usable=n % 2 == 0, verdict=S) for n in range(12)]
    offers = draw(candidates, 12, lacks=S)
    assert all(o.candidate.usable for o in offers if o.drawn is Drawn.CLASS)
    assert len({o.candidate.id for o in offers}) == 12
