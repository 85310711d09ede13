"""Many threads on one model: slots, the breaker, the server's pauses, and the end."""

from __future__ import annotations

from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from itertools import islice
from threading import Event
from time import monotonic

import pytest

from monitor.assess.llm.breaker import Breaker, CircuitOpen
from monitor.assess.llm.exchange import BudgetSpent
from monitor.core.errors import Retriable
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.assess.llm import ASKED, GOOD, OPINION, PATIENCE, agree, failure
from tests.rig.waiting import until
from tests.servers.llm import HANG_UP, completed, hang, refusal, server_error, too_many_requests


@pytest.fixture
def pool():
    with ThreadPoolExecutor(32) as running:
        yield running


@pytest.fixture
def gate(server):
    """Requests wait in the server until the event is set."""
    gate = Event()

    def answer(_):
        gate.wait(PATIENCE)
        return GOOD

    server.answer = answer
    yield gate
    gate.set()


def soon(seconds: float = PATIENCE) -> float:
    return monotonic() + seconds


def outcome(call: Future) -> object:
    error = call.exception(PATIENCE)
    return error or call.result().value


def with_breaker_half_open(model):
    model._breaker = Breaker(failures=1, cooldown=0.0, clock=monotonic)
    model._breaker.enter()
    model._breaker.failed()
    return model


# --- slots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("concurrency", [1, 3])
def test_never_more_calls_run_than_may(server, budget, make, pool, concurrency):
    server.latency = 0.01
    server.chat_script.extend([None, completed("what?"), too_many_requests(0), None, HANG_UP, server_error()])
    model = make(concurrency=concurrency)
    replies = list(pool.map(lambda _: model.ask(ASKED), range(24)))
    assert [reply.value for reply in replies] == [OPINION] * 24
    assert server.most_in_flight == concurrency
    assert sum(reply.spend.calls for reply in replies) == len(server.chats)
    agree(server, budget)


def test_calls_run_up_to_the_limit(server, make, pool, gate):
    model = make(concurrency=6)
    calls = [pool.submit(model.ask, ASKED) for _ in range(6)]
    until("all are there", lambda: server.in_flight == 6)
    gate.set()
    assert [outcome(call) for call in calls] == [OPINION] * 6


def test_a_call_that_waits_for_a_slot_gives_up_at_the_deadline(server, budget, make, pool, gate):
    model = make(concurrency=1)
    first = pool.submit(model.ask, ASKED)
    until("it is there", lambda: server.in_flight == 1)
    error = failure(model, deadline=soon(0.05))
    assert isinstance(error, Retriable)
    gate.set()
    assert outcome(first) == OPINION
    assert len(server.chats) == 1
    agree(server, budget)
    assert model.ask(ASKED, deadline=soon()).value == OPINION


def test_a_slot_is_given_back_whatever_happens(server, make):
    class Broken(MemoryBudget):
        broken = True

        def settle(self, *given):
            if self.broken:
                raise ZeroDivisionError
            super().settle(*given)

    budget = Broken()
    model = make(concurrency=1, budget=budget)
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            model.ask(ASKED, deadline=soon())
    budget.broken = False
    server.chat_script.extend([refusal(401, "no"), refusal(400, "no")])
    for _ in range(2):
        failure(model, deadline=soon())
    assert len(server.chats) == 5


def test_a_budget_is_never_overdrawn(server, make, pool):
    budget = MemoryBudget(most_calls=10)
    model = make(budget=budget, concurrency=8)
    server.chat_script.extend([None, server_error(), completed("what?")])
    outcomes = [outcome(call) for call in [pool.submit(model.ask, ASKED) for _ in range(24)]]
    assert all(found == OPINION or isinstance(found, BudgetSpent) for found in outcomes)
    assert len(server.chats) == 10
    agree(server, budget)


# --- the breaker -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("trouble", [server_error(), HANG_UP])
def test_after_five_failures_in_a_row_the_server_is_left_alone(server, budget, make, clock, trouble):
    model = make()
    server.chat_script.extend([trouble] * 5)
    assert isinstance(failure(model), Retriable)  # four tries
    error = failure(model, deadline=clock.now + 20)
    assert isinstance(error, Retriable)
    assert len(server.chats) == 5
    for _ in range(10):
        error = failure(model, deadline=clock.now + 5)
        assert error.retry_after is not None
        assert 0 < error.retry_after <= 30
    assert len(server.chats) == 5
    agree(server, budget)
    clock.now += 30
    assert model.ask(ASKED).value == OPINION
    agree(server, budget)


def test_no_call_waits_for_that_pause_to_end(server, budget, make, clock):
    model = make()
    server.chat_script.extend([server_error()] * 5)
    failure(model)
    assert isinstance(failure(model), CircuitOpen)
    assert max(clock.waits) < 5
    assert len(server.chats) == 5
    agree(server, budget)


def test_a_call_that_may_take_its_time_waits_for_a_pause_that_the_server_asks_for(server, make, clock):
    model = make()
    server.chat_script.append(too_many_requests(25))
    assert model.ask(ASKED).value == OPINION
    assert 25 <= max(clock.waits) <= 30


@pytest.mark.parametrize(
    "trouble", [too_many_requests(), refusal(400, "no"), refusal(404, "no"), completed("what?"), refusal(401, "no")]
)
def test_a_server_that_answers_is_not_left_alone_whatever_it_says(server, make, clock, trouble):
    model = make()
    server.chat_script.extend([trouble] * 20)
    while len(server.chat_script) > 4:
        failure(model)
    server.chat_script.clear()
    assert model.ask(ASKED, deadline=clock.now + 1).value == OPINION


def test_a_try_that_fails_leaves_the_server_alone_anew(server, make, clock):
    model = make()
    server.chat_script.extend([server_error()] * 6)
    failure(model)
    failure(model, deadline=clock.now + 5)
    clock.now += 30
    failure(model, deadline=clock.now + 5)
    assert len(server.chats) == 6
    failure(model, deadline=clock.now + 5)
    assert len(server.chats) == 6
    clock.now += 30
    assert model.ask(ASKED).value == OPINION


def test_when_the_pause_is_over_exactly_one_thread_tries(server, budget, make, pool, gate):
    model = with_breaker_half_open(make(concurrency=16))
    calls = [pool.submit(model.ask, ASKED, deadline=soon(0.9)) for _ in range(16)]  # those held would wait a second
    turned_away = list(islice(as_completed(calls, PATIENCE), 15))
    assert all(isinstance(call.exception(), Retriable) for call in turned_away)
    until("the one is there", lambda: server.in_flight == 1)
    assert len(server.chats) == 1
    gate.set()
    assert sorted(call.exception(PATIENCE) is None for call in calls) == [False] * 15 + [True]
    agree(server, budget)


def test_a_pause_that_the_server_asks_for_holds_the_other_threads_too(server, budget, make, pool):
    model = make(concurrency=16)
    server.chat_script.append(too_many_requests(200))
    assert failure(model).retry_after == 200.0
    errors = [call.exception(PATIENCE) for call in [pool.submit(model.ask, ASKED) for _ in range(16)]]
    assert all(isinstance(error, Retriable) and 30 < error.retry_after <= 200 for error in errors)
    assert len(server.chats) == 1
    agree(server, budget)


def test_a_pause_without_end_is_kept_for_five_minutes_at_a_time(server, make, clock):
    model = make()
    server.chat_script.append(too_many_requests(1e9))
    assert failure(model).retry_after == 1e9
    clock.now += 299
    failure(model, deadline=clock.now + 0.5)
    assert len(server.chats) == 1
    clock.now += 1
    assert model.ask(ASKED).value == OPINION


def test_a_call_that_the_budget_turns_away_leaves_the_way_open(server, make, clock):
    class Sometimes(MemoryBudget):
        spent = False

        def reserve(self, *given):
            if self.spent:
                raise BudgetSpent("spent")
            return super().reserve(*given)

    budget = Sometimes()
    model = make(budget=budget)
    server.chat_script.extend([server_error()] * 5)
    failure(model)
    failure(model, deadline=clock.now + 5)
    clock.now += 30
    budget.spent = True
    assert isinstance(failure(model), BudgetSpent)
    budget.spent = False
    assert model.ask(ASKED, deadline=clock.now + 0.5).value == OPINION


# --- the end ---------------------------------------------------------------------------------------------------------


def test_closing_ends_the_calls_that_wait_for_the_server(server, budget, make, pool):
    model = make()
    server.chat_script.append(too_many_requests(25))
    calls = [pool.submit(model.ask, ASKED)]
    until("it was turned away", lambda: model._breaker._closed_until > monotonic())
    calls += [pool.submit(model.ask, ASKED) for _ in range(3)]
    assert not wait(calls, 0.05).done
    model.close()
    assert all(isinstance(call.exception(PATIENCE), Retriable) for call in calls)
    assert len(server.chats) == 1
    agree(server, budget)


def test_closing_ends_the_calls_that_wait_for_a_slot(server, budget, make, pool, gate):
    model = make(concurrency=1)
    calls = [pool.submit(model.ask, ASKED) for _ in range(4)]
    until("one is there", lambda: server.in_flight == 1)
    model.close()
    gate.set()
    outcomes = [outcome(call) for call in calls]
    assert sum(isinstance(found, Retriable) for found in outcomes) >= 3
    assert all(found == OPINION or isinstance(found, Retriable) for found in outcomes)
    assert len(server.chats) == 1
    assert budget.calls() == 1


def test_closing_ends_the_calls_that_are_under_way_with_an_answer_or_without(server, make, pool, gate):
    model = make(concurrency=8)
    calls = [pool.submit(model.ask, ASKED) for _ in range(8)]
    until("all are there", lambda: server.in_flight == 8)
    model.close()
    gate.set()
    assert all(found == OPINION or isinstance(found, Retriable) for found in map(outcome, calls))


def test_a_model_that_is_closed_asks_nothing(server, budget, make):
    model = make()
    model.ask(ASKED)
    model.close()
    model.close()
    assert isinstance(failure(model), Retriable)
    assert len(server.chats) == 1
    agree(server, budget)


def test_a_deadline_holds_for_all_tries_of_a_call_together(server, budget, make):
    server.chat_script.extend([server_error(), completed("what?"), hang(60)])
    error = failure(make(), deadline=soon(0.3))
    assert isinstance(error, Retriable)
    assert len(server.chats) <= budget.calls() <= 3
