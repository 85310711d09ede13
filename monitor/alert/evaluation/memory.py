"""The memory of a rule between two evaluations, and the result of one evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.alert.methods.method import Memory
from monitor.alert.state import Transition
from monitor.alert.target import Baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesMemory:
    """The memory of one set of labels: the last time with answers, the memory of the method, the baseline."""

    labels: Mapping[str, str]
    seen_at: datetime
    memory: Memory | None = None
    baseline: Baseline | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMemory:
    """The memory of one rule. `until` is the time of the last evaluation, `place` that of the last answer it read.

    `failing_since`: every evaluation since then has failed; the store derives it from `Round.error`.
    """

    until: datetime | None = None
    place: int | None = None
    learnt_at: datetime | None = None
    failing_since: datetime | None = None
    by_fingerprint: Mapping[str, SeriesMemory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The result of one evaluation of one rule, saved in one transaction.

    `stale`: reading was behind, so nothing was evaluated. `error` says why the evaluation failed. `remembered` has only
    the changed entries, `forgotten` the fingerprints that have had no answers for a long time.
    """

    rule: str
    rule_digest: str
    at: datetime
    memory: RuleMemory
    transitions: tuple[Transition, ...] = ()
    remembered: Mapping[str, SeriesMemory] = field(default_factory=dict)
    forgotten: tuple[str, ...] = ()
    stale: bool = False
    error: str | None = None
