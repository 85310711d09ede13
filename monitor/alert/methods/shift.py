"""Fires when answers rank worse among the earlier ones of their source than chance allows; `ranks.py` has the proof."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from math import exp, log
from typing import Any, ClassVar, cast
from zlib import compress, decompress

import numpy as np
from typing_extensions import override

from monitor.alert.answers import OTHER, AnswerBatch, Floats
from monitor.alert.methods.method import Memory, Method, WrongParameter, require_window
from monitor.alert.methods.ranks import (
    NOTHING,
    STAKES,
    WORST,
    Ranked,
    empty_history,
    log_factors,
    log_statistic,
    rank,
    ranked,
    wealth_path,
)
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import HOUR, MINUTE, Counts, Observation, Outcome, Span, gone_by, window_at
from monitor.core.duration import spelled
from monitor.core.model import Json
from monitor.core.proportions import wilson

MOST_TOPICS = 32  # with a history of their own; the answers of further ones share one
TELLING = 500  # answers from which on a quiet source counts as normal; before, the past says too little
LONGEST_WAIT = HOUR  # a longer silence counts as this long, so that time alone raises no alarm
OVER_AFTER = timedelta(days=1)  # a change without answers for this long is forgotten
USUAL_AFTER = timedelta(days=7)  # an alert that fired for this long resolves: what it fired about is the past now
ENDS_AT = -log(10_000)  # an alert resolves when the evidence has fallen to this part of its highest since the alarm
# The bound is nearly sharp, and a promise that is just kept looks broken half of the time. Twice the line halves the
# false alarms and delays true ones by about a twentieth.
MARGIN = 2.0
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)
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

    def as_of(self, now: datetime) -> Watch:
        """The memory at `now`: a change that is over by the passing of time is forgotten."""
        known = replace(self, looked_at=min(self.looked_at, now))  # a clock that ran ahead was set back
        lasted = self.fired_at is not None and gone_by(self.fired_at, now) >= USUAL_AFTER
        return known.anew() if lasted or now - known.looked_at >= OVER_AFTER else known

    def anew(self) -> Watch:
        """Without evidence or alarm, and with all answers in the history."""
        return Watch(
            histories=_added(self.histories, self.waiting),
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Method):
    """Breaching from when the evidence for worse answers reaches its line, until it is gone, at most for a week.

    As long as answers do not change, a false alarm comes once in `false_alarm_every` on average, or more rarely, for
    each source. It needs no target. `window` is for display only.
    """

    name: ClassVar[str] = "shift"
    takes: ClassVar[frozenset[SignalKind]] = frozenset({SignalKind.RANKS})

    false_alarm_every: timedelta = timedelta(weeks=10)
    window: timedelta = HOUR

    def __post_init__(self) -> None:
        require_window("window", self.window)
        if self.false_alarm_every < _DAY:
            raise WrongParameter("false_alarm_every", "must be 1d or longer")

    @property
    @override
    def target(self) -> Target:
        """The usual share of the answers that are among the worst tenth; no number that has to be known."""
        return Target(value=WORST)

    @property
    @override
    def promise(self) -> str:
        return (
            f"ranks among the source's own earlier answers: no target to know; at most one false alarm in "
            f"{spelled(self.false_alarm_every)} for each source"
        )

    @property
    def line(self) -> float:
        """The wealth that raises the alarm, in minutes."""
        return MARGIN * self.false_alarm_every / MINUTE

    @override
    def spans(self, now: datetime, *, lateness: timedelta, until: datetime | None) -> tuple[Span, ...]:
        """The display window."""
        return (window_at(now, self.window, timedelta()),)

    @override
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """Ranks the new answers. `value` is the share of the answers since the change among the worst tenth."""
        watch = (begun(now) if memory is None else Watch.from_json(memory)).as_of(now)
        silent = now - watch.looked_at
        if counts.answers is not None and len(counts.answers):
            watch = self.look(watch, counts.answers, now)
        return self._observation(watch, counts, now, silent=silent), watch.to_json()

    def look(self, before: Watch, answers: AnswerBatch, now: datetime) -> Watch:
        """The memory after the new answers, of which there is at least one."""
        histories = _added(before.histories, {})
        units = _ranked(histories, answers)
        waited = min(max(now - before.looked_at, _INSTANT), LONGEST_WAIT) / MINUTE
        factors = log_factors(units.payoffs)
        # a time from far away says nothing about when the answers became worse
        at = np.clip(answers.at[units.last], (now - _DAY).timestamp(), now.timestamp())
        if before.leader is not None:
            new = {topic: history - before.histories.get(topic, 0.0) for topic, history in histories.items()}
            seen = replace(before, waiting=_added(before.waiting, new), looked_at=now)
            return _while_firing(seen, factors, units, before.leader)
        seen = replace(before, histories=histories, looked_at=now)
        path = wealth_path(before.log_wealth, factors, waited / len(factors))
        statistic = log_statistic(path)
        change = before.change.after(factors, at, units.worst)
        if statistic.max() < log(self.line):
            return replace(seen, log_wealth=path[-1], change=change)
        leader = int(path[statistic.argmax()].argmax())
        return replace(
            seen, log_wealth=NOTHING, change=change, leader=leader, alarm=float(statistic.max()), fired_at=now
        )

    def _observation(self, watch: Watch, counts: Counts, now: datetime, *, silent: timedelta) -> Observation:
        leader = int(watch.change.evidence.argmax()) if watch.leader is None else watch.leader
        units, worst = round(watch.change.units[leader]), round(watch.change.worst[leader])
        lower, upper = wilson(min(worst, units), units)
        outcome = Outcome.NORMAL if watch.units >= TELLING else Outcome.UNSURE
        if counts.answers is None and silent > self.window:
            outcome = Outcome.NO_DATA
        elif watch.leader is not None:
            outcome = Outcome.BREACHING
        return Observation(
            labels=counts.labels,
            outcome=outcome,
            value=worst / units if units else None,
            samples=units,
            lower=lower,
            upper=upper,
            bound=WORST,
            detail=self._detail(watch, leader, now),
        )

    def _detail(self, watch: Watch, leader: int, now: datetime) -> str:
        if watch.leader is None:
            known = f"{watch.units:,.0f} earlier answers to compare with"
            return known if watch.units >= TELLING else f"only {known}; about {TELLING} are needed to see a change"
        minutes = min(exp(min(watch.alarm, log(100 * self.line))), 100 * self.line)
        since = min(datetime.fromtimestamp(watch.change.since[leader], UTC), now)
        return (
            f"changed, worse than {watch.units - watch.change.units[leader]:,.0f} earlier answers, since about "
            f"{since:%Y-%m-%d %H:%M} UTC; chance alone produces as much evidence at most once in "
            f"{spelled(timedelta(minutes=minutes))}"
        )


def begun(now: datetime) -> Watch:
    """The memory of a source without answers; the first look counts as a minute."""
    return Watch(histories={}, log_wealth=NOTHING, looked_at=now - MINUTE, change=Change())


def _ranked(histories: dict[str, Floats], answers: AnswerBatch) -> Ranked:
    """Ranks each answer in the history of its topic, and adds it there."""
    p = np.empty(len(answers))
    rows: dict[str, list[int]] = {}
    for row, topic in enumerate(answers.topics):
        own = topic
        if topic not in histories:
            own = topic if len(histories) < MOST_TOPICS else OTHER
            histories.setdefault(own, empty_history())
        rows.setdefault(own, []).append(row)
    for topic, found in rows.items():
        of = np.array(found)
        p[of] = rank(histories[topic], answers.bins[of], answers.units[of], answers.weights[of], answers.chances[of])
    return ranked(p, answers.units, answers.weights)


def _while_firing(seen: Watch, factors: Floats, units: Ranked, leader: int) -> Watch:
    """How far the leader's evidence has fallen from its highest; once it is gone, all begins anew."""
    path = seen.fell + np.cumsum(factors[:, leader])
    fell = path - np.maximum(np.maximum.accumulate(path), 0.0)
    if fell.min() <= ENDS_AT:
        return seen.anew()
    return replace(seen, fell=float(fell[-1]), change=seen.change.going_on(units.worst))


def _added(histories: Mapping[str, Floats], more: Mapping[str, Floats]) -> dict[str, Floats]:
    """The sums by topic, in arrays of their own."""
    return {
        topic: histories.get(topic, 0.0) + more.get(topic, 0.0) + empty_history() for topic in {**histories, **more}
    }


def _packed(history: Floats) -> str:
    return b64encode(compress(history.astype("<f8").tobytes(), 1)).decode()


def _unpacked(text: str) -> Floats:
    return np.frombuffer(decompress(b64decode(text)), dtype="<f8").copy()
