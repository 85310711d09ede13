"""Simulates counts of answers and of bad answers per minute, for whole weeks.

For rules, not for the pipeline: nothing is asked or answered here. Everything follows from the generator given.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

MINUTE = timedelta(minutes=1)
DAY_MINUTES = 24 * 60
WEEK_MINUTES = 7 * DAY_MINUTES
USUAL_RATE = 0.04


@dataclass(frozen=True, slots=True, kw_only=True)
class Traffic:
    """The rate of answers: `per_hour` on average over the week.

    Day and night swing by `day_swing` of the mean around it, lowest at three in the morning; Saturday and Sunday have
    `weekend` times the traffic. Bursts come every `burst_every` on average, last `burst_lasts` on average and
    multiply it by `burst_factor`.
    """

    per_hour: float
    day_swing: float = 0.0
    weekend: float = 1.0
    burst_factor: float = 1.0
    burst_every: timedelta = timedelta(days=1)
    burst_lasts: timedelta = timedelta(minutes=20)


@dataclass(frozen=True, slots=True, kw_only=True)
class HardTopic:
    """A topic with bursts of questions and worse answers: its own bad `rate`, and its share of the traffic.

    In a burst it has `share_in_burst` of the answers, else `share`. Bursts come every `every` and last `lasts`, both
    on average.
    """

    rate: float
    share: float
    share_in_burst: float
    every: timedelta
    lasts: timedelta

    @property
    def overall_share(self) -> float:
        """Its share of all answers in the long run."""
        bursting = self.lasts / (self.lasts + self.every)
        return bursting * self.share_in_burst + (1 - bursting) * self.share

    @property
    def rate_in_burst(self) -> float:
        """The rate over all topics while it bursts, where the rate of the whole is usual in the long run."""
        return self.share_in_burst * self.rate + (1 - self.share_in_burst) * self.rate_of_others

    @property
    def rate_of_others(self) -> float:
        """The rate of the other topics that makes the whole come to `USUAL_RATE`."""
        return (USUAL_RATE - self.overall_share * self.rate) / (1 - self.overall_share)


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """The rate of every topic rises to `factor` times the usual, over `ramp`, and falls back at once after `lasts`."""

    factor: float
    ramp: timedelta = timedelta()
    lasts: timedelta = timedelta(hours=12)


@dataclass(frozen=True, slots=True, kw_only=True)
class RateScenario:
    """The parameters of a simulated week; `description` is one line for people."""

    description: str
    traffic: Traffic
    hard_topic: HardTopic | None = None
    incident: Incident | None = None

    @property
    def rates(self) -> Floats:
        """The usual bad rate of each topic: of all, or of the hard topic and of the others."""
        topic = self.hard_topic
        return np.array([USUAL_RATE] if topic is None else [topic.rate, topic.rate_of_others])


@dataclass(frozen=True, slots=True, kw_only=True)
class MinuteCounts:
    """Answers and bad ones, each of shape (weeks, topics, minutes), and where each week's incident begins, if any.

    There is one topic, or two: the hard one and the others.
    """

    total: Ints
    bad: Ints
    begins: Ints | None

    @property
    def of_all_topics(self) -> tuple[Ints, Ints]:
        """Answers and bad ones, each of shape (weeks, minutes)."""
        return self.total.sum(axis=1), self.bad.sum(axis=1)


def minute_counts(
    scenario: RateScenario, *, weeks: int, rng: np.random.Generator, minutes: int = WEEK_MINUTES
) -> MinuteCounts:
    """`weeks` independent runs of `minutes`, each from Monday, 00:00.

    Answers come by Poisson's law around the traffic of the minute; each is bad with its topic's rate, independently.
    An incident begins at a random minute of the first week, after its first day and before its last.
    """
    expected = _expected(scenario.traffic, weeks, minutes, rng)
    topic = scenario.hard_topic
    if topic is None:
        shares = np.ones((1, 1, 1))
    else:
        bursting = _spells(topic.every, topic.lasts, weeks, minutes, rng)
        share = np.where(bursting, topic.share_in_burst, topic.share)
        shares = np.stack([share, 1 - share], axis=1)
    total = rng.poisson(expected[:, np.newaxis, :] * shares)
    rates = scenario.rates[:, np.newaxis]
    begins = None
    if scenario.incident is not None:
        begins = rng.integers(DAY_MINUTES, min(minutes, WEEK_MINUTES) - DAY_MINUTES, weeks)
        rates = rates * _factors(scenario.incident, begins, minutes)[:, np.newaxis, :]
    return MinuteCounts(total=total, bad=rng.binomial(total, np.minimum(rates, 1.0)), begins=begins)


def _expected(traffic: Traffic, weeks: int, minutes: int, rng: np.random.Generator) -> Floats:
    """Answers expected in each minute, (weeks, minutes)."""
    minute = np.arange(WEEK_MINUTES)
    swing = 1 - traffic.day_swing * np.cos(2 * np.pi * (minute - 3 * 60) / DAY_MINUTES)
    course = swing * np.where(minute >= 5 * DAY_MINUTES, traffic.weekend, 1.0)
    course *= traffic.per_hour / 60 / course.mean()
    expected = np.broadcast_to(course[np.arange(minutes) % WEEK_MINUTES], (weeks, minutes))
    if traffic.burst_factor == 1:
        return expected
    bursting = _spells(traffic.burst_every, traffic.burst_lasts, weeks, minutes, rng)
    in_burst = traffic.burst_lasts / (traffic.burst_lasts + traffic.burst_every)
    return expected * np.where(bursting, traffic.burst_factor, 1.0) / (1 + in_burst * (traffic.burst_factor - 1))


def _spells(
    every: timedelta, lasts: timedelta, weeks: int, minutes: int, rng: np.random.Generator
) -> NDArray[np.bool_]:
    """Whether a burst is on, (weeks, minutes): spells on and off by turns, of geometric lengths with these means."""
    on, off = lasts / MINUTE, every / MINUTE
    turns = 2 + 8 * int(minutes / (on + off) + 4)  # more than enough to fill the run
    lengths = np.empty((weeks, turns))
    lengths[:, ::2] = rng.geometric(1 / off, (weeks, turns // 2))
    lengths[:, 1::2] = rng.geometric(1 / on, (weeks, turns // 2))
    changes = np.zeros((weeks, minutes + 1), np.int64)
    ends = np.minimum(lengths.cumsum(axis=1).astype(np.int64), minutes)
    np.add.at(changes, (np.arange(weeks)[:, np.newaxis], ends), 1)
    on_now: NDArray[np.bool_] = changes[:, :minutes].cumsum(axis=1) % 2 == 1
    return on_now


def _factors(incident: Incident, begins: Ints, minutes: int) -> Floats:
    """The factor on each minute's rate, (weeks, minutes)."""
    since = np.arange(minutes) - begins[:, np.newaxis]
    ramp = max(incident.ramp / MINUTE, 1.0)
    risen = np.clip((since + 1) / ramp, 0.0, 1.0)
    during = (since >= 0) & (since < incident.lasts / MINUTE)
    return np.where(during, 1 + (incident.factor - 1) * risen, 1.0)


BURSTING_TOPIC = HardTopic(rate=0.25, share=0.02, share_in_burst=0.4, every=timedelta(days=2), lasts=timedelta(hours=1))


def flat(per_hour: float) -> Traffic:
    """A constant rate at all hours."""
    return Traffic(per_hour=per_hour)


def day_and_night(per_hour: float) -> Traffic:
    """Nine times as much in the afternoon as at night, half as much at weekends."""
    return Traffic(per_hour=per_hour, day_swing=0.8, weekend=0.5)


def with_bursts(per_hour: float) -> Traffic:
    """As `day_and_night`, and ten times as much for twenty minutes once a day."""
    return Traffic(per_hour=per_hour, day_swing=0.8, weekend=0.5, burst_factor=10.0)


SCENARIOS: Mapping[str, RateScenario] = {
    "quiet": RateScenario(description="4 % bad at 100 answers/h by day and night", traffic=day_and_night(100)),
    "small": RateScenario(description="4 % bad at 10 answers/h by day and night", traffic=day_and_night(10)),
    "large": RateScenario(description="4 % bad at 10,000 answers/h by day and night", traffic=day_and_night(10_000)),
    "bursts": RateScenario(description="4 % bad at 100 answers/h, with bursts of traffic", traffic=with_bursts(100)),
    "topics": RateScenario(
        description="4 % bad at 100 answers/h; every two days an hour of a topic that is 25 % bad",
        traffic=day_and_night(100),
        hard_topic=BURSTING_TOPIC,
    ),
    "half-more": RateScenario(
        description="as quiet, then 1.5 times as bad for half a day",
        traffic=day_and_night(100),
        incident=Incident(factor=1.5),
    ),
    "doubled": RateScenario(
        description="as quiet, then twice as bad for half a day",
        traffic=day_and_night(100),
        incident=Incident(factor=2),
    ),
    "fourfold": RateScenario(
        description="as quiet, then four times as bad for half a day",
        traffic=day_and_night(100),
        incident=Incident(factor=4),
    ),
    "creeping": RateScenario(
        description="as quiet, then rising to twice as bad over six hours, for a day",
        traffic=day_and_night(100),
        incident=Incident(factor=2, ramp=timedelta(hours=6), lasts=timedelta(days=1)),
    ),
}
