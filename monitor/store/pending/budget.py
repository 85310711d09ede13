"""What calls of language models used, by the hour: the `Budget` that all processes share."""

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
_REMEMBERED = timedelta(seconds=5)  # that the budget is spent: hundreds of calls a second need not all ask for it
_u = llm_usage.c
# One transaction follows the other on the same row; what a crash of the server loses of them is a fraction of a second.
# Whoever halts in the middle holds up the others for seconds only.
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
    """At most so much of `what` (`calls`, `tokens`, `cost`) in every `hour` or `day` (of UTC)."""

    what: str
    per: str
    most: float

    def begins(self, now: datetime) -> datetime:
        """The beginning of the hour or day."""
        hour = now.replace(minute=0, second=0, microsecond=0)
        return hour if self.per == "hour" else hour.replace(hour=0)

    def ends(self, now: datetime) -> datetime:
        """Its end, when there is something left again."""
        return self.begins(now) + (timedelta(hours=1) if self.per == "hour" else timedelta(days=1))


class PostgresBudget(Budget):
    """The `Budget` port on PostgreSQL.

    A call is taken in one transaction under a lock, so that no number of processes takes more calls than there are;
    tokens and cost are known only after a call, so they go beyond their limit by those of the calls in flight at most.
    `shares` are the parts of every limit that a purpose may use, all purposes' use counted: 1 where it has none.
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
                if spent + 1 > most:  # and not only too little for so many calls
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
