"""Settings of what chatbots send to us: addresses and limits, and when the spans of a trace are taken for whole."""

from __future__ import annotations

from pathlib import Path
from typing import Self

from pydantic import Field, field_validator, model_validator

from monitor.core.settings.sections import Port, Section


class TraceLimits(Section):
    """What bounds the traces that are kept, and when they close."""

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


class CollectSettings(TraceLimits):
    """`monitor collect`: OTLP and interactions over HTTP and gRPC. Without a token it serves this machine only."""

    host: str = Field("127.0.0.1", description="the address to listen on; 0.0.0.0: all of this machine")
    port: Port = Field(4318, description="HTTP; 0: any free one")
    grpc_port: Port | None = Field(4317, description="OTLP/gRPC; 0: any free one; off: not served")
    tls_certificate: Path | None = Field(None, description="PEM file with the chain; default: no TLS")
    tls_key: Path | None = Field(None, description="PEM file")
    max_body_bytes: int = Field(20 * 2**20, gt=0, description="of a request, decompressed")
    max_events: int = Field(10_000, gt=0, description="events in a request")
    max_requests: int = Field(64, gt=0, description="under way at a time; further ones get 503")
    max_request_bytes: int = Field(128 * 2**20, gt=0, description="of all requests under way")
    bytes_per_second: float = Field(8 * 2**20, gt=0, description="of each token, saved up for 10 s; beyond it 429")

    @field_validator("grpc_port", mode="before")
    @classmethod
    def _off(cls, value: object) -> object:
        return None if value == "off" else value

    @model_validator(mode="after")
    def _both(self) -> Self:
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ValueError("tls_certificate and tls_key go together")
        return self
