"""Runs of simulated counts, the methods that watch them, and the figures of each, for `run.py`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from math import inf, sqrt
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.alerts import paths
from benchmarks.alerts.paths import WEEK, Bools, Ints
from monitor.alert.methods.burn_rate import BurnRate
from monitor.alert.methods.change import Change
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.threshold import Threshold
from monitor.alert.target import HourSums, learn
from monitor.alert.window import Count
from monitor.simulate.minute_counts import RateScenario, minute_counts

HISTORY_WEEKS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Series of minutes, shape (series, minutes), with the earlier weeks that a rule would know.

    `by_topic` has the counts of each topic and its usual rate; `past_bad` and `past_total` are the previous weeks;
    `learnt` is the target of each series, learnt from them.
    """

    bad: Ints
    total: Ints
    begins: Ints | None
    by_topic: list[tuple[Ints, Ints, float]]
    past_bad: list[Ints]
    past_total: list[Ints]
    learnt: NDArray[np.float64]


Way: TypeAlias = Callable[[Run], list[Bools]]  # where each of its alerts fires


def simulate(scenario: RateScenario, series: int, minutes: int, rng: np.random.Generator) -> Run:
    """A quiet run is its own past; a run with an incident gets quiet weeks of the same traffic as its past."""
    counts = minute_counts(scenario, weeks=series, rng=rng, minutes=minutes)
    total, bad = counts.of_all_topics
    quiet = replace(scenario, incident=None)
    if scenario.incident is None:
        past_bad, past_total = (paths.weeks_back(c, HISTORY_WEEKS) for c in (bad, total))
    else:
        weeks = [minute_counts(quiet, weeks=series, rng=rng, minutes=minutes) for _ in range(HISTORY_WEEKS)]
        past_total, past_bad = ([week.of_all_topics[i] for week in weeks] for i in (0, 1))
    return Run(
        bad=bad,
        total=total,
        begins=counts.begins,
        by_topic=[
            (counts.bad[:, topic], counts.total[:, topic], float(rate)) for topic, rate in enumerate(scenario.rates)
        ],
        past_bad=past_bad,
        past_total=past_total,
        learnt=_learnt(quiet, series, rng),
    )


def _learnt(quiet: RateScenario, series: int, rng: np.random.Generator) -> NDArray[np.float64]:
    history = minute_counts(quiet, weeks=series, rng=rng, minutes=HISTORY_WEEKS * WEEK)
    hourly = [counts.reshape(series, -1, 60).sum(axis=2).tolist() for counts in history.of_all_topics]
    bounds = []
    for totals, bads in zip(*hourly, strict=True):
        hours = (Count(total=n, sum=k, squares=k) for n, k in zip(totals, bads, strict=True))
        baseline = learn(HourSums.of({}, hours), datetime.now(UTC))
        assert baseline is not None
        bounds.append(baseline.upper)
    return np.array(bounds)


def threshold(method: Threshold) -> Way:
    return lambda run: [paths.firing(paths.threshold(method, run.bad, run.total))]


def burn_rate(method: BurnRate) -> Way:
    return lambda run: [paths.firing(paths.burn_rate(method, run.bad, run.total))]


def change(method: Change) -> Way:
    return lambda run: [paths.firing(paths.change(method, run.bad, run.total, run.past_bad, run.past_total))]


def sequential(method: Sequential) -> Way:
    return lambda run: [paths.sequential(method, run.bad, run.total, method.target.value or 0.0)]


def sequential_learnt(method: Sequential) -> Way:
    return lambda run: [paths.sequential(method, run.bad, run.total, run.learnt)]


def sequential_by_topic(method: Sequential) -> Way:
    return lambda run: [paths.sequential(method, bad, total, rate) for bad, total, rate in run.by_topic]


def begun(fires: Bools) -> Bools:
    """The minutes at which an alert begins to fire: the pages."""
    before = np.concatenate([np.zeros_like(fires[:, :1]), fires[:, :-1]], axis=1)
    return fires & ~before


def quiet_figures(alerts: Sequence[Bools]) -> dict[str, float]:
    """Pages per week, with a 95 % interval (Byar's approximation to Poisson's), and the share of time it fires."""
    pages = int(sum(begun(fires).sum() for fires in alerts))
    weeks = alerts[0].size / WEEK
    lower = pages * (1 - 1 / (9 * pages) - 1.96 / (3 * sqrt(pages))) ** 3 if pages else 0.0
    more = pages + 1
    upper = more * (1 - 1 / (9 * more) + 1.96 / (3 * sqrt(more))) ** 3
    return {
        "weeks": weeks,
        "false_pages_a_week": pages / weeks,
        "lower": lower / weeks,
        "upper": upper / weeks,
        "firing": float(np.mean([fires.mean() for fires in alerts])),
    }


def delays(run: Run, alerts: Sequence[Bools], lasts: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Minutes and answers from the beginning of each incident to the evaluation that fires; infinite where none does.

    An alert that already fires when the incident begins has a delay of one minute.
    """
    begins = _begins(run)
    fires = np.logical_or.reduce(alerts)
    since = np.arange(fires.shape[1]) - begins[:, np.newaxis]
    within = fires & (since >= 0) & (since < lasts)
    seen, at = within.any(axis=1), within.argmax(axis=1)
    answers = np.concatenate([np.zeros_like(run.total[:, :1]), run.total.cumsum(axis=1)], axis=1)
    rows = np.arange(len(fires))
    meanwhile = answers[rows, at + 1] - answers[rows, begins]
    return np.where(seen, at - begins + 1, inf), np.where(seen, meanwhile, inf)


def incident_figures(run: Run, alerts: Sequence[Bools], lasts: int) -> dict[str, float | None]:
    """The figures over all incidents; unseen ones count as the longest delay, and a quantile among them is None."""
    begins = _begins(run)
    fires = np.logical_or.reduce(alerts)
    since = np.arange(fires.shape[1]) - begins[:, np.newaxis]
    within = (since >= 0) & (since < lasts)
    minutes, answers = delays(run, alerts, lasts)
    pages = sum((begun(alert) & within).sum(axis=1) for alert in alerts)
    over = ~fires & (since >= lasts)
    ends_firing = fires[np.arange(len(fires)), begins + lasts - 1]
    until = np.where(over.any(axis=1), over.argmax(axis=1) - begins - lasts, inf)[ends_firing]
    return {
        "incidents": len(fires),
        "seen": float(np.isfinite(minutes).mean()),
        "minutes_median": quantile(minutes, 0.5),
        "minutes_p95": quantile(minutes, 0.95),
        "answers_median": quantile(answers, 0.5),
        "answers_p95": quantile(answers, 0.95),
        "flaps": float(np.maximum(pages - 1, 0).mean()),
        "resolves_after_median": quantile(until, 0.5) if len(until) else None,
    }


def quantile(values: NDArray[np.float64], share: float) -> float | None:
    """The smallest value that `share` of the values do not exceed; None if it is infinite."""
    found = float(np.quantile(values, share, method="inverted_cdf"))
    return None if found == inf else found


def _begins(run: Run) -> Ints:
    assert run.begins is not None
    return run.begins
