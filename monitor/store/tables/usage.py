"""The columns of both rollups for latency, tokens and cost."""

from __future__ import annotations

from typing import Any

from sqlalchemy import BigInteger, Column, Numeric, text
from sqlalchemy.dialects.postgresql import ARRAY

QUANTITIES = ("latency", "input_tokens", "output_tokens", "tokens", "cost")
PARTS = {"latency": 10**6, "cost": 10**9}  # the sums count these parts of a second and of the currency
LATENCY = "latency_bins"


def usage_columns() -> tuple[Column[Any], ...]:
    """New columns for a table; the sums are whole numbers of `PARTS`, and never null."""
    zero = text("0")
    return (
        *(Column(f"{name}_count", BigInteger, server_default=zero) for name in QUANTITIES),
        *(Column(f"{name}_{sums}", Numeric, server_default=zero) for sums in ("sum", "squares") for name in QUANTITIES),
        Column(LATENCY, ARRAY(BigInteger)),  # `monitor.core.figures.latency` has their edges; null: no latency is known
    )
