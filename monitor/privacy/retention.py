"""Retention: turns the configured lengths of time into the times before which rows are removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from monitor.core.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """Lengths of time; None is forever. An interaction without an assessment has no verdict and is kept for `keep`."""

    keep: timedelta | None = None
    by_verdict: Mapping[Verdict, timedelta | None] = field(default_factory=dict)

    def of(self, verdict: Verdict | None) -> timedelta | None:
        return self.keep if verdict is None else self.by_verdict.get(verdict, self.keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOff:
    """Interactions of `app` with `verdict` (None: not assessed) that occurred before `before` are removed."""

    app: str
    verdict: Verdict | None
    before: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How long data is kept: `by_app`, and `others` for every app that is not listed there."""

    others: Keeping = field(default_factory=Keeping)
    by_app: Mapping[str, Keeping] = field(default_factory=dict)

    @property
    def limited(self) -> bool:
        """Whether anything is removed at all."""
        lengths = (
            length
            for keeping in (self.others, *self.by_app.values())
            for length in (keeping.keep, *keeping.by_verdict.values())
        )
        return any(length is not None for length in lengths)

    def cut_offs(self, apps: Iterable[str], now: datetime) -> list[CutOff]:
        """One for each app and verdict that is not kept forever."""
        found = []
        for app in apps:
            keeping = self.by_app.get(app, self.others)
            for verdict in (*Verdict, None):
                length = keeping.of(verdict)
                if length is not None:
                    found.append(CutOff(app=app, verdict=verdict, before=now - length))
        return found
