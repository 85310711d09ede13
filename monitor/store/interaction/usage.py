"""Reads from the rollups what answers used: latency, tokens and cost."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Table, func, select

from monitor.core.figures.usage import Amount, AnswerUsage
from monitor.store.tables.signals import time_of
from monitor.store.tables.usage import LATENCY, PARTS, QUANTITIES


def read_usage(
    connection: Connection,
    rollup: Table,
    start: datetime,
    end: datetime,
    *,
    by: Sequence[str],
    app: str | None,
) -> dict[tuple[str, ...], AnswerUsage]:
    """What the answers of [start, end) used, by the labels `by`, from `rollup`."""
    c, at = rollup.c, time_of(rollup)
    names = [c[name] for name in by]
    columns = ("total", "grounded", *(f"{name}_{sums}" for name in QUANTITIES for sums in ("count", "sum")))
    sums = [func.sum(c[name]).label(name) for name in columns]
    query = select(*names, *sums, func.sum_bins(c[LATENCY]).label(LATENCY)).where(at >= start, at < end)
    if app is not None:
        query = query.where(c.app == app)
    rows = connection.execute(query.group_by(*names).having(func.sum(c.total) > 0)).mappings()
    return {tuple(row[name] for name in by): _usage(row) for row in rows}


def _usage(row: Any) -> AnswerUsage:
    amounts = {
        name: Amount(answers=int(row[f"{name}_count"]), sum=float(row[f"{name}_sum"]) / PARTS.get(name, 1))
        for name in QUANTITIES
    }
    return AnswerUsage(
        answers=int(row["total"]),
        grounded=int(row["grounded"]),
        latency_bins=tuple(row[LATENCY] or ()),
        **amounts,
    )
