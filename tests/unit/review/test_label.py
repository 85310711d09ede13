"""What several people together say of one interaction."""

from __future__ import annotations

from datetime import timedelta

from monitor.review.label import consensus
from tests.factories.review.labels import NOON, G, R, S, an_opinion


def test_one_person_decides_alone():
    (said,) = consensus([an_opinion(label=S)])
    assert (said.newest.label, said.people, said.disputed) == (S, ("ann",), False)


def test_the_majority_counts_however_old_it_is():
    (said,) = consensus(
        [
            an_opinion(label=S, by="ann", number=1),
            an_opinion(label=S, by="cat", number=2),
            an_opinion(label=G, by="bob", number=3),
        ]
    )
    assert (said.newest.label, said.newest.number, said.people, said.disputed) == (S, 2, ("ann", "cat"), True)


def test_of_a_tie_the_newest_counts():
    three = [an_opinion(label=label, by=by, number=n) for label, by, n in ((G, "a", 5), (R, "b", 9), (S, "c", 7))]
    (said,) = consensus(three)
    assert (said.newest.label, said.people) == (R, ("b",))


def test_each_interaction_has_its_own_in_the_order_of_time():
    later = NOON + timedelta(hours=1)
    opinions = [an_opinion("2", occurred_at=later), an_opinion("1", app="b"), an_opinion("1", app="a", by="bob")]
    assert [(one.newest.app, one.newest.id) for one in consensus(opinions)] == [("a", "1"), ("b", "1"), ("bot", "2")]


def test_nobody_said_anything():
    assert consensus([]) == []
