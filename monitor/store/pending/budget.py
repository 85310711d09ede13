"""The `Budget` port on PostgreSQL: limits the calls of language models, and counts their use by the hour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, Row, cast, func, select, text
from typing_extensions import override

from monitor.assess.llm.exchange import BudgetSpent, Purpose, Reservation, Spend
from monitor.assess.ports import Budget
from monitor.store.database import retriable
from monitor.store.tables.interactions import llm_usage

USAGE_LOCK = 7_305_104
_REMEMBERED = timedelta(seconds=5)  # how long a spent budget is cached, so that not every call asks the database
_ASK_AGAIN = 60.0  # seconds until more may be left, although nothing new is given
_u = llm_usage.c
# Transactions on the same row follow each other, so none waits for the disk: a crash of the server loses a fraction of
# a second. A process that halts in the middle holds up the others for seconds only.
_QUICKLY = text("""
    SELECT set_config('synchronous_commit', 'off', true), set_config('lock_timeout', '5s', true),
        set_config('idle_in_transaction_session_timeout', '10s', true)
""")
_ALONE = text(f"SELECT pg_advisory_xact_lock({USAGE_LOCK})")
_USED = text("""
    SELECT coalesce(sum(calls), 0) AS calls_per_day, coalesce(sum(input_tokens + output_tokens), 0) AS tokens_per_day,
        coalesce(sum(cost), 0) AS cost_per_day, coalesce(sum(calls) FILTER (WHERE hour = :hour), 0) AS calls_per_hour,
        coalesce(sum(input_tokens + output_tokens) FILTER (WHERE hour = :hour), 0) AS tokens_per_hour,
        coalesce(sum(cost) FILTER (WHERE hour = :hour), 0) AS cost_per_hour
    FROM llm_usage WHERE hour >= :day AND hour < CAST(:day AS timestamptz) + interval '1 day'
""")
_ADD = text("""
    INSERT INTO llm_usage AS u (hour, purpose, model, calls, input_tokens, output_tokens, cost)
    VALUES (:hour, :purpose, :model, :calls, :input_tokens, :output_tokens, :cost)
    ON CONFLICT (hour, purpose, model) DO UPDATE SET calls = u.calls + excluded.calls, cost = u.cost + excluded.cost,
        input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens
""")
_CHANGE = text("""
    UPDATE llm_usage SET calls = greatest(calls + :calls, 0), cost = greatest(cost + :cost, 0),
        input_tokens = greatest(input_tokens + :input_tokens, 0),
        output_tokens = greatest(output_tokens + :output_tokens, 0)
    WHERE hour = :hour AND purpose = :purpose AND model = :model
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `most` of `what` (`calls`, `tokens`, `cost`) per `hour` or `day` (of UTC)."""

    what: str
    per: str
    most: float

    @property
    def least(self) -> float:
        """The least that a request can use."""
        return 1.0 if self.what == "calls" else 0.0

    def of(self, spend: Spend) -> float:
        """What this limits of `spend`."""
        match self.what:
            case "calls":
                return spend.calls
            case "tokens":
                return spend.input_tokens + spend.output_tokens
            case _:
                return spend.cost or 0.0

    def begins(self, now: datetime) -> datetime:
        """The beginning of the current hour or day."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        return hour if self.per == "hour" else hour.replace(hour=0)

    def ends(self, now: datetime) -> datetime:
        """The end of the current hour or day, when the budget is available again."""
        return self.begins(now) + (timedelta(hours=1) if self.per == "hour" else timedelta(days=1))


class PostgresBudget(Budget):
    """A budget that all processes share.

    The most that a call may use is counted before it, in a transaction under a lock, so that all processes together
    never exceed a limit. A reservation is no more than its part of the hour's row: a crash leaves it counted, until the
    hour or day is over. `shares` says up to which share of every limit, with the use of all purposes counted, a purpose
    may reserve; 1 by default.
    """

    def __init__(
        self,
        engine: Engine,
        now: Callable[[], datetime],
        *,
        limits: Sequence[Limit] = (),
        shares: Mapping[Purpose, float] | None = None,
    ) -> None:
        self._engine = engine
        self._now = now
        self._limits = limits
        self._shares = shares or {}
        self._spent: dict[Purpose, tuple[datetime, BudgetSpent]] = {}
        self._lock = Lock()

    @override
    def reserve(self, purpose: Purpose, model: str, most: Spend) -> Reservation:
        now = self._now()
        with self._lock:
            known = self._spent.get(purpose)
        if known is not None and now < known[0] <= now + _REMEMBERED:  # or the clock was set back
            raise BudgetSpent(str(known[1]), retry_after=known[1].retry_after)
        with retriable(), self._engine.begin() as connection:
            connection.execute(_QUICKLY)
            if self._limits:
                connection.execute(_ALONE)
                self._check(connection, purpose, most, now)
            connection.execute(_ADD, _row(purpose, model, most, now))
        return Reservation(purpose=purpose, model=model, at=now, spend=most)

    @override
    def settle(self, reservation: Reservation, spend: Spend) -> None:
        reserved = reservation.spend
        difference = Spend(
            calls=spend.calls - reserved.calls,
            input_tokens=spend.input_tokens - reserved.input_tokens,
            output_tokens=spend.output_tokens - reserved.output_tokens,
            cost=(spend.cost or 0.0) - (reserved.cost or 0.0),
        )
        with retriable(), self._engine.begin() as connection:
            connection.execute(_QUICKLY)
            connection.execute(_CHANGE, _row(reservation.purpose, reservation.model, difference, reservation.at))

    def _check(self, connection: Connection, purpose: Purpose, wanted: Spend, now: datetime) -> None:
        share = self._shares.get(purpose, 1.0)
        begins = {per: Limit(what="calls", per=per, most=0).begins(now) for per in ("hour", "day")}
        used = connection.execute(_USED, begins).mappings().one()
        for limit in self._limits:
            spent, most = float(used[f"{limit.what}_per_{limit.per}"]), limit.most * share
            amount = limit.of(wanted)
            if spent < most and spent + amount <= most:
                continue
            wait = (limit.ends(now) - now).total_seconds()
            part = "" if share == 1.0 else f" ({share:.0%} of it for the {purpose})"
            name = f"the budget of {limit.most:,g} {limit.what} per {limit.per}{part}"
            if spent >= most or spent + limit.least > most:
                error = BudgetSpent(f"{name} is spent", retry_after=wait)
                with self._lock:
                    self._spent[purpose] = (min(now + _REMEMBERED, limit.ends(now)), error)
            elif wanted.calls == 1 and amount > most:
                remedy = "raise it, or lower MONITOR_LLM__MAX_OUTPUT_TOKENS"
                error = BudgetSpent(
                    f"{name} is too small for a request of up to {amount:,g}: {remedy}", retry_after=wait
                )
            else:  # calls in progress may give back a part of theirs
                left = f"{name} has {most - spent:,g} left, too little for a request of up to {amount:,g}"
                error = BudgetSpent(left, retry_after=min(wait, _ASK_AGAIN))
            raise error


def _row(purpose: Purpose, model: str, spend: Spend, now: datetime) -> dict[str, Any]:
    return {
        "hour": now.replace(minute=0, second=0, microsecond=0),
        "purpose": str(purpose),
        "model": model,
        "calls": spend.calls,
        "input_tokens": spend.input_tokens,
        "output_tokens": spend.output_tokens,
        "cost": spend.cost or 0.0,
    }


def usage_since(engine: Engine, since: datetime) -> Sequence[Row[Any]]:
    """Purpose, model, calls, input and output tokens and cost since the hour of `since`; may raise `Retriable`."""
    columns = (_u.calls, _u.input_tokens, _u.output_tokens, _u.cost)
    sums = [cast(func.sum(column), column.type).label(column.name) for column in columns]
    query = (
        select(_u.purpose, _u.model, *sums)
        .where(_u.hour >= since.replace(minute=0, second=0, microsecond=0))
        .group_by(_u.purpose, _u.model)
        .order_by(_u.purpose, _u.model)
    )
    with retriable(), engine.connect() as connection:
        return connection.execute(query).all()
