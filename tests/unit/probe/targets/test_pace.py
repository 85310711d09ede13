from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pytest

from monitor.probe.targets.pace import Pace


class Waits:
    """A clock that stands still while everybody waits."""

    def __init__(self):
        self.now = 100.0
        self.waited = []
        self.lock = Lock()

    def clock(self):
        return self.now

    def wait(self, seconds):
        with self.lock:
            self.waited.append(seconds)
        return False


@pytest.fixture
def waits():
    return Waits()


def pace(waits, per_second):
    return Pace(per_second, clock=waits.clock, wait=waits.wait)


def test_calls_of_any_number_of_threads_are_evenly_spaced(waits):
    paced = pace(waits, 4.0)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: paced.enter(), range(40)))
    assert sorted(waits.waited) == [pytest.approx(n / 4) for n in range(1, 40)]


def test_time_that_nobody_used_is_not_saved_up(waits):
    paced = pace(waits, 1.0)
    paced.enter()
    waits.now += 10
    paced.enter()
    paced.enter()
    assert waits.waited == [1.0]


def test_without_a_limit_nobody_waits(waits):
    paced = pace(waits, None)
    for _ in range(5):
        paced.enter()
    assert waits.waited == []


def test_closing_lets_all_go_who_wait():
    paced = Pace(0.001)
    paced.enter()
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(paced.enter) for _ in range(4)]
        paced.close()
        assert [one.result() for one in waiting] == [None] * 4
