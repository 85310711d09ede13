"""What calls of language models used, by the hour: the `Budget` that all processes share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from sqlalchemy import Engine, Row, cast, func, select, text
from sqlalchemy.dialects import postgresql

from monitor.llm.exchange import BudgetSpent, Purpose, Spend
from monitor.store.database import retriable
from monitor.store.tables import llm_usage

USAGE_LOCK = 7_305_104
_REMEMBERED = timedelta(seconds=5)  # that the budget is spent: hundreds of calls a second need not all ask for it
_u = llm_usage.c


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


class PostgresBudget:
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

    def take(self, purpose: Purpose, model: str, *, calls: int = 1) -> None:
        """See `Budget.take`."""
        now = self._now()
        with self._lock:
            known = self._spent.get(purpose)
        if known is not None and now < known[0]:
            raise BudgetSpent(str(known[1]), retry_after=known[1].retry_after)
        with retriable(), self._engine.begin() as connection:
            if self._limits:
                connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": USAGE_LOCK})
                self._check(connection, purpose, calls, now)
            connection.execute(_added(purpose, model, Spend(calls=calls), now))

    def count(self, purpose: Purpose, model: str, spend: Spend) -> None:
        """See `Budget.count`."""
        counted = Spend(input_tokens=spend.input_tokens, output_tokens=spend.output_tokens, cost=spend.cost)
        with retriable(), self._engine.begin() as connection:
            connection.execute(_added(purpose, model, counted, self._now()))

    def _check(self, connection: Any, purpose: Purpose, calls: int, now: datetime) -> None:
        share = self._shares.get(purpose, 1.0)
        for limit in self._limits:
            used = _used(connection, limit, now)
            if used + (calls if limit.what == "calls" else 0) > limit.most * share or used >= limit.most * share:
                wait = (limit.ends(now) - now).total_seconds()
                part = "" if share == 1.0 else f" ({share:.0%} of it for the {purpose})"
                error = BudgetSpent(
                    f"the budget of {limit.most:,g} {limit.what} per {limit.per}{part} is spent", retry_after=wait
                )
                with self._lock:
                    self._spent[purpose] = (min(now + _REMEMBERED, limit.ends(now)), error)
                raise error


def _used(connection: Any, limit: Limit, now: datetime) -> float:
    columns = {"calls": _u.calls, "tokens": _u.input_tokens + _u.output_tokens, "cost": _u.cost}
    query = select(func.coalesce(func.sum(columns[limit.what]), 0)).where(_u.hour >= limit.begins(now))
    return float(connection.scalar(query))


def _added(purpose: Purpose, model: str, spend: Spend, now: datetime) -> postgresql.Insert:
    values = {
        "hour": now.replace(minute=0, second=0, microsecond=0), "purpose": str(purpose), "model": model,
        "calls": spend.calls, "input_tokens": spend.input_tokens, "output_tokens": spend.output_tokens,
        "cost": spend.cost or 0.0,
    }  # fmt: skip
    insert = postgresql.insert(llm_usage).values(values)
    added = {name: _u[name] + insert.excluded[name] for name in ("calls", "input_tokens", "output_tokens", "cost")}
    return insert.on_conflict_do_update(index_elements=["hour", "purpose", "model"], set_=added)


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
