"""What bounds the traces that are kept, and when they close."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceLimits:
    """All times in seconds; the settings of `MONITOR_COLLECT__…` say what each is for."""

    close_after: float = 10.0
    idle: float = 90.0
    longest: float = 1_800.0
    keep_parts: float = 3_600.0
    remember: float = 86_400.0
    max_parts: int = 10_000
    max_trace_bytes: int = 32 * 2**20
    max_open: int = 100_000
    max_bytes: int = 4 * 2**30


DEFAULT_LIMITS = TraceLimits()
