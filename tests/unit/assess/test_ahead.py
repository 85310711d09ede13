from __future__ import annotations

from contextlib import closing
from threading import Event, current_thread

import pytest

from monitor.assess.ahead import one_ahead

PATIENT = 30.0


def test_results_come_in_order_and_each_item_is_worked_on_once():
    worked = []

    def work(item):
        worked.append(item)
        return item * item

    assert list(one_ahead(work, range(20))) == [n * n for n in range(20)]
    assert worked == list(range(20))


def test_nothing_gives_nothing():
    assert list(one_ahead(abs, [])) == []


def test_a_single_item_needs_no_other_thread():
    assert list(one_ahead(lambda _: current_thread(), [1])) == [current_thread()]


def test_the_next_item_is_worked_on_while_the_caller_uses_the_one_before_it_and_none_further():
    begun = [Event() for _ in range(4)]

    def work(number):
        begun[number].set()
        return number

    for number in one_ahead(work, range(4)):
        if number < 3:
            assert begun[number + 1].wait(PATIENT)
        assert not any(later.is_set() for later in begun[number + 2 :])


def test_a_failure_is_raised_in_its_place_and_what_came_before_it_is_whole():
    def work(number):
        if number == 2:
            raise ValueError(number)
        return number

    got = []
    with pytest.raises(ValueError, match="2"):
        got.extend(one_ahead(work, range(5)))
    assert got == [0, 1]


def test_a_caller_that_stops_in_the_middle_waits_for_the_work_under_way_and_no_more_begins():
    ended, worked = [], []
    begun, released = Event(), Event()

    def work(number):
        worked.append(number)
        if number == 1:
            begun.set()
            released.wait(PATIENT)
        ended.append(number)
        return number

    def stop_in_the_middle():
        with closing(one_ahead(work, range(10))) as results:
            for _ in results:
                begun.wait(PATIENT)
                released.set()
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        stop_in_the_middle()
    assert worked == ended == [0, 1]
