from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from monitor.core.figures.proportions import wilson
from monitor.core.figures.verdict_counts import Verdicts
from monitor.store.database import TakesTooLong
from monitor.store.interaction.overview import Cell
from monitor.web.interaction.overview_figures import (
    SPANS,
    chart_points,
    counted_topics,
    group_counts,
    leading_topics,
    rate_change,
)
from tests.factories.answers import NOON


def a_cell(at, *, app="shop", model="large", **counts):
    known = {"grounded": 0, "refusal": 0, "self_generated": 0}
    return Cell(at=at, app=app, environment="production", model=model, **{**known, **counts})


@pytest.mark.parametrize("name", SPANS)
def test_a_span_is_whole_and_ends_now(name):
    span, now = SPANS[name], datetime(2025, 11, 21, 12, 34, 56, tzinfo=UTC)
    start, end = span.until(now)
    assert end == now
    assert end - start == span.length + timedelta(seconds=56)
    first, last = span.drawn(now)
    assert first <= start < first + span.bin
    assert last - span.bin <= now < last
    assert (last - first) % span.bin == timedelta()


def test_ten_minutes_are_several_points_of_an_hour():
    assert timedelta(minutes=10) / SPANS["1h"].bin >= 3
    assert all(20 <= span.length / span.bin <= 40 for span in SPANS.values())


def test_shares_have_the_intervals_of_wilson():
    counts = Verdicts(grounded=90, refusal=6, self_generated=4)
    assert (counts.total, counts.negative) == (100, 10)
    assert (counts.share("refusal"), counts.interval("negative")) == (0.06, wilson(10, 100))
    assert Verdicts().share("refusal") is Verdicts().interval("refusal") is None


def test_a_change_is_judged_as_in_the_weekly_report():
    before = Verdicts(grounded=950, refusal=50)
    assert rate_change(Verdicts(grounded=945, refusal=55), before, "refusal").verdict == "no clear change"
    worse = rate_change(Verdicts(grounded=850, refusal=150), before, "refusal")
    assert (worse.difference, worse.verdict, worse.clear) == (pytest.approx(0.1), "worse", True)
    assert rate_change(Verdicts(), before, "refusal") is None


HOUR = timedelta(hours=1)
NOW = {("shop", "e", "large"): Verdicts(grounded=9, refusal=1), ("bank", "e", "large"): Verdicts(grounded=50)}
BEFORE = {("shop", "e", "large"): Verdicts(grounded=3), ("gone", "e", "large"): Verdicts(grounded=7)}


def test_groups_are_now_against_before_the_largest_first():
    found = group_counts(NOW, BEFORE, [], NOON, lambda name: (name[0],))
    assert [(group.key, group.now.total, group.before.total) for group in found] == [
        (("bank",), 50, 0),
        (("shop",), 10, 3),
        (("gone",), 0, 7),
    ]


@pytest.mark.parametrize(("bins_before", "compared"), [(4, True), (3, False)])
def test_spans_are_compared_only_if_they_were_as_full(bins_before, compared):
    cells = [a_cell(NOON + n * HOUR, grounded=1) for n in range(5)]
    cells += [a_cell(NOON - (n + 1) * HOUR, grounded=1) for n in range(bins_before)]
    found = next(g for g in group_counts(NOW, BEFORE, cells, NOON, lambda name: (name[0],)) if g.key == ("shop",))
    assert (found.change("refusal") is not None) is compared


def test_small_changes_draw_the_same_chart():
    hour = timedelta(hours=1)
    few = chart_points([a_cell(NOON, grounded=95_000, refusal=5_000)], hour)
    assert few == chart_points([a_cell(NOON, grounded=95_100, refusal=5_005)], hour)
    rates, answers = few
    assert [(p.at, p.verdict, p.share) for p in rates] == [
        ("2025-11-21T12:30:00Z", "refusal", 50),
        ("2025-11-21T12:30:00Z", "self-generated", 0),
    ]
    assert answers[0].total == 100_000


def test_a_bin_without_answers_has_no_share():
    assert chart_points([a_cell(NOON)], timedelta(hours=1))[0] == ()


def test_the_topics_with_the_most_negative_answers_lead_and_the_others_are_one():
    now = {f"t{n:02}": Verdicts(grounded=10, refusal=n) for n in range(20)}
    now |= {"": Verdicts(grounded=3), "other": Verdicts(grounded=100)}
    before = {"t19": Verdicts(grounded=1), "gone": Verdicts(refusal=2)}
    found = leading_topics(now, before)
    assert [group.key[0] for group in found] == [*(f"t{n:02}" for n in range(19, 7, -1)), "other", ""]
    assert found[0].before.total == 1
    rest = found[-2]
    assert (rest.now.total, rest.now.negative, rest.before.total) == (100 + 80 + 28, 28, 2)
    assert sum(group.now.total for group in found) == sum(counts.total for counts in now.values())


def test_without_a_named_topic_there_is_nothing_to_compare():
    assert leading_topics({"": Verdicts(grounded=3), "other": Verdicts(grounded=1)}, {}) == []


def test_topics_that_take_too_long_leave_the_rest_of_the_page():
    class Slow:
        def topics(self, *_, **__):
            raise TakesTooLong("too long")

    assert counted_topics(Slow(), SPANS["28d"], NOON, None, None) is None
