"""Settings of what takes spans and events: when traces close, how much is kept, and where requests are taken."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from monitor.core.settings.sections import Section

_Port = Annotated[int, Field(ge=0, lt=65_536)]


class CollectSettings(Section):
    """`monitor collect`: OTLP and events by HTTP and gRPC, and traces on their way to turns, from wherever they come."""

    host: str = Field("127.0.0.1", description="address on which requests are taken")
    port: _Port | None = Field(4318, description="OTLP and events by HTTP; empty: none")
    grpc_port: _Port | None = Field(4317, description="OTLP by gRPC; empty: none")
    close_after: float = Field(
        10.0, ge=0, le=3_600, description="seconds after which a trace closes whose root and answer have arrived"
    )
    idle: float = Field(
        90.0, ge=0, le=86_400, description="seconds without a new span after which any other trace closes"
    )
    longest: float = Field(1_800.0, gt=0, le=86_400, description="seconds after which a trace closes in any case")
    keep_parts: float = Field(
        3_600.0,
        ge=0,
        le=7 * 86_400,
        description="seconds for which the spans of a closed trace are kept, so that later ones can revise its turn",
    )
    remember: float = Field(
        86_400.0,
        gt=0,
        le=30 * 86_400,
        description="seconds for which it is remembered, without texts, that a trace was closed",
    )
    max_parts: int = Field(10_000, gt=0, description="spans and log records of one trace; more are refused")
    max_trace_bytes: int = Field(32 * 2**20, gt=0, description="bytes of one trace; more are refused")
    max_open: int = Field(100_000, gt=0, description="open traces; a request that would open more is to come again")
    max_bytes: int = Field(
        4 * 2**30, gt=0, description="bytes of all spans that are kept; a request with more is to come again"
    )
