"""What a rule on ranks remembers of one source: histories of its answers, the wealth of the bets, and the alarm."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, cast
from zlib import compress, decompress

import numpy as np

from monitor.alert.answers import Floats
from monitor.alert.methods.method import Memory
from monitor.alert.methods.ranks import NOTHING, STAKES, empty_history
from monitor.alert.window import MINUTE, gone_by
from monitor.core.model import Json

OVER_AFTER = timedelta(days=1)  # a change without answers for this long is forgotten
USUAL_AFTER = timedelta(days=7)  # an alert that fired for this long resolves: what it fired about is the past now
_BETTORS = len(STAKES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What each bettor takes for the change: since when, in seconds since 1970, and the units and bad units since then.

    `evidence` is log Π e since then, at least 0. All have the shape (bettors,).
    """

    evidence: Floats = field(default_factory=lambda: np.zeros(_BETTORS))
    since: Floats = field(default_factory=lambda: np.zeros(_BETTORS))
    units: Floats = field(default_factory=lambda: np.zeros(_BETTORS))
    worst: Floats = field(default_factory=lambda: np.zeros(_BETTORS))

    def after(self, factors: Floats, at: Floats, worst: Floats) -> Change:
        """The change after m units; where the evidence of a bettor was used up, it begins anew. Shapes (m, …)."""
        path = self.evidence + np.concatenate([np.zeros((1, _BETTORS)), np.cumsum(factors, axis=0)])
        before = path[:-1]
        lowest = len(before) - 1 - np.argmin(before[::-1], axis=0)  # the last one
        low = np.take_along_axis(before, lowest[np.newaxis], axis=0)[0]
        anew = low <= 0
        first = np.where(anew, lowest, 0)
        bad = np.concatenate([[0.0], np.cumsum(worst)])
        return Change(
            evidence=np.maximum(np.where(anew, path[-1] - low, path[-1]), 0.0),
            since=np.where(anew, at[first], self.since),
            units=np.where(anew, 0.0, self.units) + len(factors) - first,
            worst=np.where(anew, 0.0, self.worst) + bad[-1] - bad[first],
        )

    def going_on(self, worst: Floats) -> Change:
        """The change of an alert that fires, after m more units."""
        return replace(self, units=self.units + len(worst), worst=self.worst + worst.sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class Watch:
    """The memory of one source: a history for each topic, the wealth of the bets, and the alarm.

    `leader` is the bettor who was right when the alert fired, None while it does not fire; `fell` is how far its
    evidence is below its highest since then (log, ≤ 0), `alarm` the log of the statistic at the alarm. While the alert
    fires, new answers wait in `waiting` before they join the history: a past that absorbs the fault would hide it.
    Topics that are not in `histories` were first seen while it fires.
    """

    histories: Mapping[str, Floats]
    log_wealth: Floats
    looked_at: datetime
    change: Change
    leader: int | None = None
    fell: float = 0.0
    alarm: float = 0.0
    fired_at: datetime | None = None
    waiting: Mapping[str, Floats] = field(default_factory=dict)

    @property
    def units(self) -> float:
        """How many answers the history holds; a conversation counts as one."""
        return float(sum(history.sum() for history in self.histories.values()))

    @property
    def compared(self) -> dict[str, Floats]:
        """What a new answer is ranked in, by topic: the history; of a topic without one, the answers that wait."""
        return {**self.waiting, **self.histories}

    def as_of(self, now: datetime) -> Watch:
        """The memory at `now`: a change that is over by the passing of time is forgotten."""
        known = replace(self, looked_at=min(self.looked_at, now))  # a clock that ran ahead was set back
        lasted = self.fired_at is not None and gone_by(self.fired_at, now) >= USUAL_AFTER
        return known.anew() if lasted or now - known.looked_at >= OVER_AFTER else known

    def anew(self) -> Watch:
        """Without evidence or alarm, and with all answers in the history."""
        return Watch(
            histories=added(self.histories, self.waiting),
            log_wealth=NOTHING,
            looked_at=self.looked_at,
            change=Change(),
        )

    def to_json(self) -> dict[str, Json]:
        """The stored form, which `from_json` reads."""
        return {
            "histories": {topic: _packed(history) for topic, history in self.histories.items()},
            "log_wealth": None if np.isneginf(self.log_wealth).all() else [float(v) for v in self.log_wealth],
            "looked_at": self.looked_at.isoformat(),
            "change": {name: [float(v) for v in getattr(self.change, name)] for name in _CHANGE},
            "leader": self.leader,
            "fell": self.fell,
            "alarm": self.alarm,
            "fired_at": None if self.fired_at is None else self.fired_at.isoformat(),
            "waiting": {topic: _packed(history) for topic, history in self.waiting.items()},
        }

    @classmethod
    def from_json(cls, stored: Memory) -> Watch:
        """Reads what `to_json` returns."""
        known = cast("dict[str, Any]", stored)
        return cls(
            histories={topic: _unpacked(text) for topic, text in known["histories"].items()},
            log_wealth=NOTHING if known["log_wealth"] is None else np.array(known["log_wealth"]),
            looked_at=datetime.fromisoformat(known["looked_at"]),
            change=Change(**{name: np.array(known["change"][name]) for name in _CHANGE}),
            leader=known["leader"],
            fell=known["fell"],
            alarm=known["alarm"],
            fired_at=None if known["fired_at"] is None else datetime.fromisoformat(known["fired_at"]),
            waiting={topic: _unpacked(text) for topic, text in known["waiting"].items()},
        )


_CHANGE = ("evidence", "since", "units", "worst")


def begun(now: datetime) -> Watch:
    """The memory of a source without answers; the first look counts as a minute."""
    return Watch(histories={}, log_wealth=NOTHING, looked_at=now - MINUTE, change=Change())


def added(histories: Mapping[str, Floats], more: Mapping[str, Floats]) -> dict[str, Floats]:
    """The sums by topic, in arrays of their own."""
    return {
        topic: histories.get(topic, 0.0) + more.get(topic, 0.0) + empty_history() for topic in {**histories, **more}
    }


def _packed(history: Floats) -> str:
    return b64encode(compress(history.astype("<f8").tobytes(), 1)).decode()


def _unpacked(text: str) -> Floats:
    return np.frombuffer(decompress(b64decode(text)), dtype="<f8").copy()
