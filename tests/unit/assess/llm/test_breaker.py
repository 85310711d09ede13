from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from monitor.assess.llm.breaker import Breaker
from monitor.core.errors import Retriable
from tests.factories.assess.llm import PATIENCE, Clock

MOST, COOLDOWN = 3, 30.0


@pytest.fixture
def breaker(clock):
    return Breaker(failures=MOST, cooldown=COOLDOWN, clock=clock)


def refused(breaker: Breaker) -> float | None:
    with pytest.raises(Retriable) as caught:
        breaker.enter()
    return caught.value.retry_after


def opened(breaker: Breaker) -> None:
    for _ in range(MOST):
        breaker.enter()
        breaker.failed()


def test_failures_in_a_row_open_it_for_as_long_as_it_says(breaker, clock):
    opened(breaker)
    assert refused(breaker) == COOLDOWN
    clock.now += 29
    assert refused(breaker) == 1.0
    clock.now += 1
    breaker.enter()


@pytest.mark.parametrize("between", [Breaker.succeeded])
def test_a_success_in_between_begins_the_count_anew(breaker, between: Callable[[Breaker], None]):
    for outcome in (Breaker.failed, Breaker.failed, between, Breaker.failed, Breaker.failed):
        breaker.enter()
        outcome(breaker)
    breaker.enter()


def test_calls_that_say_nothing_about_the_server_do_not_count(breaker):
    for _ in range(10):
        breaker.enter()
        breaker.left()
    for outcome in (Breaker.failed, Breaker.left, Breaker.failed, Breaker.left, Breaker.failed):
        breaker.enter()
        outcome(breaker)
    assert refused(breaker) == COOLDOWN


def test_after_the_pause_one_may_try_and_the_others_wait(breaker, clock):
    opened(breaker)
    clock.now += COOLDOWN
    breaker.enter()
    assert refused(breaker) == 1.0
    breaker.succeeded()
    for _ in range(5):
        breaker.enter()


def test_a_try_that_fails_begins_the_pause_anew(breaker, clock):
    opened(breaker)
    clock.now += COOLDOWN
    breaker.enter()
    breaker.failed()
    assert refused(breaker) == COOLDOWN


def test_a_try_that_says_nothing_lets_the_next_one_try(breaker, clock):
    opened(breaker)
    clock.now += COOLDOWN
    breaker.enter()
    breaker.left()
    breaker.enter()
    assert refused(breaker) == 1.0


def test_a_pause_that_the_server_asks_for_is_kept_and_not_shortened(breaker, clock):
    breaker.hold(60)
    breaker.hold(5)
    assert refused(breaker) == 60.0
    clock.now += 60
    breaker.enter()


def test_a_failure_does_not_shorten_the_pause_that_the_server_asks_for(breaker, clock):
    for _ in range(MOST):
        breaker.enter()
    breaker.hold(120)
    for _ in range(MOST):
        breaker.failed()
    assert refused(breaker) == 120.0
    clock.now += 120
    breaker.enter()


def test_among_many_threads_exactly_one_may_try(clock):
    for _ in range(20):
        breaker, together = Breaker(failures=1, cooldown=COOLDOWN, clock=clock), Barrier(16)
        breaker.enter()
        breaker.failed()
        clock.now += COOLDOWN

        def enter(_: int, breaker: Breaker = breaker, together: Barrier = together) -> bool:
            together.wait(PATIENCE)
            try:
                breaker.enter()
            except Retriable:
                return False
            return True

        with ThreadPoolExecutor(16) as pool:
            assert sum(pool.map(enter, range(16))) == 1


class Calls(RuleBasedStateMachine):
    """Whatever happens, a server that works again is asked again."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = Clock()
        self.breaker = Breaker(failures=MOST, cooldown=COOLDOWN, clock=self.clock)
        self.inside = 0
        self.told: list[float | None] = []  # to those who were turned away

    @rule()
    def enter(self) -> None:
        try:
            self.breaker.enter()
        except Retriable as error:
            self.told.append(error.retry_after)
        else:
            self.inside += 1

    @precondition(lambda self: self.inside)
    @rule(outcome=st.sampled_from([Breaker.succeeded, Breaker.failed, Breaker.left, lambda breaker: breaker.hold(7)]))
    def leave(self, outcome: Callable[[Breaker], None]) -> None:
        outcome(self.breaker)
        self.inside -= 1

    @rule(seconds=st.floats(0, 2 * COOLDOWN))
    def time_passes(self, seconds: float) -> None:
        self.clock.now += seconds

    @invariant()
    def who_is_turned_away_is_told_for_how_long(self) -> None:
        assert all(seconds is not None and seconds > 0 for seconds in self.told)

    @precondition(lambda self: not self.inside)
    @invariant()
    def it_is_never_shut_for_good(self) -> None:
        before = self.clock.now
        self.clock.now += COOLDOWN + 7
        self.breaker.enter()
        self.breaker.left()
        self.clock.now = before


TestCalls = Calls.TestCase
