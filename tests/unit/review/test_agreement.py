"""Agreement with people, against values worked out by hand."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.model import Verdict
from monitor.review.agreement import (
    ENOUGH,
    agreement,
    between_people,
    cohens_kappa,
    first_day,
    summary,
    week_of,
    weekly,
)
from monitor.review.label import Drawn, consensus
from tests.factories.review.labels import NOON, G, R, S, an_opinion

VERDICTS = st.sampled_from(Verdict)


def test_kappa_of_a_table_worked_out_by_hand():
    # 20 and 15 of 50 on the diagonal; marginals 25 and 25, 30 and 20: observed .7, expected .5
    pairs = [(G, G)] * 20 + [(G, S)] * 5 + [(S, G)] * 10 + [(S, S)] * 15
    assert cohens_kappa(pairs) == pytest.approx(0.4)


def test_kappa_is_one_of_raters_who_agree_and_none_where_both_say_one_thing_only():
    assert cohens_kappa([(G, G), (R, R), (S, S)]) == 1
    assert cohens_kappa([(G, G)] * 9) is None
    assert cohens_kappa([]) is None


def test_kappa_is_nothing_where_one_rater_always_says_the_same():
    assert cohens_kappa([(G, G), (G, R), (G, S)]) == 0


@given(st.lists(st.tuples(VERDICTS, VERDICTS), min_size=1))
def test_kappa_is_the_same_seen_from_either_rater_and_never_above_one(pairs):
    kappa = cohens_kappa(pairs)
    assert kappa == cohens_kappa([(b, a) for a, b in pairs])
    assert kappa is None or -1 <= kappa <= 1


def test_a_share_comes_with_its_wilson_interval():
    agreed = agreement([(G, G)] * 8 + [(G, S)] * 2)
    assert (agreed.agreeing, agreed.total, agreed.share) == (8, 10, 0.8)
    assert agreed.interval == pytest.approx((0.4902, 0.9433), abs=1e-4)


def test_of_nothing_there_is_no_share():
    assert (agreement([]).share, agreement([]).interval) == (None, (0.0, 1.0))


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        (datetime(2025, 12, 29, tzinfo=UTC), "2026-W01"),  # a Monday: the week belongs to the year of its Thursday
        (datetime(2021, 1, 3, 23, 59, tzinfo=UTC), "2020-W53"),
        (datetime(2025, 11, 24, 1, tzinfo=timezone(timedelta(hours=2))), "2025-W47"),  # in UTC still Sunday
    ],
)
def test_weeks_are_iso_weeks_in_utc(moment, name):
    assert week_of(moment) == name


def test_the_last_weeks_begin_on_a_monday_and_end_with_this_one():
    assert first_day(1, NOON) == datetime(2025, 11, 17, tzinfo=UTC)
    assert first_day(8, NOON) == datetime(2025, 9, 29, tzinfo=UTC)


def test_verdict_and_rule_are_held_against_people_week_by_week():
    before = NOON - timedelta(weeks=1)
    decided = consensus(
        [
            an_opinion("1", G),
            an_opinion("2", S),
            an_opinion("3", S, verdict=S),
            an_opinion("4", R, occurred_at=before, verdict=S, rule_verdict=R),
        ]
    )
    older, newer = weekly(decided, {"2025-W47": 2, "2025-W45": 1})[1:]
    assert (newer.name, newer.verdict.agreeing, newer.rule.agreeing, newer.verdict.total) == ("2025-W47", 2, 1, 3)
    assert newer.unlabelled == 2
    assert (older.name, older.verdict.agreeing, older.rule.agreeing, older.verdict.total) == ("2025-W46", 0, 1, 1)


def test_a_week_of_which_nothing_is_labelled_is_there_all_the_same():
    (week,) = weekly([], {"2025-W45": 3})
    assert (week.verdict.total, week.unlabelled, week.enough) == (0, 3, False)


def test_few_labels_are_said_to_be_few():
    decided = consensus([an_opinion(n) for n in range(ENOUGH)])
    assert summary("all", decided, 0).enough
    assert not summary("all", decided[1:], 0).enough


def test_people_are_compared_on_what_both_have_labelled_at_random():
    opinions = [
        an_opinion("1", G, "ann"),
        an_opinion("1", G, "bob"),
        an_opinion("2", G, "ann"),
        an_opinion("2", S, "bob"),
        an_opinion("3", G, "ann"),
        an_opinion("1", R, "cat"),
        an_opinion("4", G, "ann", drawn=Drawn.MARGIN),
        an_opinion("4", S, "bob", drawn=Drawn.MARGIN),
    ]
    found = {pair.people: (pair.agreement.agreeing, pair.agreement.total) for pair in between_people(opinions)}
    assert found == {("ann", "bob"): (1, 2), ("ann", "cat"): (0, 1), ("bob", "cat"): (0, 1)}
