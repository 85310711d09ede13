"""Fires when answers rank worse among the earlier ones of their source than chance allows; `ranks.py` has the proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from math import exp, log
from typing import ClassVar

import numpy as np
from typing_extensions import override

from monitor.alert.answers import OTHER, AnswerBatch, Floats
from monitor.alert.methods.method import Memory, Method, WrongParameter, require_window
from monitor.alert.methods.ranks import (
    NOTHING,
    WORST,
    Ranked,
    empty_history,
    log_factors,
    log_statistic,
    rank,
    ranked,
    wealth_path,
)
from monitor.alert.methods.watch import Watch, added, begun
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import HOUR, MINUTE, Counts, Observation, Outcome
from monitor.core.figures.proportions import wilson
from monitor.core.text.duration import spelled
from monitor.core.text.plain import moment

MOST_TOPICS = 32  # with a history of their own; the answers of further ones share one
TELLING = 500  # answers from which on a quiet source counts as normal; before, the past says too little
LONGEST_WAIT = HOUR  # a longer silence counts as this long, so that time alone raises no alarm
ENDS_AT = -log(10_000)  # an alert resolves when the evidence has fallen to this part of its highest since the alarm
# The bound is nearly sharp, and a promise that is just kept looks broken half of the time. Three times the line makes
# false alarms a third, and delays true ones by about a tenth.
MARGIN = 3.0
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shift(Method):
    """Breaching from when the evidence for worse answers reaches its line, until it is gone, at most for a week.

    As long as answers do not change, a false alarm comes once in `false_alarm_every` on average, or more rarely, for
    each source. It needs no target. After a `window` without an answer it has no data.
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
    def observe(
        self, counts: Counts, *, signal: Signal, bound: float, memory: Memory | None, now: datetime
    ) -> tuple[Observation, Memory | None]:
        """Ranks the new answers. `value` is the share of the answers since the change among the worst tenth."""
        watch = (begun(now) if memory is None else Watch.from_json(memory)).as_of(now)
        silent = now - watch.looked_at
        if counts.answers is not None:
            watch = self.look(watch, counts.answers, now)
        return self._observation(watch, counts, now, silent=silent), watch.to_json()

    def look(self, before: Watch, answers: AnswerBatch, now: datetime) -> Watch:
        """The memory after the new answers, of which there is at least one."""
        known = before.compared
        histories = added(known, {})
        units = _ranked(histories, answers)
        waited = min(max(now - before.looked_at, _INSTANT), LONGEST_WAIT) / MINUTE
        factors = log_factors(units.payoffs)
        # a time from far away says nothing about when the answers became worse
        at = np.clip(answers.at[units.last], (now - _DAY).timestamp(), now.timestamp())
        if before.leader is not None:
            new = {topic: history - known.get(topic, 0.0) for topic, history in histories.items()}
            seen = replace(before, waiting=added(before.waiting, new), looked_at=now)
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
            return known if watch.units >= TELLING else f"only {known}; a change shows from about {TELLING} on"
        minutes = min(exp(min(watch.alarm, log(100 * self.line))), 100 * self.line)
        since = min(datetime.fromtimestamp(watch.change.since[leader], UTC), now)
        waiting = sum(history.sum() for history in watch.waiting.values())
        earlier = max(watch.units + waiting - watch.change.units[leader], 0.0)
        return (
            f"worse since about {moment(since)} than the {earlier:,.0f} answers before; chance alone would show this "
            f"at most once in {spelled(timedelta(minutes=minutes))}"
        )


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
