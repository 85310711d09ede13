"""The budget for calls of language models on a real server, shared by threads and processes."""

from __future__ import annotations

import traceback
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Barrier

import pytest
from sqlalchemy import create_engine, text

from monitor.assess.llm.exchange import BudgetSpent, Purpose, Reservation, Spend
from monitor.core.errors import Retriable
from monitor.store.pending.budget import Limit, PostgresBudget, usage_since

SIDECAR, JUDGE = Purpose.SIDECAR, Purpose.JUDGE
START = datetime(2025, 11, 21, 22, 59, 59, tzinfo=UTC)
ONE = Spend(calls=1)
ONE_OF = {
    "calls": ONE,
    "tokens": Spend(calls=1, input_tokens=3, output_tokens=1),
    "cost": Spend(calls=1, cost=0.25),
}
AMOUNT = {"calls": 1.0, "tokens": 4.0, "cost": 0.25}


@dataclass
class Clock:
    now: datetime = START

    def __call__(self):
        return self.now


@pytest.fixture
def time():
    return Clock()


@pytest.fixture
def budget(engine, time):
    """A budget with these limits, given as `calls_per_day=3`, and shares."""

    def made(shares=None, on=engine, **limits):
        found = [Limit(what=name.split("_")[0], per=name.split("_")[2], most=most) for name, most in limits.items()]
        return PostgresBudget(on, time, limits=found, shares=shares)

    return made


def call(budget, purpose=SIDECAR, spend=ONE_OF["tokens"], model="gpt-test"):
    budget.settle(budget.reserve(purpose, model, spend), spend)


def calls_until_spent(budget, purpose=SIDECAR, spend=ONE_OF["tokens"]):
    made = 0
    while made < 1000:
        try:
            call(budget, purpose, spend)
        except BudgetSpent:
            return made
        made += 1
    raise AssertionError


def test_without_limits_everything_is_counted_all_the_same(budget, engine, time):
    unlimited = budget()
    for purpose, model in ((SIDECAR, "a"), (JUDGE, "a"), (JUDGE, "b"), (JUDGE, "a")):
        call(unlimited, purpose, Spend(calls=1, input_tokens=10, output_tokens=2, cost=0.5), model)
    time.now += timedelta(hours=1)
    unlimited.settle(unlimited.reserve(SIDECAR, "a", Spend(calls=5)), Spend(calls=5, input_tokens=1))
    assert [tuple(row) for row in usage_since(engine, START)] == [
        ("judge", "a", 2, 20, 4, 1.0),
        ("judge", "b", 1, 10, 2, 0.5),
        ("sidecar", "a", 6, 11, 2, 0.5),
    ]
    assert [tuple(row) for row in usage_since(engine, time.now)] == [("sidecar", "a", 5, 1, 0, 0.0)]
    assert list(usage_since(engine, time.now + timedelta(hours=1))) == []


@pytest.mark.parametrize("per", ["hour", "day"])
@pytest.mark.parametrize("what", ["calls", "tokens", "cost"])
def test_no_more_is_taken_than_the_limit_until_the_next_hour_or_day(budget, time, what, per):
    limited = budget(**{f"{what}_per_{per}": 3 * AMOUNT[what]})
    assert calls_until_spent(limited, spend=ONE_OF[what]) == 3
    with pytest.raises(BudgetSpent, match=rf"of [0-9.]+ {what} per {per} is spent") as raised:
        limited.reserve(JUDGE, "another", ONE)  # whoever it is for
    assert raised.value.retry_after == (1 if per == "hour" else 3601)
    time.now += timedelta(seconds=1)  # 23:00
    assert calls_until_spent(limited, spend=ONE_OF[what]) == (3 if per == "hour" else 0)
    time.now += timedelta(hours=1)  # midnight
    assert calls_until_spent(limited, spend=ONE_OF[what]) == 3


def test_of_several_limits_the_first_that_is_reached_holds(budget, time):
    limited = budget(calls_per_hour=2, calls_per_day=3, tokens_per_day=1000)
    assert calls_until_spent(limited) == 2
    time.now += timedelta(seconds=1)
    assert calls_until_spent(limited) == 1
    with pytest.raises(BudgetSpent, match="3 calls per day") as raised:
        limited.reserve(SIDECAR, "gpt-test", ONE)
    assert raised.value.retry_after == 3600


@pytest.mark.parametrize("what", ["calls", "tokens", "cost"])
def test_a_limit_of_nothing_lets_nothing_through(budget, rows, what):
    with pytest.raises(BudgetSpent):
        budget(**{f"{what}_per_day": 0}).reserve(SIDECAR, "gpt-test", ONE)
    assert rows("SELECT * FROM llm_usage") == []


def test_several_calls_are_taken_together_or_not_at_all(budget, engine, time):
    limited = budget(calls_per_day=10)
    limited.reserve(JUDGE, "gpt-test", Spend(calls=8))
    with pytest.raises(BudgetSpent):
        limited.reserve(JUDGE, "gpt-test", Spend(calls=3))
    time.now += timedelta(seconds=30)
    limited.reserve(JUDGE, "gpt-test", Spend(calls=2))
    assert [row.calls for row in usage_since(engine, START.replace(hour=0))] == [10]


def test_the_share_of_the_judge_leaves_the_rest_to_the_sidecar(budget):
    shared = budget(shares={JUDGE: 0.5}, calls_per_day=10)
    assert calls_until_spent(shared, JUDGE) == 5
    with pytest.raises(BudgetSpent, match="50% of it for the judge"):
        shared.reserve(JUDGE, "gpt-test", ONE)
    assert calls_until_spent(shared, SIDECAR) == 5


def test_what_the_sidecar_has_used_counts_for_the_share_of_the_judge(budget):
    shared = budget(shares={JUDGE: 0.5}, tokens_per_day=40)
    for _ in range(4):
        call(shared)
    assert calls_until_spent(shared, JUDGE) == 1
    assert calls_until_spent(shared, SIDECAR) == 5


def test_a_share_of_nothing_lets_the_judge_do_nothing(budget):
    shared = budget(shares={JUDGE: 0.0}, calls_per_day=10)
    assert calls_until_spent(shared, JUDGE) == 0
    assert calls_until_spent(shared, SIDECAR) == 10


def test_that_it_is_spent_is_remembered_for_seconds_only_and_for_this_purpose(budget, rows, time):
    limited = budget(shares={JUDGE: 0.5}, calls_per_day=2)
    assert calls_until_spent(limited, JUDGE) == 1
    rows("ALTER TABLE llm_usage RENAME TO hidden")
    for _ in range(3):
        with pytest.raises(BudgetSpent):  # nobody is asked
            limited.reserve(JUDGE, "gpt-test", ONE)
    rows("ALTER TABLE hidden RENAME TO llm_usage")
    limited.reserve(SIDECAR, "gpt-test", ONE)
    rows("DELETE FROM llm_usage")  # as if somebody had raised the limit
    with pytest.raises(BudgetSpent):
        limited.reserve(JUDGE, "gpt-test", ONE)
    time.now += timedelta(seconds=10)
    limited.reserve(JUDGE, "gpt-test", ONE)


def test_it_is_remembered_no_longer_than_the_hour_lasts(budget, time):
    limited = budget(calls_per_hour=1)
    assert calls_until_spent(limited) == 1
    time.now += timedelta(seconds=1)
    limited.reserve(SIDECAR, "gpt-test", ONE)


@pytest.mark.parametrize("per", ["hour", "day"])
def test_what_was_used_while_the_clock_was_ahead_is_of_that_time(budget, time, per):
    asking = budget(**{f"calls_per_{per}": 2})
    time.now = START + timedelta(days=1)
    assert calls_until_spent(asking) == 2
    time.now = START  # set right again
    assert calls_until_spent(asking) == 2


def test_a_refusal_that_is_remembered_does_not_grow(budget):
    """An exception that is raised again keeps the frames of every time before."""
    limited, depths = budget(calls_per_day=0), []
    for _ in range(50):
        try:
            limited.reserve(SIDECAR, "gpt-test", ONE)
        except BudgetSpent as error:
            depths.append(len(traceback.extract_tb(error.__traceback__)))
    assert max(depths[1:]) == depths[1]


def test_a_database_that_is_away_is_retriable(time):
    away = create_engine("postgresql+psycopg://127.0.0.1:1/nothing")
    for limits in ((), (Limit(what="calls", per="day", most=1),)):
        nowhere = PostgresBudget(away, time, limits=limits)
        reserved = Reservation(purpose=SIDECAR, model="gpt-test", at=START, spend=ONE)
        for attempt in (lambda b: b.reserve(SIDECAR, "gpt-test", ONE), lambda b, r=reserved: b.settle(r, Spend())):
            with pytest.raises(Retriable) as raised:
                attempt(nowhere)
            assert not isinstance(raised.value, BudgetSpent)


@pytest.mark.parametrize("number", [1, 50, 97])
def test_threads_on_two_engines_take_no_call_too_many(budget, engine, rows, number):
    second = create_engine(engine.url)
    threads = 8
    meet = Barrier(threads)

    def work(n):
        limited = budget(on=engine if n % 2 else second, calls_per_day=number)
        meet.wait()
        return calls_until_spent(limited, (SIDECAR, JUDGE)[n % 2])

    with ThreadPoolExecutor(threads) as pool:
        assert sum(pool.map(work, range(threads))) == number
    second.dispose()
    assert rows("SELECT sum(calls)::integer FROM llm_usage") == [(number,)]


@pytest.mark.parametrize("what", ["tokens", "cost"])
def test_calls_in_flight_on_two_engines_do_not_go_over_the_limit(budget, engine, what):
    """Each reserves four times what it uses, and what it does not use comes back to the others."""
    second = create_engine(engine.url)
    threads, used = 6, ONE_OF[what]
    most, limit = used + used + used + used, 50 * AMOUNT[what]
    meet, highest = Barrier(threads), []

    def work(n):
        limited, made = budget(on=engine if n % 2 else second, **{f"{what}_per_day": limit}), 0
        meet.wait()
        while made < 1000:
            try:
                reserved = limited.reserve(SIDECAR, "gpt-test", most)
            except BudgetSpent as error:
                if error.retry_after > 60 or len(highest) > 2_000:
                    return made
                highest.append(counted(engine, what))
                if highest[-1] >= limit - 3 * AMOUNT[what]:
                    return made  # what is left is too little for another
                continue
            highest.append(counted(engine, what))
            limited.settle(reserved, used)
            made += 1
        raise AssertionError

    with ThreadPoolExecutor(threads) as pool:
        made = sum(pool.map(work, range(threads)))
    second.dispose()
    assert max(highest) <= limit
    assert counted(engine, what) == made * AMOUNT[what]
    assert 0 < made <= 50


def counted(engine, what):
    with engine.connect() as connection:
        column = "input_tokens + output_tokens" if what == "tokens" else "cost"
        return float(connection.execute(text(f"SELECT coalesce(sum({column}), 0) FROM llm_usage")).scalar_one())


def test_what_a_killed_process_has_reserved_stays_counted_until_the_hour_is_over(budget, time):
    limited = budget(tokens_per_hour=10)
    limited.reserve(SIDECAR, "gpt-test", Spend(calls=1, input_tokens=3, output_tokens=5))  # and no more is heard
    with pytest.raises(BudgetSpent, match="has 2 left, too little for a request of up to 4") as raised:
        budget(tokens_per_hour=10).reserve(SIDECAR, "gpt-test", ONE_OF["tokens"])
    assert raised.value.retry_after == 1  # at most a minute, since a call in flight may give back
    time.now += timedelta(seconds=1)
    assert calls_until_spent(limited) == 2


def test_a_reservation_is_settled_in_its_own_hour(budget, engine, time):
    limited = budget(tokens_per_day=100)
    reserved = limited.reserve(SIDECAR, "gpt-test", Spend(calls=1, input_tokens=30, output_tokens=50, cost=1.0))
    time.now += timedelta(hours=2)
    limited.settle(reserved, Spend(calls=1, input_tokens=3, output_tokens=5, cost=0.1))
    assert [tuple(row)[2:5] for row in usage_since(engine, START)] == [(1, 3, 5)]
    assert usage_since(engine, START)[0].cost == pytest.approx(0.1)
    assert list(usage_since(engine, time.now)) == []


def test_a_request_that_was_not_sent_gives_everything_back(budget, engine):
    limited = budget(calls_per_day=1, tokens_per_day=8)
    for _ in range(3):
        limited.settle(limited.reserve(SIDECAR, "gpt-test", Spend(calls=1, input_tokens=8)), Spend())
    assert [tuple(row)[2:] for row in usage_since(engine, START)] == [(0, 0, 0, 0.0)]


def test_a_budget_that_no_request_fits_into_says_what_to_change(budget):
    with pytest.raises(BudgetSpent, match="too small for a request of up to 4: raise it, or lower MONITOR_LLM"):
        budget(tokens_per_day=3).reserve(SIDECAR, "gpt-test", ONE_OF["tokens"])
