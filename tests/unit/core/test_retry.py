from __future__ import annotations

import logging
from threading import Event

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.errors import Fatal, OutOfReach, Retriable
from monitor.core.retry import FIRST_DELAY, LONGEST_DELAY, Interrupted, Retry, delay_before


class Stop(Event):
    """An event that nobody waits for: it keeps the delays, and is set during the one of number `set_at`."""

    def __init__(self, set_at: int | None = None) -> None:
        super().__init__()
        self.delays: list[float] = []
        self.set_at = set_at

    def wait(self, timeout: float | None = None) -> bool:
        self.delays.append(timeout)
        if self.set_at == len(self.delays):
            self.set()
        return self.is_set()


class Failing:
    """Fails as it is told, then answers."""

    def __init__(self, *errors: Exception) -> None:
        self.errors = list(errors)
        self.calls = 0

    def __call__(self) -> str:
        self.calls += 1
        if self.errors:
            raise self.errors.pop(0)
        return "done"


def down(times: int, *, retry_after: float | None = None) -> list[Exception]:
    return [Retriable("the database is down", retry_after=retry_after) for _ in range(times)]


def test_a_call_that_succeeds_is_made_once_and_without_delay():
    stop, call = Stop(), Failing()
    assert Retry(stop=stop)(call) == "done"
    assert (call.calls, stop.delays) == (1, [])


def test_delays_double_up_to_the_longest():
    stop = Stop()
    assert Retry(stop=stop, random=lambda: 1.0)(Failing(*down(9))) == "done"
    assert stop.delays == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]


def test_chance_leaves_out_at_most_half():
    stop = Stop()
    Retry(stop=stop, random=lambda: 0.0)(Failing(*down(3)))
    assert stop.delays == [0.25, 0.5, 1]


@given(st.integers(0, 10**6), st.floats(0, 1, exclude_max=True))
def test_a_delay_is_between_half_and_all_of_its_step(attempt, chance):
    delay = delay_before(attempt, None, chance)
    assert FIRST_DELAY / 2 <= delay <= LONGEST_DELAY
    assert delay <= 2 * delay_before(attempt, None, 0.0)


def test_what_the_service_asks_for_is_waited():
    stop = Stop()
    Retry(stop=stop)(Failing(*down(2, retry_after=7.5)))
    assert stop.delays == [7.5, 7.5]
    assert delay_before(20, 120.0, 0.5) == 120.0


def test_the_delay_grows_on_after_a_wish_of_the_service():
    stop = Stop()
    Retry(stop=stop, random=lambda: 1.0)(Failing(*down(1), *down(1, retry_after=3), *down(1)))
    assert stop.delays == [0.5, 3, 2]


def test_a_service_that_asks_for_no_delay_is_not_called_in_a_tight_loop():
    # Retry-After: 0, for ever: without a delay of ours the patience would never be used up.
    stop, call = Stop(), Failing(*down(10_000, retry_after=0))
    with pytest.raises(OutOfReach):
        Retry(stop=stop, patience=5)(call)
    assert min(stop.delays) > 0
    assert call.calls < 100


def test_patience_is_the_sum_of_delays():
    stop, call = Stop(), Failing(*down(100))
    with pytest.raises(OutOfReach, match=r"the database is down \(gave up after 4 tries\)") as raised:
        Retry(stop=stop, patience=3.5, random=lambda: 1.0)(call)
    assert stop.delays == [0.5, 1, 2]
    assert call.calls == 4
    assert isinstance(raised.value.__cause__, Retriable)


def test_a_wish_beyond_the_patience_is_not_waited_for():
    stop = Stop()
    with pytest.raises(OutOfReach, match="after 1 tries"):
        Retry(stop=stop, patience=60)(Failing(*down(1, retry_after=61)))
    assert stop.delays == []


def test_without_patience_it_never_gives_up():
    stop, call = Stop(), Failing(*down(1000))
    assert Retry(stop=stop)(call) == "done"
    assert call.calls == 1001


def test_patience_starts_anew_with_each_call():
    stop = Stop()
    retry = Retry(stop=stop, patience=2, random=lambda: 1.0)
    for _ in range(3):
        assert retry(Failing(*down(2))) == "done"


@pytest.mark.parametrize("set_at", [1, 3])
def test_stop_cuts_the_delay_short_and_gives_up(set_at):
    stop, call = Stop(set_at), Failing(*down(100))
    with pytest.raises(Interrupted, match="the database is down"):
        Retry(stop=stop)(call)
    assert call.calls == len(stop.delays) == set_at


def test_a_call_is_tried_even_while_stopping():
    stop = Stop()
    stop.set()
    assert Retry(stop=stop)(Failing()) == "done"
    with pytest.raises(Interrupted):
        Retry(stop=stop)(Failing(*down(1)))


@pytest.mark.parametrize("error", [Fatal("wrong key"), ValueError("a bug"), KeyboardInterrupt()])
def test_every_other_failure_passes_at_once(error):
    stop, call = Stop(), Failing(error)
    with pytest.raises(type(error)):
        Retry(stop=stop)(call)
    assert (call.calls, stop.delays) == (1, [])


def test_each_try_is_told_in_the_log(caplog):
    with caplog.at_level(logging.WARNING):
        Retry(stop=Stop(), random=lambda: 1.0)(Failing(*down(2)))
    assert caplog.messages == [
        "the database is down; trying again in 0.5 s",
        "the database is down; trying again in 1.0 s",
    ]


def test_the_end_of_an_outage_is_logged_with_what_it_was(caplog):
    caplog.set_level(logging.INFO)
    Retry(stop=Stop())(Failing(Retriable("the database is down\nstart it")))
    assert caplog.messages[-1] == "over after 0 s: the database is down"


def test_a_call_that_never_failed_has_nothing_to_tell(caplog):
    caplog.set_level(logging.INFO)
    Retry(stop=Stop())(Failing())
    assert caplog.messages == []
