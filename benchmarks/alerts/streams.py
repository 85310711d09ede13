"""Streams of answers of the labelled files, and the rules on ranks and on flags that watch them, for `ranks.py`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from benchmarks.alerts import paths
from benchmarks.alerts.scored import ScoredApp
from monitor.alert.answers import AnswerBatch, bin_of, by_source
from monitor.alert.evaluation.answer_backtest import pieces
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.watch import begun
from monitor.alert.target import Baseline, HourSums, learn
from monitor.alert.window import Count
from monitor.store.alert.stored_answers import in_units

START = datetime(2026, 3, 2, tzinfo=UTC)  # a Monday
HOUR, DAY, WEEK = 3_600.0, 86_400.0, 604_800.0
TOPICS = 4

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """Answers in order: seconds since `START`, and for each its row in the app's file, off the question or not."""

    app: ScoredApp
    at: Floats
    rows: Ints
    off: NDArray[np.bool_]
    topics: Ints
    talks: Ints | None = None  # conversations
    copies: Ints | None = None  # equal where answers are repetitions

    def values(self, name: str) -> Floats:
        return np.where(self.off, self.app.off[name][self.rows], self.app.usual[name][self.rows])

    def batch(self, name: str, rng: np.random.Generator) -> AnswerBatch:
        """The answers as the rule for `name` reads them, each source's repetitions and conversations once."""
        values = self.values(name)
        known = np.flatnonzero(~np.isnan(values))
        if self.talks is not None or self.copies is not None:
            return self._in_units(name, values, known)
        table = {value: bin_of(name, value) for value in np.unique(values[known]).tolist()}
        return AnswerBatch(
            bins=np.array([table[value] for value in values[known].tolist()], dtype=np.int64),
            units=np.arange(len(known)),
            weights=np.ones(len(known)),
            chances=rng.random(len(known)),
            topics=tuple(map(str, self.topics[known].tolist())),
            at=START.timestamp() + self.at[known],
        )

    def _in_units(self, name: str, values: Floats, known: Ints) -> AnswerBatch:
        rows = [
            {
                "app": self.app.name,
                "id": str(i),
                "environment": "",
                "model": "",
                "topic": str(self.topics[i]),
                "occurred_at": START + timedelta(seconds=float(self.at[i])),
                "value": float(values[i]),
                "conversation": None if self.talks is None else str(self.talks[i]),
                "same": i if self.copies is None else int(self.copies[i]),
            }
            for i in known.tolist()
        ]
        (found,) = by_source(in_units(rows), ("app",), name, known=(), most=10).values()
        return found


def pages(method: Shift, answers: AnswerBatch, *, step: float = HOUR, until: float | None = None) -> list[float]:
    """The seconds since `START` at which the rule began to fire; with `until`, only up to the first one after it."""
    watch, found = begun(START), []
    for start, end in pieces(answers.at, step):
        now = datetime.fromtimestamp(answers.at[end - 1], UTC)
        before = watch.leader
        watch = method.look(watch.as_of(now), answers.part(start, end), now)
        if before is None and watch.leader is not None:
            found.append(float(answers.at[end - 1]) - START.timestamp())
            if until is not None and found[-1] > until:
                break
    return found


def flag_pages(
    method: Sequential, streams: Sequence[Stream], learnt: Sequence[int], margin: float = 0.0
) -> list[list[float]]:
    """When `sequential` on the rate of flags began to fire, each baseline learnt from the first `learnt` answers."""
    flags = [stream.values("flagged") for stream in streams]
    targets = [
        baseline_of(stream.at[:n], values[:n]).upper + margin
        for stream, values, n in zip(streams, flags, learnt, strict=True)
    ]
    minutes = [
        ((stream.at[n:] - stream.at[n]) // 60).astype(np.int64) for stream, n in zip(streams, learnt, strict=True)
    ]
    longest = max(int(of.max()) for of in minutes) + 1
    total = np.stack([np.bincount(of, minlength=longest) for of in minutes])
    bad = np.stack(
        [
            np.bincount(of, weights=values[n:], minlength=longest)
            for of, values, n in zip(minutes, flags, learnt, strict=True)
        ]
    ).astype(np.int64)
    fires = paths.sequential(method, bad, total, np.array(targets))
    begins = fires & ~np.concatenate([np.zeros_like(fires[:, :1]), fires[:, :-1]], axis=1)
    return [
        (stream.at[n] + 60.0 * (np.flatnonzero(of) + 1)).tolist()
        for stream, n, of in zip(streams, learnt, begins, strict=True)
    ]


def baseline_of(at: Floats, flags: Floats) -> Baseline:
    hour = (at // HOUR).astype(np.int64)
    n, k = np.bincount(hour), np.bincount(hour, weights=flags)
    counts = [Count(total=int(a), sum=float(b), squares=float(b)) for a, b in zip(n, k, strict=True)]
    found = learn(HourSums.of({}, counts), START)
    assert found is not None
    return found


def times(shape: str, per_hour: float, seconds: float, rng: np.random.Generator) -> Floats:
    """When answers come: evenly, or nine times as many by day as at night, or that with daily bursts of 20 minutes."""
    if shape == "flat":
        return np.sort(rng.random(rng.poisson(per_hour * seconds / HOUR))) * seconds
    at = rng.random(rng.poisson(1.8 * per_hour * seconds / HOUR)) * seconds
    at = at[rng.random(len(at)) * 1.8 < 1 - 0.8 * np.cos(2 * np.pi * (at - 3 * HOUR) / DAY)]
    if shape == "bursts":
        days = np.arange(int(seconds // DAY))
        begins = days * DAY + rng.random(len(days)) * (DAY - 1_200)
        many = rng.poisson(9 * per_hour / 3, len(days))
        at = np.concatenate([at, np.repeat(begins, many) + rng.random(many.sum()) * 1_200])
    return np.sort(at)


def chosen(app: ScoredApp, bad: NDArray[np.bool_], rng: np.random.Generator) -> Ints:
    """A row of the file for each answer, drawn among the bad or the good ones."""
    of_good = np.flatnonzero(app.good)
    of_bad = np.flatnonzero(app.bad) if app.bad.any() else of_good  # a file without bad answers has none to draw
    return np.where(bad, rng.choice(of_bad, len(bad)), rng.choice(of_good, len(bad)))


def quiet(app: ScoredApp, shape: str, per_hour: float, *, weeks: int, base: float, rng: np.random.Generator) -> Stream:
    """Weeks without a change.

    `topics`: four topics of very different answers, whose shares follow the hour; `repeats`: each answer comes five
    times within minutes; `conversations`: four answers on average, which are bad together and score alike.
    """
    at = times("flat" if shape in ("repeats", "conversations") else shape, per_hour, weeks * WEEK, rng)
    n = len(at)
    topics, talks, copies = np.zeros(n, np.int64), None, None
    rows = chosen(app, rng.random(n) < base, rng)
    if shape == "topics":
        hours = 2 * np.pi * at / DAY
        shares = np.stack([1.05 + np.sin(hours + t * np.pi / 2) for t in range(TOPICS)], axis=1)
        topics = (shares.cumsum(axis=1) / shares.sum(axis=1, keepdims=True) < rng.random((n, 1))).sum(axis=1)
        rows = by_topic(app, topics, base, rng)
    elif shape == "repeats":
        copies = np.arange(n) // 5
        rows = rows[copies * 5]
    elif shape == "conversations":
        talks = np.cumsum(rng.random(n) < 1 / 4)
        at = talk_times(at, talks, rng)
        order = np.argsort(at, kind="stable")
        rows = alike(app, talks, base, rng)[order]
        at, talks = at[order], talks[order]
    return Stream(app=app, at=at, rows=rows, off=np.zeros(n, bool), topics=topics, talks=talks, copies=copies)


def by_topic(app: ScoredApp, topics: Ints, base: float, rng: np.random.Generator) -> Ints:
    """Topic t draws from the t-th quarter of the good answers by score; the bad ones are spread evenly."""
    good = np.flatnonzero(app.good)
    quarters = np.array_split(good[np.argsort(app.usual["score"][good])], TOPICS)
    rows = np.empty(len(topics), np.int64)
    for topic, quarter in enumerate(quarters):
        of_topic = topics == topic
        rows[of_topic] = rng.choice(quarter, of_topic.sum())
    bad = rng.random(len(topics)) < base
    rows[bad] = chosen(app, bad[bad], rng)
    return rows


def talk_times(at: Floats, talks: Ints, rng: np.random.Generator) -> Floats:
    """The answers of a conversation follow each other within minutes."""
    first = at[np.searchsorted(talks, talks)]
    return first + np.where(at == first, 0.0, rng.random(len(at)) * 600.0)


def alike(app: ScoredApp, talks: Ints, base: float, rng: np.random.Generator) -> Ints:
    """Conversations of which a few are bad throughout; the good answers of one have neighbouring scores."""
    number = int(talks.max()) + 1
    good = np.flatnonzero(app.good)
    good = good[np.argsort(app.usual["score"][good])]
    level = rng.random(number)[talks] + rng.normal(0, 0.1, len(talks))
    rows = good[np.clip((level * len(good)).astype(np.int64), 0, len(good) - 1)]
    bad = (rng.random(number) < base)[talks] & (rng.random(len(talks)) < 0.9)
    rows[bad] = chosen(app, bad[bad], rng)
    return rows


def joined(one: Stream, other: Stream) -> Stream:
    """The answers of `one`, then those of `other`, whose times go on from its end."""
    begin = one.at[-1]
    return Stream(
        app=one.app,
        at=np.concatenate([one.at, begin + other.at]),
        rows=np.concatenate([one.rows, other.rows]),
        off=np.concatenate([one.off, other.off]),
        topics=np.concatenate([one.topics, other.topics]),
    )


def changed(
    app: ScoredApp,
    learnt: int,
    per_hour: float,
    *,
    rates: Sequence[float],
    off: float,
    weeks: int,
    rng: np.random.Generator,
) -> Stream:
    """`learnt` answers at the first of `rates`, then `weeks` at the second, a share `off` of them off the question."""
    past = flat_stream(app, learnt / per_hour * HOUR, per_hour, base=rates[0], off=0.0, rng=rng)
    return joined(past, flat_stream(app, weeks * WEEK, per_hour, base=rates[1], off=off, rng=rng))


def flat_stream(
    app: ScoredApp, seconds: float, per_hour: float, *, base: float, off: float, rng: np.random.Generator
) -> Stream:
    at = times("flat", per_hour, seconds, rng)
    rows = chosen(app, rng.random(len(at)) < base, rng)
    return Stream(app=app, at=at, rows=rows, off=rng.random(len(at)) < off, topics=np.zeros(len(at), np.int64))
