"""How long interactions are kept: from what the settings say to the moment before which rows of a kind go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from monitor.core.duration import parse_duration
from monitor.core.errors import WrongSettings
from monitor.core.model import Verdict
from monitor.core.settings.privacy import RetentionSettings

FOREVER = "forever"
_LONGEST = timedelta(days=36_500)


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


def policy_of(settings: RetentionSettings) -> Policy:
    """What the settings say: of an app before what is said of all, and there of a verdict before `keep`.

    Raises:
        WrongSettings: a length of time is none, or 0.
    """
    where = "MONITOR_RETENTION__"
    keep = _length(f"{where}KEEP", settings.keep)
    by_verdict = {v: _length(f"{where}BY_VERDICT: {v}", text) for v, text in settings.by_verdict.items()}
    by_app = {}
    for app, own in settings.by_app.items():
        place = f"{where}BY_APP: {app}"
        own_verdicts = {v: _length(f"{place}: {v}", text) for v, text in own.by_verdict.items()}
        if own.keep is None:
            by_app[app] = Keeping(keep=keep, by_verdict={**by_verdict, **own_verdicts})
        else:
            by_app[app] = Keeping(keep=_length(f"{place}: keep", own.keep), by_verdict=own_verdicts)
    return Policy(others=Keeping(keep=keep, by_verdict=by_verdict), by_app=by_app)


def _length(name: str, text: str | None) -> timedelta | None:
    if text is None or text == FOREVER:
        return None
    try:
        length = parse_duration(text, longest=_LONGEST)
    except ValueError as error:
        raise WrongSettings(f"{name}: {error}; or write {FOREVER}") from None
    if not length:
        raise WrongSettings(f"{name}: keeps nothing at all")
    return length
