"""Calls against the budget, and the accounts of what they cost."""

from __future__ import annotations

import json
import socket

import pytest

from monitor.assess.llm.exchange import BudgetSpent, NoAnswer, Purpose, Spend
from monitor.core.errors import Retriable
from monitor.core.figures.prices import Price
from monitor.simulate.fakes.flow import MemoryBudget
from tests.factories.assess.llm import ASKED, GOOD, OPINION, PRICE, agree, failure, request
from tests.servers.llm import (
    CUT,
    HANG_UP,
    Trouble,
    completed,
    hang,
    model_refusal,
    refusal,
    server_error,
    too_many_requests,
)


def test_a_spent_budget_sends_nothing(server, make):
    budget = MemoryBudget(most_calls=0)
    error = failure(make(budget=budget))
    assert isinstance(error, BudgetSpent)
    assert error.retry_after == 60.0
    assert server.arrived == 0
    agree(server, budget)


@pytest.mark.parametrize("trouble", [server_error(), completed("what?"), completed("{", "length")])
def test_a_budget_that_is_spent_on_the_way_ends_the_call(server, make, trouble):
    server.chat_script.append(trouble)
    budget = MemoryBudget(most_calls=1)
    assert isinstance(failure(make(budget=budget)), BudgetSpent)
    assert len(server.chats) == 1
    agree(server, budget)


def test_a_budget_that_cannot_be_asked_ends_the_call_and_is_asked_again_by_the_next(server, make):
    class Away(MemoryBudget):
        def reserve(self, *_):
            raise Retriable("the database is out of reach")

    model = make(budget=Away())
    for _ in range(10):
        assert "database" in str(failure(model))
    assert server.arrived == 0


def test_a_request_that_the_pause_of_the_server_holds_back_is_not_taken_from_the_budget(server, budget, make, clock):
    model = make()
    server.chat_script.append(too_many_requests(100))
    failure(model)
    for _ in range(3):
        error = failure(model, deadline=clock.now + 50)
        assert isinstance(error, Retriable)
        assert error.retry_after == 100.0
    assert len(server.chats) == 1
    agree(server, budget)


@pytest.mark.parametrize(
    "script",
    [
        [None],
        [completed("what?"), None],
        [completed("what?"), completed("what?")],
        [completed('{"supported": tr', "length"), None],
        [server_error(), completed("what?"), HANG_UP, None],
        [CUT, completed("what?"), too_many_requests(), refusal(400, "too long")],
        [completed("what?"), server_error(), refusal(400, "no")],
        [server_error(), server_error(), refusal(400, "no")],
        [server_error(), model_refusal("no")],
        [refusal(400, "'temperature' is not supported"), completed("what?"), refusal(400, "'response_format'"), None],
    ],
)
def test_all_accounts_agree(server, budget, make, script):
    server.chat_script.extend(script)
    try:
        spend = make().ask(ASKED).spend
    except NoAnswer as error:
        spend = error.spend
    assert not server.chat_script
    agree(server, budget, spend)


def test_tokens_have_the_price_of_their_direction(server, budget, make):
    reply = make(price=lambda: Price(input=3.0, output=15.0)).ask(ASKED)
    chat = server.chats[0]
    assert reply.spend.input_tokens == chat.prompt_tokens
    assert reply.spend.output_tokens == server.tokens - chat.prompt_tokens
    assert reply.spend.cost == pytest.approx((3 * reply.spend.input_tokens + 15 * reply.spend.output_tokens) / 1e6)
    assert budget.counted[Purpose.SIDECAR] == reply.spend


def test_without_prices_there_is_no_cost(make, budget):
    assert make(price=lambda: None).ask(ASKED).spend.cost is None
    assert budget.counted[Purpose.SIDECAR].cost is None


SILENT = [None, [], "many", {}, {"prompt_tokens": None}, {"prompt_tokens": -5, "completion_tokens": True}]


@pytest.mark.parametrize("usage", [*SILENT, {"prompt_tokens": "7"}])
def test_a_server_that_does_not_say_what_was_used_is_taken_to_have_used_the_most(server, budget, make, usage):
    body = {"choices": [{"message": {"role": "assistant", "content": GOOD}, "finish_reason": "stop"}], "usage": usage}
    server.chat_script.append(Trouble(body=json.dumps(body)))
    reply = make().ask(ASKED)
    assert reply.value == OPINION
    (reservation,) = budget.reserved
    assert reply.spend == reservation.spend
    assert reply.spend.output_tokens == 4_096
    assert reply.spend.input_tokens > server.chats[0].prompt_tokens
    assert reply.spend.cost == pytest.approx(PRICE * (reply.spend.input_tokens + 4_096) / 1e6)


def test_half_of_what_was_used_is_believed(server, budget, make):
    body = {"choices": [{"message": {"content": GOOD}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 70}}
    server.chat_script.append(Trouble(body=json.dumps(body)))
    spend = make().ask(ASKED).spend
    assert (spend.input_tokens, spend.output_tokens) == (70, 4_096)
    assert (budget.reserved, budget.counted[Purpose.SIDECAR]) == ([], spend)


@pytest.mark.parametrize("text", ["The sky is blue.", "天空是蓝色的。" * 50, "if(a[i]!=b[j]){i++;j--}" * 50, "🜁" * 50])
def test_the_most_is_a_token_for_each_byte_that_is_sent_and_the_room_for_the_answer(make, text):
    model = make(max_output_tokens=100)
    most = model.most(model.body(request(text)))
    assert most.input_tokens >= len(text.encode())
    assert (most.calls, most.output_tokens) == (1, 100)


@pytest.mark.parametrize("trouble", [hang(60), HANG_UP, CUT, Trouble(body="no JSON"), refusal(504, "no")])
def test_a_request_on_which_the_server_may_have_worked_stays_counted(server, budget, make, trouble):
    server.chat_script.append(trouble)
    model = make(timeout=0.2)
    spend = model.ask(ASKED).spend
    (kept,) = budget.reserved
    assert budget.calls() == spend.calls == 2
    assert spend.input_tokens == kept.spend.input_tokens + budget.counted[Purpose.SIDECAR].input_tokens


@pytest.mark.parametrize("trouble", [refusal(400, "no"), too_many_requests(0), refusal(500, "no"), refusal(503, "no")])
def test_a_request_that_the_server_refuses_costs_a_call_and_no_tokens(server, budget, make, trouble):
    server.chat_script.extend([trouble] * 9)
    failure(make())
    assert budget.reserved == []
    assert budget.counted[Purpose.SIDECAR] == Spend(calls=len(server.chats))


def test_a_request_that_was_not_sent_costs_nothing(budget, make):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert "out of reach" in str(failure(make(base_url=f"http://127.0.0.1:{port}/v1")))
    assert (budget.reserved, budget.calls()) == ([], 0)


def test_a_budget_that_is_away_after_the_call_leaves_it_counted(make, caplog):
    class Away(MemoryBudget):
        def settle(self, *_):
            raise Retriable("the database is out of reach")

    budget = Away()
    assert make(budget=budget).ask(ASKED).value == OPINION
    assert len(budget.reserved) == 1
    assert "stays counted" in caplog.text
