"""Measures false pages and detection delays of the alert methods on simulated weeks of minute counts.

    python benchmarks/alerts/run.py [--json PATH] [--short]

The usual rate is 4 % everywhere. Quiet runs of ten weeks give false pages per week, for four shapes of traffic and four
volumes. Incidents of three days begin at a random minute of the first week, with traffic by day and night. They give
the share of incidents seen while they last, minutes until the alert fires and the answers that came meanwhile (median
and p95), flaps (pages beyond the first within an incident), and minutes from the end of the incident until the alert
resolves. Alerts are evaluated at the end of each minute; a rule's `for` is 0.

`naive` is the usual hand-written threshold: 5 minutes, no minimum, no interval. `sequential` has the usual rate as its
target and promises at most one false page in ten weeks; `…, learnt` learns the target from four quiet weeks, separately
for each run; `…, target 14%` is above the rate of the hours in which the bursting topic comes; `…, by topic` is one
alert per topic, at that topic's rate, with the pages of both counted.

The last table shows the best threshold in hindsight, with and without the Wilson interval: of all settings with at most
one false page in ten of the quiet weeks by day and night, the one with the shortest median delay, for each volume and
incident.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from itertools import product
from math import inf
from time import monotonic

import numpy as np

from benchmarks.alerts import paths, trials
from benchmarks.alerts.paths import WEEK
from benchmarks.alerts.trials import Run, Way
from benchmarks.figures import finish, options
from monitor.alert.methods.burn_rate import BurnRate, Preset
from monitor.alert.methods.change import Change
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.threshold import Threshold
from monitor.alert.target import Target
from monitor.alert.window import MINUTE
from monitor.core.text.duration import format_duration
from monitor.simulate.minute_counts import (
    BURSTING_TOPIC,
    USUAL_RATE,
    Incident,
    RateScenario,
    Traffic,
    day_and_night,
    flat,
    with_bursts,
)

SEED = 20_261_121
RUN_WEEKS = 10
PROMISED = 1 / RUN_WEEKS  # false pages a week, of every sequential rule here and of the thresholds compared with it
LASTS = timedelta(days=3)
INCIDENT_MINUTES = WEEK + 4 * 24 * 60
SLOW = timedelta(hours=6)
SHAPES: Mapping[str, Callable[[float], Traffic]] = {
    "flat": flat,
    "day and night": day_and_night,
    "bursts": with_bursts,
    "topics": day_and_night,
}
FACTORS = (1.5, 2.0, 4.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of the simulation: runs in each cell, and answers per hour."""

    quiet: int
    incidents: int
    volumes: tuple[int, ...]
    gridded: tuple[int, ...]
    ramps: tuple[timedelta, ...]

    @property
    def kinds(self) -> list[tuple[float, timedelta]]:
        """The kinds of incidents: the factor of the rise, and over what time it happens."""
        return [(factor, ramp) for ramp in self.ramps for factor in FACTORS]


FULL = Size(quiet=20, incidents=100, volumes=(10, 100, 1_000, 10_000), gridded=(100, 1_000), ramps=(timedelta(), SLOW))
SHORT = Size(quiet=2, incidents=15, volumes=(100,), gridded=(100,), ramps=(timedelta(),))


def above(rate: float, window: timedelta, least: int, *, confident: bool) -> Threshold:
    return Threshold(above=Target(value=rate), window=window, min_samples=least, confident=confident)


def naive(rate: float) -> Way:
    return trials.threshold(above(rate, timedelta(minutes=5), 1, confident=False))


def burn_rate(preset: Preset) -> Way:
    return trials.burn_rate(BurnRate(allowed=Target(value=0.05), preset=preset))


def bets(target: float = USUAL_RATE) -> Sequential:
    return Sequential(target=Target(value=target), false_alarm_every=timedelta(weeks=RUN_WEEKS))


WAYS: Mapping[str, Way] = {
    "naive, above 6%": naive(0.06),
    "naive, above 10%": naive(0.10),
    "naive, above 20%": naive(0.20),
    "threshold, confident 1h above 6%": trials.threshold(above(0.06, timedelta(hours=1), 30, confident=True)),
    "burn_rate, page, 5% allowed": burn_rate("page"),
    "burn_rate, ticket, 5% allowed": burn_rate("ticket"),
    "change": trials.change(Change()),
    "sequential": trials.sequential(bets()),
    "sequential, learnt": trials.sequential_learnt(bets()),
}
OF_TOPICS: Mapping[str, Way] = {
    "sequential, target 14%": trials.sequential(bets(0.14)),
    "sequential, by topic": trials.sequential_by_topic(bets()),
}

WINDOWS = [timedelta(minutes=minutes) for minutes in (5, 15, 30, 60, 120, 180, 360, 720, 1440)]
PLAIN = list(product((0.045, 0.05, 0.06, 0.07, 0.08, 0.10, 0.12, 0.15, 0.20), (1, 10, 30, 100)))
CONFIDENT = list(product((0.04, 0.045, 0.05, 0.055, 0.06, 0.07, 0.08, 0.10), (1, 30, 100)))


def quiet(shape: str, volume: int) -> RateScenario:
    topic = BURSTING_TOPIC if shape == "topics" else None
    return RateScenario(description=shape, traffic=SHAPES[shape](volume), hard_topic=topic)


def incident(volume: int, factor: float, ramp: timedelta) -> RateScenario:
    happens = Incident(factor=factor, ramp=ramp, lasts=LASTS)
    return RateScenario(description="incident", traffic=day_and_night(volume), incident=happens)


def named(factor: float, ramp: timedelta) -> str:
    return f"× {factor:g}" + (f" over {format_duration(ramp)}" if ramp else "")


def quiet_weeks(size: Size, rng: np.random.Generator) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """False pages, by volume, shape and method."""
    figures: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for volume in size.volumes:
        of_volume = figures.setdefault(str(volume), {})
        for shape in SHAPES:
            run = trials.simulate(quiet(shape, volume), size.quiet, RUN_WEEKS * WEEK, rng)
            ways = {**WAYS, **OF_TOPICS} if shape == "topics" else WAYS
            of_volume[shape] = {name: trials.quiet_figures(way(run)) for name, way in ways.items()}
        print(f"\nfalse pages per week at {volume:,}/h (95 % interval)" + "".join(f"{shape:>27}" for shape in SHAPES))
        for name in (*WAYS, *OF_TOPICS):
            cells = (shown_pages(of_volume[shape].get(name)) for shape in SHAPES)
            print(f"  {name:38}" + "".join(f"{cell:>27}" for cell in cells), flush=True)
    return figures


def shown_pages(found: Mapping[str, float] | None) -> str:
    if found is None:
        return ""
    return f"{found['false_pages_a_week']:.2f} ({found['lower']:.2f} to {found['upper']:.2f})"


def incidents(size: Size, rng: np.random.Generator) -> dict[str, dict[str, dict[str, dict[str, float | None]]]]:
    """Delays, by volume, incident and method."""
    figures: dict[str, dict[str, dict[str, dict[str, float | None]]]] = {}
    for volume, (factor, ramp) in product(size.volumes, size.kinds):
        run = trials.simulate(incident(volume, factor, ramp), size.incidents, INCIDENT_MINUTES, rng)
        found = {name: trials.incident_figures(run, way(run), LASTS // MINUTE) for name, way in WAYS.items()}
        figures.setdefault(str(volume), {})[named(factor, ramp)] = found
        print(f"\n{named(factor, ramp)} at {volume:,}/h{'seen':>26}{'minutes, p95':>18}{'answers, p95':>20}", end="")
        print(f"{'flaps':>8}{'resolved after':>16}")
        for name, values in found.items():
            pairs = (
                f"{shown(values[f'{what}_median'])}, {shown(values[f'{what}_p95'])}" for what in ("minutes", "answers")
            )
            minutes, answers = pairs
            after = shown(values["resolves_after_median"])
            print(f"  {name:36}{values['seen']:>5.0%}{minutes:>18}{answers:>20}{values['flaps']:>8.2f}{after:>16}")
    return figures


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:,.0f}"


def settings() -> Iterator[Threshold]:
    for window in WINDOWS:
        for confident, grid in ((False, PLAIN), (True, CONFIDENT)):
            for rate, least in grid:
                yield above(rate, window, least, confident=confident)


def rarely_wrong(run: Run) -> list[Threshold]:
    """The settings with few enough false pages in a quiet run."""
    weeks = run.bad.size / WEEK
    kept = []
    rolled: dict[timedelta, tuple[paths.Ints, paths.Ints]] = {}
    for method in settings():
        if method.window not in rolled:
            rolled = {method.window: (paths.rolling(run.bad, method.window), paths.rolling(run.total, method.window))}
        fires = paths.firing(paths.over_line(method, *rolled[method.window]))
        if trials.begun(fires).sum() <= PROMISED * weeks:
            kept.append(method)
    return kept


def hindsight(size: Size, rng: np.random.Generator) -> dict[str, dict[str, dict[str, object]]]:
    """Median minutes of `sequential` and of the best thresholds on the same incidents, by volume and incident."""
    return {str(volume): best_thresholds(size, volume, rng) for volume in size.gridded}


def best_thresholds(size: Size, volume: int, rng: np.random.Generator) -> dict[str, dict[str, object]]:
    kept = rarely_wrong(trials.simulate(quiet("day and night", volume), size.quiet, RUN_WEEKS * WEEK, rng))
    print(
        f"\nmedian minutes at {volume:,}/h; {len(kept)} of {len(list(settings()))} thresholds have as few false pages"
    )
    figures: dict[str, dict[str, object]] = {}
    for factor, ramp in size.kinds:
        run = trials.simulate(incident(volume, factor, ramp), size.incidents, INCIDENT_MINUTES, rng)
        ours = {name: median(run, WAYS[name]) for name in ("sequential", "sequential, learnt")}
        found: dict[str, object] = {**ours}
        line = ", ".join(f"{name} {shown(value)}" for name, value in ours.items())
        for confident in (False, True):
            of_kind = [method for method in kept if method.confident is confident]
            timed = [(median(run, trials.threshold(method)) or inf, threshold_text(method)) for method in of_kind]
            minutes, setting = min(timed, default=(inf, "none"))
            kind = "confident" if confident else "plain"
            found[kind] = {"minutes": None if minutes == inf else minutes, "setting": setting}
            line += f"; best {kind} {minutes:,.0f} ({setting})"
        figures[named(factor, ramp)] = found
        print(f"  {named(factor, ramp):14}{line}", flush=True)
    return figures


def median(run: Run, way: Way) -> float | None:
    return trials.quantile(trials.delays(run, way(run), LASTS // MINUTE)[0], 0.5)


def threshold_text(method: Threshold) -> str:
    return f"{format_duration(method.window)} above {method.target}, at least {method.min_samples}"


def main() -> None:
    arguments = options(__doc__, "one volume, few runs")
    size = SHORT if arguments.short else FULL
    rng = np.random.default_rng(SEED)
    began = monotonic()
    figures = {"quiet": quiet_weeks(size, rng), "incidents": incidents(size, rng), "hindsight": hindsight(size, rng)}
    print(f"\n{monotonic() - began:.0f} s")
    finish({**figures, "usual_rate": USUAL_RATE, "promised": PROMISED}, seed=SEED, path=arguments.json)


if __name__ == "__main__":
    main()
