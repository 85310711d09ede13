"""What a rule is: frozen, and independent of the file it came from (`rules_file.py`)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import Literal, TypeAlias

from monitor.model import Reason, Verdict

Label: TypeAlias = Literal["app", "environment", "model", "topic"]
Severity: TypeAlias = Literal["critical", "warning", "info"]

LABELS: tuple[Label, ...] = ("app", "environment", "model", "topic")
SIGNALS = ("negative", *(verdict.value for verdict in Verdict), *(reason.value for reason in Reason))


@dataclass(frozen=True, slots=True, kw_only=True)
class Selector:
    """Which answers a rule counts: those with one of the values of every label; an empty tuple is any value."""

    app: tuple[str, ...] = ()
    environment: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """When to tell whom: the share of answers that show `signal`, over `window`, per combination of the `by` labels.

    `signal` is `negative`, a `Verdict` or a `Reason`. `receivers` None is every receiver that is configured.
    """

    name: str
    signal: str
    above: float
    window: timedelta
    for_: timedelta = timedelta()
    min_samples: int = 30
    confident: bool = False  # fires when the Wilson lower bound exceeds `above`, not the rate itself
    selector: Selector = Selector()
    by: tuple[Label, ...] = ("app",)
    method: str = "threshold"
    severity: Severity = "warning"
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)
    receivers: tuple[str, ...] | None = None

    @property
    def digest(self) -> str:
        """Identity of what is measured: name, selector, grouping, signal and method, 16 hex digits.

        An alert belongs to the digest, so one whose rule came to measure something else is resolved, not carried over.
        Threshold, window, severity and receivers may be tuned without losing the alerts.
        """
        measured = [self.name, asdict(self.selector), self.by, self.signal, self.method]
        return hashlib.sha256(json.dumps(measured, sort_keys=True).encode()).hexdigest()[:16]
