from __future__ import annotations

from monitor.assess.conversation.turn import MOST_TURNS, WITHIN, Turn, before, in_order
from tests.factories.answers import NOON, at


def turn(id_, minutes, number=None):
    return Turn(id=id_, question=f"{id_}?", occurred_at=at(minutes), turn=number)


def names(turns):
    return [one.id for one in turns]


def test_by_number_if_all_have_one_else_by_time():
    assert names(in_order([turn("b", 1, 2), turn("a", 5, 1)])) == ["a", "b"]
    assert names(in_order([turn("b", 1, 2), turn("a", 5)])) == ["b", "a"]
    assert names(in_order([turn("b", 1), turn("a", 1)])) == ["b", "a"]


def test_a_turn_that_comes_again_counts_once():
    assert names(in_order([turn("a", 1), turn("b", 2), turn("a", 3)])) == ["b", "a"]


def test_the_last_ones_before_it_and_none_that_is_far_away_in_time():
    ordered = in_order(turn(f"t-{n}", n) for n in range(9))
    places = {one.id: place for place, one in enumerate(ordered)}
    assert names(before(ordered[7], ordered, places)) == [f"t-{n}" for n in range(7 - MOST_TURNS, 7)]
    assert before(ordered[0], ordered, places) == ()
    old = Turn(id="old", question="?", occurred_at=NOON - WITHIN, turn=1)
    late = turn("late", 1, 2)
    assert before(late, [old, late], {"old": 0, "late": 1}) == ()
