"""Every timer of the program: what a round that fails, overruns, is woken or is left behind does to the others."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from threading import Event, Lock, Thread

import pytest
from apscheduler.schedulers import base
from apscheduler.triggers import interval

from monitor.app.background import timers as timers_module
from monitor.app.background.timers import Rounds, Timers
from monitor.core.errors import Retriable
from tests.rig.waiting import PATIENCE

HOUR = 3600.0


class Work:
    """Runs only when it is let go; counts its rounds, and how many ran at the same time."""

    def __init__(self, *, enough: int = 1) -> None:
        self.rounds = self.running = self.most_running = 0
        self.begun, self.done, self.go_on = Event(), Event(), Event()
        self.enough = enough
        self.lock = Lock()

    def __call__(self) -> None:
        with self.lock:
            self.running += 1
            self.most_running = max(self.most_running, self.running)
        self.begun.set()
        assert self.go_on.wait(PATIENCE)
        with self.lock:
            self.running -= 1
            self.rounds += 1
        if self.rounds >= self.enough:
            self.done.set()


def free(*, enough: int = 1) -> Work:
    work = Work(enough=enough)
    work.go_on.set()
    return work


def test_a_failure_and_a_defect_are_logged_and_the_next_round_comes(caplog):
    done, failures = Event(), [Retriable("the database is away"), ZeroDivisionError()]

    def work() -> None:
        if failures:
            raise failures.pop(0)
        done.set()

    with Timers() as timers:
        timers.every(0.01, work, name="report")
        assert done.wait(PATIENCE)
    assert "report: the database is away; trying again in the next round" in caplog.text
    assert "report: a defect; trying again in the next round" in caplog.text


def test_without_at_once_the_first_round_waits_for_the_interval():
    first, second = free(), free()
    with Timers() as timers:
        timers.every(HOUR, first, name="first", at_once=False)
        timers.every(HOUR, second, name="second")
        assert second.done.wait(PATIENCE)
    assert (first.rounds, second.rounds) == (0, 1)


def test_work_that_overruns_its_interval_runs_once_at_a_time_and_holds_up_no_other():
    slow, quick = Work(enough=2), free(enough=5)
    with Timers() as timers:
        timers.every(0.005, slow, name="slow")
        timers.every(0.005, quick, name="quick")
        assert slow.begun.wait(PATIENCE)
        assert quick.done.wait(PATIENCE)
        assert slow.rounds == 0
        slow.go_on.set()
        assert slow.done.wait(PATIENCE)
    assert (slow.most_running, quick.most_running) == (1, 1)


def test_woken_work_runs_at_once():
    work = free()
    with Timers() as timers:
        timers.every(HOUR, work, name="work", at_once=False)()
        assert work.done.wait(PATIENCE)


def test_work_that_is_woken_while_it_runs_runs_once_more_however_often_it_was_woken():
    work, last = Work(enough=2), free()
    with Timers() as timers:
        wake = timers.every(HOUR, work, name="work")
        assert work.begun.wait(PATIENCE)
        for _ in range(5):
            wake()
        work.go_on.set()
        assert work.done.wait(PATIENCE)
        timers.every(HOUR, last, name="last")
        assert last.done.wait(PATIENCE)
    assert (work.rounds, work.most_running) == (2, 1)


def test_leaving_waits_for_the_round_that_runs_and_begins_no_other():
    work, left = Work(), Event()

    def block() -> None:
        with Timers() as timers:
            wake = timers.every(HOUR, work, name="work")
            assert work.begun.wait(PATIENCE)
            wake()
        left.set()

    thread = Thread(target=block)
    thread.start()
    assert work.begun.wait(PATIENCE)
    assert not left.wait(0.05)  # a moment in which it could leave too early; on a slow machine it shows less
    work.go_on.set()
    thread.join(PATIENCE)
    assert left.is_set()


def test_a_round_that_wakes_another_while_the_block_is_left_does_not_hang():
    work, waking, leaving, woken = free(), Event(), Event(), Event()

    with Timers() as timers:
        wake = timers.every(HOUR, work, name="work", at_once=False)
        join = timers._threads.join

        def join_and_tell() -> None:
            leaving.set()  # the scheduler is shut down by now
            join()

        def wake_while_leaving() -> None:
            waking.set()
            assert leaving.wait(PATIENCE)
            wake()
            woken.set()

        timers._threads.join = join_and_tell
        timers.every(HOUR, wake_while_leaving, name="waking")
        assert waking.wait(PATIENCE)
    assert woken.is_set()
    assert work.rounds == 0


@pytest.fixture
def set_clock(monkeypatch):
    """Sets the clock that APScheduler and the timers read, ahead or back."""
    ahead = timedelta(0)

    class Clock(datetime):
        @classmethod
        def now(cls, tz=None):
            return datetime.now(tz) + ahead

    for module in (base, interval, timers_module):
        monkeypatch.setattr(module, "datetime", Clock)

    def by(change: timedelta) -> None:
        nonlocal ahead
        ahead += change

    return by


def test_a_clock_that_is_set_back_stops_no_timer(set_clock):
    before, after, rare, was_set = free(), free(enough=5), free(), Event()

    def work() -> None:
        (after if was_set.is_set() else before)()

    with Timers() as timers:
        timers.every(0.01, work, name="work")
        timers.every(HOUR, rare, name="rare", at_once=False)
        assert before.done.wait(PATIENCE)
        set_clock(timedelta(days=-1))
        was_set.set()
        assert after.done.wait(PATIENCE)
        assert rare.done.wait(PATIENCE)
    assert rare.rounds == 1


def test_a_clock_that_is_set_ahead_makes_one_round_begin_and_not_one_for_each_interval(set_clock, monkeypatch):
    work, last, asked = free(), free(), []
    following = interval.IntervalTrigger.get_next_fire_time
    monkeypatch.setattr(
        interval.IntervalTrigger, "get_next_fire_time", lambda *given: asked.append(given) or following(*given)
    )
    with Timers() as timers:
        timers.every(HOUR, work, name="work", at_once=False)
        set_clock(timedelta(days=30))
        timers.every(HOUR, last, name="last")  # has the scheduler look at the clock
        assert work.done.wait(PATIENCE)
        assert last.done.wait(PATIENCE)
    assert work.rounds == 1
    assert len(asked) < 30  # times that were computed: some for each round, and none for those leapt over


class Clock:
    """Seconds, as the test sets them."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def rounds_of(failures: dict[int, Exception], *, seconds: int) -> None:
    """A round a second; those in `failures` fail."""
    clock = Clock()

    def work() -> None:
        if (failure := failures.get(int(clock.seconds))) is not None:
            raise failure

    rounds = Rounds(work, "assembly", now=clock)
    for second in range(seconds):
        clock.seconds = second
        rounds()


def test_an_outage_is_logged_when_it_begins_and_when_it_is_over(caplog):
    caplog.set_level(logging.INFO)
    rounds_of(dict.fromkeys(range(3, 11), Retriable("the database is away")), seconds=20)
    assert caplog.messages == [
        "assembly: the database is away; trying again in the next round",
        "assembly: works again after 8 s",
    ]


def test_a_long_outage_is_logged_after_growing_pauses_of_a_minute_at_most(caplog):
    rounds_of(dict.fromkeys(range(3600), Retriable("the database is away")), seconds=3600)
    assert caplog.messages[:5] == [
        "assembly: the database is away; trying again in the next round",
        *(f"assembly: the database is away; failing for {seconds} s now" for seconds in (10, 30, 70, 130)),
    ]
    assert len(caplog.messages) == 62


def test_each_outage_begins_with_a_warning_of_its_own(caplog):
    rounds_of({1: Retriable("away"), 5: Retriable("away")}, seconds=10)
    assert [record.levelno for record in caplog.records].count(logging.WARNING) == 2


def test_every_defect_is_logged(caplog):
    rounds_of(dict.fromkeys(range(5), ZeroDivisionError()), seconds=5)
    assert caplog.messages == ["assembly: a defect; trying again in the next round"] * 5
