"""Answers of a server that limits how often it is asked."""

from __future__ import annotations

from tests.servers.llm import (
    refusal,
)

TRIES = 4
DATED = {"Date": "Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After": "Wed, 21 Oct 2015 07:28:20 GMT"}
LIMIT = refusal(429, "Rate limit reached").body
