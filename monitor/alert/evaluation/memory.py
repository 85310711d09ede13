"""What one evaluation of a rule leaves for the next, beside the alerts themselves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.alert.methods.method import Memory
from monitor.alert.state import Transition
from monitor.alert.target import Baseline


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesMemory:
    """Of one set of labels: when answers were last counted for it, what the method keeps, what is usual."""

    labels: Mapping[str, str]
    seen_at: datetime
    memory: Memory | None = None
    baseline: Baseline | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleMemory:
    """Of one rule: the evaluation before, when baselines were learnt, and what is remembered by fingerprint.

    `failing_since`: from then on every evaluation has failed; the store keeps it by the rounds' `error`.
    """

    until: datetime | None = None
    learnt_at: datetime | None = None
    failing_since: datetime | None = None
    by_fingerprint: Mapping[str, SeriesMemory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """One evaluation of one rule, to be saved in one transaction.

    `stale`: reading was behind, so nothing was evaluated. `error` says why it could not be. `remembered` are the
    changed ones only, `forgotten` fingerprints that have shown nothing for long.
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
