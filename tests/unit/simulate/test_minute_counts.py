from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest

from monitor.simulate.minute_counts import (
    BURSTING_TOPIC,
    DAY_MINUTES,
    SCENARIOS,
    USUAL_RATE,
    WEEK_MINUTES,
    Incident,
    RateScenario,
    day_and_night,
    flat,
    minute_counts,
    with_bursts,
)

QUIET = RateScenario(description="", traffic=day_and_night(1000))


def simulated(scenario, *, weeks=20, seed=1, minutes=WEEK_MINUTES):
    return minute_counts(scenario, weeks=weeks, rng=np.random.default_rng(seed), minutes=minutes)


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_scenario_has_its_volume_and_the_usual_rate_outside_of_incidents(name):
    scenario = SCENARIOS[name]
    counts = simulated(replace(scenario, incident=None), weeks=30)
    total, bad = counts.of_all_topics
    assert scenario.description
    assert total.shape == bad.shape == (30, WEEK_MINUTES)
    assert (bad <= total).all()
    assert total.sum() / (30 * 168) == pytest.approx(scenario.traffic.per_hour, rel=0.05)
    assert bad.sum() / total.sum() == pytest.approx(USUAL_RATE, rel=0.1)
    assert counts.begins is None


def test_the_same_seed_gives_the_same_counts():
    first, again, other = (simulated(QUIET, weeks=1, seed=seed) for seed in (7, 7, 8))
    assert (first.total == again.total).all()
    assert (first.bad == again.bad).all()
    assert (first.total != other.total).any()


def test_nights_and_weekends_are_quieter():
    total, _ = simulated(QUIET).of_all_topics
    by_day = total.reshape(20, 7, 24, 60).sum(axis=(0, 3))
    assert by_day[0, 15] / by_day[0, 3] == pytest.approx(9, rel=0.1)
    assert by_day[6].sum() / by_day[0].sum() == pytest.approx(0.5, rel=0.02)


def test_bursts_multiply_the_traffic_for_a_while():
    traffic = replace(with_bursts(1000), day_swing=0.0, weekend=1.0)
    total, _ = simulated(RateScenario(description="", traffic=traffic), weeks=50).of_all_topics
    usual = np.median(total)
    bursting = total > 4 * usual
    assert bursting.mean() == pytest.approx(20 / (20 + DAY_MINUTES), rel=0.2)
    assert total[bursting].mean() / total[~bursting].mean() == pytest.approx(10, rel=0.05)


def test_a_hard_topic_comes_in_bursts_with_a_rate_of_its_own():
    scenario = RateScenario(description="", traffic=flat(6_000), hard_topic=BURSTING_TOPIC)
    counts = simulated(scenario, weeks=30)
    hard, hard_bad = counts.total[:, 0], counts.bad[:, 0]
    assert hard_bad.sum() / hard.sum() == pytest.approx(BURSTING_TOPIC.rate, rel=0.02)
    total, bad = counts.of_all_topics
    bursting = hard / total > 0.2
    assert bursting.mean() == pytest.approx(1 / 49, rel=0.3)
    assert bad[bursting].sum() / total[bursting].sum() == pytest.approx(BURSTING_TOPIC.rate_in_burst, rel=0.05)


@pytest.mark.parametrize(("ramp", "after_a_third"), [(timedelta(), 4.0), (timedelta(hours=6), 2.0)])
def test_an_incident_raises_the_rate_and_ends(ramp, after_a_third):
    incident = Incident(factor=4, ramp=ramp, lasts=timedelta(hours=12))
    counts = simulated(replace(QUIET, traffic=flat(6_000), incident=incident), weeks=60)
    total, bad = counts.of_all_topics
    since = np.arange(WEEK_MINUTES) - counts.begins[:, np.newaxis]

    def times(start: int, end: int) -> float:
        at = (since >= start) & (since < end)
        return bad[at].sum() / total[at].sum() / USUAL_RATE

    assert times(-600, 0) == pytest.approx(1, rel=0.05)
    assert times(110, 130) == pytest.approx(after_a_third, rel=0.05)
    assert times(360, 720) == pytest.approx(4, rel=0.05)
    assert times(720, 1000) == pytest.approx(1, rel=0.05)
    assert (counts.begins >= DAY_MINUTES).all()
    assert (counts.begins < WEEK_MINUTES - DAY_MINUTES).all()
