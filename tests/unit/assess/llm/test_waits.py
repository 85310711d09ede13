"""How long a call waits before it sends a request again."""

from __future__ import annotations

from time import monotonic

import pytest

from monitor.core.errors import Retriable
from tests.factories.assess.llm import ASKED, OPINION, agree, failure
from tests.factories.assess.llm_failures import DATED, LIMIT, TRIES
from tests.servers.llm import (
    Trouble,
    hang,
    too_many_requests,
)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "20"}, 20.0),
        ({"Retry-After": "0.4"}, 0.4),
        ({"retry-after-ms": "1500", "Retry-After": "20"}, 1.5),
        (DATED, 20.0),
        ({"Retry-After": "0"}, 0.25),  # never in a busy loop
        ({"Retry-After": "-5"}, 0.25),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_a_retry_waits_as_long_as_the_server_says(server, budget, make, clock, status, headers, seconds):
    server.chat_script.append(Trouble(status=status, headers=headers, body=LIMIT))
    assert make().ask(ASKED).spend.calls == 2
    assert clock.waits == [seconds]
    agree(server, budget)


def test_waits_grow_where_the_server_does_not_say(server, make, clock):
    server.chat_script.extend([too_many_requests()] * TRIES)
    assert isinstance(failure(make()), Retriable)
    assert len(clock.waits) == TRIES - 1
    assert all(base / 2 <= wait <= base for base, wait in zip([0.5, 1.0, 2.0], clock.waits, strict=True))


def test_a_long_wait_is_left_to_the_caller_who_learns_how_long(server, budget, make, clock):
    server.chat_script.append(too_many_requests(31))
    error = failure(make())
    assert (type(error), error.retry_after) == (Retriable, 31.0)
    assert clock.waits == []
    assert len(server.chats) == 1
    agree(server, budget)


def test_a_wait_beyond_the_deadline_is_not_begun(server, budget, make, clock):
    server.chat_script.append(too_many_requests(5))
    error = failure(make(), deadline=clock.now + 5)
    assert (type(error), error.retry_after) == (Retriable, 5.0)
    assert clock.waits == []
    agree(server, budget)


def test_a_wait_that_ends_before_the_deadline_is_waited(server, make, clock):
    server.chat_script.append(too_many_requests(5))
    assert make().ask(ASKED, deadline=clock.now + 6).value == OPINION


def test_a_server_that_always_says_later_is_given_up(server, budget, make, clock):
    server.chat_script.extend([too_many_requests(7)] * 10)
    assert failure(make()).retry_after == 7.0
    assert clock.waits == [7.0] * 3
    agree(server, budget)


@pytest.mark.parametrize("seconds", [0.0, -10.0])
def test_nothing_is_sent_or_taken_when_the_deadline_is_past(server, budget, make, clock, seconds):
    assert isinstance(failure(make(), deadline=clock.now + seconds), Retriable)
    assert server.arrived == 0
    agree(server, budget)


def test_the_deadline_cuts_a_request_short(server, budget, make):
    server.chat_script.append(hang(60))
    error = failure(make(), deadline=monotonic() + 0.2)
    assert isinstance(error, Retriable)
    assert budget.calls() == 1
    assert len(server.chats) <= 1  # none where the machine is so busy that it did not get there


def test_a_deadline_that_leaves_too_little_time_says_nothing_against_the_server(server, make):
    model = make()
    server.chat_script.extend([hang(60)] * 6)
    for _ in range(6):
        failure(model, deadline=monotonic() + 0.03)
    assert model.ask(ASKED).value == OPINION
