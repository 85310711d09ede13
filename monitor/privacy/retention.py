"""How long interactions are kept: from what the settings say to the moment before which rows of a kind go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from monitor.core.model import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Keeping:
    """For how long; None is forever. What is not assessed yet has no verdict, and is kept for `keep`."""

    keep: timedelta | None = None
    by_verdict: Mapping[Verdict, timedelta | None] = field(default_factory=dict)

    def of(self, verdict: Verdict | None) -> timedelta | None:
        """For how long answers of that verdict are kept."""
        return self.keep if verdict is None else self.by_verdict.get(verdict, self.keep)


@dataclass(frozen=True, slots=True, kw_only=True)
class CutOff:
    """Interactions of `app` with `verdict`, None: not assessed, that occurred before `before` go."""

    app: str
    verdict: Verdict | None
    before: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """What is kept for how long, in `by_app` or, where nothing is said of an app, in `others`."""

    others: Keeping = field(default_factory=Keeping)
    by_app: Mapping[str, Keeping] = field(default_factory=dict)

    @property
    def limited(self) -> bool:
        """Whether anything is not kept forever."""
        kept = (self.others, *self.by_app.values())
        return any(length is not None for one in kept for length in (one.keep, *one.by_verdict.values()))

    def cut_offs(self, apps: Iterable[str], now: datetime) -> list[CutOff]:
        """For each of the apps and each verdict whose answers are not kept forever."""
        found = []
        for app in apps:
            keeping = self.by_app.get(app, self.others)
            for verdict in (*Verdict, None):
                length = keeping.of(verdict)
                if length is not None:
                    found.append(CutOff(app=app, verdict=verdict, before=now - length))
        return found
