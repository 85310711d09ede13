from __future__ import annotations

import json
from datetime import timedelta

import numpy as np
import pytest

from monitor.alert.methods.method import WrongParameter
from monitor.alert.methods.sequential import Sequential
from monitor.alert.target import Target
from monitor.alert.window import MINUTE, Outcome
from tests.factories.alert.counts import START, Rollup, Watch

BETS = Sequential(target=Target(value=0.04))


@pytest.fixture
def rollup() -> Rollup:
    return Rollup()


def wealth(watch: Watch) -> list[float] | None:
    assert watch.memory is not None
    return watch.memory["log_wealth"]


def at(minutes: float):
    return START + timedelta(minutes=minutes)


def test_the_first_look_starts_now_and_counts_nothing_of_the_past(rollup):
    rollup.add(at(-1), bad=50, total=50)
    rollup.add(at(0), bad=0, total=3)
    watch = Watch(BETS, rollup)
    seen = watch.look(at(0.5))
    assert (seen.outcome, seen.samples) == (Outcome.NORMAL, 53)  # 50 of them are shown, not bet on
    assert watch.memory["seen"] == [[int(START.timestamp() // 60), 3, 0]]


def test_it_asks_for_single_minutes_that_may_have_changed():
    shown, *minutes = BETS.spans(at(100.5), lateness=timedelta(minutes=2), until=at(99.75))
    assert (shown.start, shown.end) == (at(41), at(101))
    assert (minutes[0].start, minutes[-1].end) == (at(69), at(101))
    assert {span.length for span in minutes} == {MINUTE}


def test_after_a_long_pause_it_catches_up_with_a_day():
    _, *minutes = BETS.spans(at(10_000), lateness=timedelta(), until=at(0))
    assert len(minutes) == 24 * 60


def test_looking_more_often_counts_nothing_twice(rollup):
    watch = Watch(BETS, rollup)
    watch.look(at(0))
    for step in range(1, 40):
        rollup.add(at(step / 4), bad=step % 2, total=2)
        watch.look(at(step / 4))
        watch.look(at(step / 4 + 0.1))
    assert sum(total for _, total, _ in watch.memory["seen"]) == 78
    assert sum(bad for _, _, bad in watch.memory["seen"]) == 20


def test_a_look_without_answers_changes_no_wealth(rollup):
    watch = Watch(BETS, rollup)
    rollup.add(at(0), bad=1, total=5)
    watch.look(at(0.5))
    before = wealth(watch)
    for minute in range(1, 50):
        watch.look(at(minute))
    assert wealth(watch) == before


def test_silence_of_weeks_raises_no_alarm(rollup):
    watch = Watch(BETS, rollup)
    rollup.add(at(0), bad=0, total=5)
    watch.look(at(0.5))
    later = START + timedelta(weeks=30)
    rollup.add(later, bad=1, total=2)
    assert watch.look(later + MINUTE).outcome is Outcome.NORMAL


def test_late_answers_count_when_they_arrive_as_if_they_had_come_in_time():
    late, prompt = Watch(BETS, Rollup()), Watch(BETS, Rollup())
    for watch in (late, prompt):
        watch.look(at(0))
        watch.rollup.add(at(1), bad=0, total=10)
        watch.look(at(2))
    late.rollup.add(at(1.5), bad=7, total=9)  # of a minute that was counted already
    prompt.rollup.add(at(20), bad=7, total=9)
    for watch in (late, prompt):
        watch.look(at(21))
    assert wealth(late) == pytest.approx(wealth(prompt))


def test_what_comes_later_than_half_an_hour_is_left_out(rollup):
    watch = Watch(BETS, rollup)
    rollup.add(at(0), bad=0, total=10)
    for minute in range(45):
        watch.look(at(minute + 0.5))
    before = wealth(watch)
    rollup.add(at(1), bad=9, total=9)
    watch.look(at(45.5))
    assert wealth(watch) == before


def test_a_round_that_is_evaluated_again_with_an_older_time_counts_nothing_twice(rollup):
    watch = Watch(BETS, rollup)
    for minute in range(80):
        rollup.add(at(minute), bad=0, total=1)
        watch.look(at(minute + 0.5))
    before = wealth(watch)
    watch.until = at(10)  # as after a crash that kept the memory, not the time
    watch.look(at(79.75))
    assert wealth(watch) == before


def test_a_clock_that_was_set_back_blinds_nobody(rollup):
    watch = Watch(BETS, rollup)
    watch.look(at(24 * 60))  # by a clock a day ahead
    for minute in range(20):
        rollup.add(at(minute), bad=3, total=5)
        seen = watch.look(at(minute + 0.5))
    assert seen.outcome is Outcome.BREACHING
    assert sum(total for _, total, _ in watch.memory["seen"]) == 100


def test_rows_that_vanish_or_are_judged_anew_take_no_bet_back(rollup):
    watch = Watch(BETS, rollup)
    rollup.add(at(0), bad=2, total=5)
    watch.look(at(0.5))
    before = wealth(watch)
    rollup.add(at(0), bad=2, total=-1)
    watch.look(at(1))
    assert wealth(watch) == before


def test_an_outage_fires_stays_and_resolves_and_starts_anew(rollup):
    watch = Watch(BETS, rollup)
    outcomes = []
    for minute in range(400):
        broken = 60 <= minute < 180
        rollup.add(at(minute), bad=5 if broken else 0, total=10)
        outcomes.append(watch.look(at(minute + 1)).outcome)
    firing = [minute for minute, outcome in enumerate(outcomes) if outcome is Outcome.BREACHING]
    assert 60 <= firing[0] < 65
    assert firing == list(range(firing[0], firing[-1] + 1))
    assert 180 <= firing[-1] < 215
    assert len(json.dumps(watch.memory)) < 1_500


def test_starting_anew_is_starting_with_nothing(rollup):
    watch = Watch(BETS, rollup)
    watch.look(at(0))
    rollup.add(at(0), bad=50, total=50)
    assert watch.look(at(0.75)).outcome is Outcome.BREACHING
    rollup.add(at(1), bad=0, total=100_000)
    seen = watch.look(at(2))
    assert (seen.outcome, wealth(watch)) == (Outcome.NORMAL, None)
    assert seen.detail == "none that the rate is above its target"


def test_no_data_where_nothing_is_shown(rollup):
    assert Watch(BETS, rollup).look(at(0)).outcome is Outcome.NO_DATA


def test_the_bound_may_change_between_looks(rollup):
    watch = Watch(BETS, rollup)
    for minute in range(100):
        rollup.add(at(minute), bad=1, total=10)
        seen = watch.look(at(minute + 1), bound=0.1 if minute % 2 else 0.12)
    assert (seen.outcome, seen.bound) == (Outcome.NORMAL, 0.1)


def test_detail_tells_how_rare_the_evidence_is(rollup):
    watch = Watch(BETS, rollup)
    watch.look(at(0))
    rollup.add(at(0), bad=400, total=400)
    seen = watch.look(at(0.75))
    most = 100 * BETS.false_alarm_every / timedelta(days=365)
    assert seen.detail == f"if the rate were on target, chance would show this at most once in {most:,.0f} years"
    assert np.isfinite(wealth(watch)).all()


@pytest.mark.parametrize(
    "given",
    [
        {"target": Target(value=0.0)},
        {"target": Target(value=0.1), "false_alarm_every": timedelta(hours=3)},
        {"target": Target(value=0.1), "window": timedelta(seconds=5)},
    ],
)
def test_wrong_parameters(given):
    with pytest.raises(WrongParameter) as error:
        Sequential(**given)
    assert error.value.field == list(given)[-1]
