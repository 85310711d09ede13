"""The `Budget` port on PostgreSQL: limits the calls of language models, and counts their use by the hour."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from sqlalchemy import Connection, Engine, Row, cast, func, select, text
from typing_extensions import override

from monitor.assess.llm.exchange import BudgetSpent, Purpose, Spend
from monitor.assess.ports import Budget
from monitor.store.database import retriable
from monitor.store.tables.interactions import llm_usage

USAGE_LOCK = 7_305_104
_REMEMBERED = timedelta(seconds=5)  # how long a spent budget is cached, so that not every call asks the database
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
        coalesce(sum(cost), 0) AS cost_per_day, coalesce(sum(calls) FILTER (WHERE hour >= :hour), 0) AS calls_per_hour,
        coalesce(sum(input_tokens + output_tokens) FILTER (WHERE hour >= :hour), 0) AS tokens_per_hour,
        coalesce(sum(cost) FILTER (WHERE hour >= :hour), 0) AS cost_per_hour
    FROM llm_usage WHERE hour >= :day
""")
_ADD = text("""
    INSERT INTO llm_usage AS u (hour, purpose, model, calls, input_tokens, output_tokens, cost)
    VALUES (:hour, :purpose, :model, :calls, :input_tokens, :output_tokens, :cost)
    ON CONFLICT (hour, purpose, model) DO UPDATE SET calls = u.calls + excluded.calls, cost = u.cost + excluded.cost,
        input_tokens = u.input_tokens + excluded.input_tokens,
        output_tokens = u.output_tokens + excluded.output_tokens
""")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """At most `most` of `what` (`calls`, `tokens`, `cost`) per `hour` or `day` (of UTC)."""

    what: str
    per: str
    most: float

    def begins(self, now: datetime) -> datetime:
        """The beginning of the current hour or day."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        return hour if self.per == "hour" else hour.replace(hour=0)

    def ends(self, now: datetime) -> datetime:
        """The end of the current hour or day, when the budget is available again."""
        return self.begins(now) + (timedelta(hours=1) if self.per == "hour" else timedelta(days=1))


class PostgresBudget(Budget):
    """A budget that all processes share.

    Calls are taken in a transaction under a lock, so that all processes together never exceed the limit of calls.
    Tokens and cost are known only after a call: they may exceed their limit by those of the calls in flight. `shares`
    says up to which share of every limit, with the use of all purposes counted, a purpose may take calls; 1 by default.
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
    def take(self, purpose: Purpose, model: str, *, calls: int = 1) -> None:
        now = self._now()
        with self._lock:
            known = self._spent.get(purpose)
        if known is not None and now < known[0]:
            raise BudgetSpent(str(known[1]), retry_after=known[1].retry_after)
        with retriable(), self._engine.begin() as connection:
            connection.execute(_QUICKLY)
            if self._limits:
                connection.execute(_ALONE)
                self._check(connection, purpose, calls, now)
            connection.execute(_ADD, _row(purpose, model, Spend(calls=calls), now))

    @override
    def count(self, purpose: Purpose, model: str, spend: Spend) -> None:
        counted = Spend(input_tokens=spend.input_tokens, output_tokens=spend.output_tokens, cost=spend.cost)
        with retriable(), self._engine.begin() as connection:
            connection.execute(_QUICKLY)
            connection.execute(_ADD, _row(purpose, model, counted, self._now()))

    def _check(self, connection: Connection, purpose: Purpose, calls: int, now: datetime) -> None:
        share = self._shares.get(purpose, 1.0)
        begins = {per: Limit(what="calls", per=per, most=0).begins(now) for per in ("hour", "day")}
        used = connection.execute(_USED, begins).mappings().one()
        for limit in self._limits:
            spent, most = float(used[f"{limit.what}_per_{limit.per}"]), limit.most * share
            if spent >= most or (limit.what == "calls" and spent + calls > most):
                wait = (limit.ends(now) - now).total_seconds()
                part = "" if share == 1.0 else f" ({share:.0%} of it for the {purpose})"
                error = BudgetSpent(
                    f"the budget of {limit.most:,g} {limit.what} per {limit.per}{part} is spent", retry_after=wait
                )
                if spent + 1 > most:  # not even one call is left
                    with self._lock:
                        self._spent[purpose] = (min(now + _REMEMBERED, limit.ends(now)), error)
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
