from __future__ import annotations

import pytest

from monitor.alert.receivers.slack.pace import INTERVAL_SECONDS, PATIENCE_SECONDS, Pace
from monitor.core.errors import Retriable
from tests.servers.slack.bench import Stepping


def test_turns_are_a_second_apart_and_the_first_comes_at_once():
    clock = Stepping()
    pace = Pace(clock=clock, sleep=clock.sleep)
    for _ in range(3):
        pace.turn()
    assert clock.slept == [INTERVAL_SECONDS] * 2
    clock.now += 0.25
    pace.turn()
    assert clock.slept[-1] == pytest.approx(0.75)


def test_time_that_passed_by_itself_is_not_waited_for():
    clock = Stepping()
    pace = Pace(clock=clock, sleep=clock.sleep)
    pace.turn()
    clock.now += 10
    pace.turn()
    assert clock.slept == []


def test_a_queue_that_is_too_long_is_left_and_takes_no_turn():
    waits = []
    pace = Pace(clock=lambda: 0.0, sleep=waits.append)  # many threads at the same moment
    for _ in range(4):
        pace.turn()
    assert waits == [1.0, 2.0, PATIENCE_SECONDS]
    for _ in range(2):
        with pytest.raises(Retriable) as caught:
            pace.turn()
        assert caught.value.retry_after == 4.0
