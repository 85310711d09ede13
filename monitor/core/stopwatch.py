"""How long the stages of the flow take: who does the work measures it, and an adapter keeps the figures."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Literal, TypeAlias

Stage = Literal[
    "read",  # waiting for messages and fetching them; polls that bring nothing do not count
    "decode",  # bytes to interactions
    "complete",  # finding supporting documents, or asking the sidecar for them; part of `assess`
    "encode",  # reading the wording of answers, and vectors of tokens and texts; part of `assess`
    "score",  # features, verdicts and diagnoses; part of `assess`
    "assess",  # interactions to assessments, with all repetitions while a provider is out of reach
    "store",  # the transaction, with all repetitions while the database is out of reach
    "seal",  # everything queued for the audit trail
]
Observe: TypeAlias = Callable[[Stage, float], None]  # seconds of one batch


def unobserved(_stage: Stage, _seconds: float) -> None:
    """Keeps nothing."""


class Stopwatch:
    """Tells `observe` how long each stage of one batch took; runs from its making. For one thread.

    A stage that fails is not told.
    """

    def __init__(self, observe: Observe, *, clock: Callable[[], float] = perf_counter) -> None:
        self._observe = observe
        self._clock = clock
        self._began = clock()

    def lap(self, stage: Stage) -> None:
        """Ends `stage`, which began with the last lap; the next one begins now."""
        now = self._clock()
        self._observe(stage, now - self._began)
        self._began = now
