"""What is found in four weeks of counts, and what is not."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.report.findings.cells import HOURS, WEEK, WHOLE, Slice
from monitor.report.findings.find import SAMPLED, false_discoveries, find
from monitor.report.findings.levels import Level
from monitor.report.findings.outages import Minute, Outage, refined
from monitor.report.findings.trends import Rise
from tests.factories.report.hourly_counts import by_day, hourly_counts

LAST = HOURS - WEEK  # the first hour of the report's week
MINI, TOPIC = Slice("model", "mini"), Slice("topic", "topic 3")


def found(cells, versions=None):
    return [about for about, q in find(cells, by_day(cells, versions)).findings if q <= 0.05]


@pytest.mark.parametrize("seed", range(4))
def test_quiet_weeks_hold_nothing(seed):
    assert found(hourly_counts(seed=seed)) == []


def test_a_model_that_makes_up_more_each_week_is_named_and_nothing_else():
    cells = hourly_counts(made_up=lambda hour, model, _: np.where(model == 1, 0.1 + 0.08 * (hour // WEEK), 0.1))
    (drift,) = found(cells)
    assert isinstance(drift, Rise)
    assert (drift.slice, drift.signal, drift.steady) == (MINI, "self_generated", True)
    shares = [k / n for k, n in drift.weeks]
    assert shares == pytest.approx([0.1, 0.18, 0.26, 0.34], abs=0.04)


def test_a_drift_of_all_models_is_one_of_the_whole_app():
    (drift,) = found(hourly_counts(made_up=lambda hour, *_: 0.1 + 0.05 * (hour // WEEK)))
    assert (drift.slice.label, drift.signal) == (WHOLE, "self_generated")


def test_a_prompt_version_of_this_week_is_named():
    def new(hour):
        return (hour >= LAST) & (hour % 2 == 1)

    cells = hourly_counts(refused=lambda hour, *_: np.where(new(hour), 0.2, 0.02))
    assert [one.slice for one in found(cells, new(cells.hour).astype(np.int64))] == [Slice(SAMPLED, "v2")]


def test_nine_bad_hours_of_one_topic_are_found_to_the_hour():
    start = LAST + 56

    def rate(hour, _, topic):
        return np.where((topic == 3) & (hour >= start) & (hour < start + 9), 0.9, 0.1)

    (outage,) = found(hourly_counts(made_up=rate))
    assert isinstance(outage, Outage)
    assert outage.slice == TOPIC
    assert abs(outage.start - start) <= 1
    assert abs(outage.end - start - 9) <= 1
    assert outage.matching / outage.total > 0.7


def test_a_drift_and_an_outage_are_told_apart():
    start = LAST + 56

    def rate(hour, model, topic):
        broken = (topic == 3) & (hour >= start) & (hour < start + 9)
        return np.where(broken, 0.9, np.where(model == 1, 0.1 + 0.08 * (hour // WEEK), 0.1))

    assert [(type(one), one.slice) for one in found(hourly_counts(made_up=rate))] == [(Outage, TOPIC), (Rise, MINI)]


def test_a_topic_far_above_its_peers_stands_out():
    (level,) = found(hourly_counts(made_up=lambda _hour, _model, topic: np.where(topic == 3, 0.35, 0.1)))
    assert isinstance(level, Level)
    assert (level.slice, level.signal) == (TOPIC, "self_generated")


def test_a_topic_that_begins_to_make_up_answers_after_three_clean_weeks_is_named():
    def rate(hour, _, topic):
        return np.where(topic == 3, np.where(hour >= LAST, 0.1, 0.0), 0.1)

    (rise,) = found(hourly_counts(made_up=rate, per_hour=1.0))
    assert isinstance(rise, Rise)
    assert (rise.slice, rise.signal, [k for k, _ in rise.weeks[:-1]]) == (TOPIC, "self_generated", [0, 0, 0])


def test_one_bad_day_after_clean_weeks_is_no_rise():
    day = LAST + 48

    def rate(hour, _, topic):
        return np.where(topic == 3, np.where((hour >= day) & (hour < day + 24), 0.6, 0.0), 0.1)

    assert [type(one) for one in found(hourly_counts(made_up=rate, per_hour=1.0))] == [Outage]


@pytest.mark.parametrize("topics", [5, 6, 8, 10])
def test_a_topic_that_always_refuses_stands_out_however_few_there_are(topics):
    cells = hourly_counts(
        made_up=lambda *_: 0.0, refused=lambda _hour, _model, topic: np.where(topic == 3, 1.0, 0.02), topics=topics
    )
    (level,) = found(cells)
    assert isinstance(level, Level)
    assert (level.slice, level.signal, level.matching) == (TOPIC, "refusal", level.total)


@pytest.mark.parametrize("topics", [5, 6, 8])
def test_an_extreme_topic_does_not_widen_what_is_usual_among_its_peers(topics):
    def rate(_hour, _model, topic):
        return np.where(topic == 3, 0.9, 0.03 + 0.01 * topic)

    (level,) = found(hourly_counts(made_up=rate, topics=topics))
    assert isinstance(level, Level)
    assert (level.slice, level.signal) == (TOPIC, "self_generated")


@pytest.mark.parametrize("topics", [5, 6, 8])
def test_few_topics_that_all_differ_do_not_stand_out(topics):
    assert found(hourly_counts(made_up=lambda _hour, _model, topic: 0.05 + 0.03 * topic, topics=topics)) == []


def test_topics_that_all_differ_do_not_stand_out():
    assert found(hourly_counts(made_up=lambda _hour, _model, topic: 0.05 + 0.02 * topic)) == []


def test_an_app_with_few_answers_has_no_findings():
    cells = hourly_counts(per_hour=0.001)
    assert find(cells, by_day(cells)).findings == ()


def test_an_outage_of_hours_begins_and_ends_at_its_minutes():
    outage = Outage(
        slice=TOPIC,
        signal="negative",
        start=10,
        end=12,
        matching=5,
        total=6,
        matching_outside=10,
        total_outside=200,
        p=0.0,
        nats=20.0,
    )
    minutes = [Minute(590, 1, 0, 0), *(Minute(m, 1, 1, 1) for m in (611, 630, 655, 690)), Minute(715, 3, 0, 0)]
    assert refined(minutes, outage) == (611, 691)
    assert refined([], outage) == (600, 720)


def test_false_discoveries_are_those_of_benjamini_and_yekutieli():
    # of 3 tests: 1 + 1/2 + 1/3 = 11/6 times the rates of Benjamini and Hochberg; the third test found nothing
    assert false_discoveries([0.001, 0.01], 3) == pytest.approx([0.003 * 11 / 6, 0.015 * 11 / 6])
    assert false_discoveries([], 9) == []
