"""Measures rules on ranks beside rules on flags: false pages in quiet weeks, and delays after a change.

    python benchmarks/alerts/ranks.py [--quiet] [--delays] [--retrieval] [--shipped] [--test] [--short] [--json PATH]

Each labelled file is one app: its answers, assessed under the shipped profile, are drawn with replacement, 4 % of them
self-generated where nothing else is said. No target and no baseline is given; baselines are learnt from answers.

*quiet*: false pages a week of one rule on scores that promises one in ten weeks, over runs of ten weeks. `topics` are
four topics of very different answers, whose shares follow the hour; in `repeats` each answer comes five times; in
`conversations` four answers on average are bad together and score alike. The last line: `sequential` on flags, which
promises the same, with a baseline learnt from so many answers as its target.
*delays*: hours from a rise from 4 to 8 % at 100 answers/h until the page, after 10,000 answers; median of the runs.
*retrieval*: hours until the page after 10 % of the answers, and what is retrieved for them, are about another question.
*shipped*: the pages of each shipped rule on each app in five times ten weeks without a change, at 100 answers/h by day
and night.

`--test` uses the test files, which are looked at once for each change of the method.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from statistics import median
from time import monotonic
from typing import Any

import numpy as np

from benchmarks.alerts import paths
from benchmarks.alerts.scored import ScoredApp, scored
from benchmarks.alerts.streams import HOUR, WEEK, Floats, Stream, baseline_of, changed, flag_pages, pages, quiet
from benchmarks.figures import finish, options
from benchmarks.labelled import DEV, TEST
from monitor.alert.methods.sequential import Sequential
from monitor.alert.methods.shift import Shift
from monitor.alert.methods.threshold import Threshold
from monitor.alert.rule import Rule
from monitor.alert.rules.file import load_rules
from monitor.alert.signal import RANKED, SignalKind
from monitor.alert.target import Target

SEED = 20_261_123
WEEKS = 10
BASE, RISEN, OFF = 0.04, 0.08, 0.10
PER_HOUR = 100
LEARNT = 10_000
SHAPES = ("flat", "day and night", "bursts", "topics", "repeats", "conversations")
LONGEST = 4  # weeks that a change is watched
PROMISED = Shift(false_alarm_every=timedelta(weeks=WEEKS))
BETS = Sequential(target=Target(), false_alarm_every=timedelta(weeks=WEEKS))


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """Runs of quiet weeks at each volume, runs after a change, and runs of the shipped rules."""

    quiet: Mapping[int, int]
    changes: int
    shipped: int
    weeks: int


FULL = Size(quiet={10: 40, 100: 20, 1_000: 3}, changes=40, shipped=5, weeks=WEEKS)
SHORT = Size(quiet={100: 2}, changes=3, shipped=1, weeks=2)


def quiet_weeks(apps: Sequence[ScoredApp], size: Size, _: np.random.Generator) -> dict[str, Any]:
    """False pages a week, by volume and shape."""
    figures: dict[str, Any] = {}
    print("false pages a week, ranks of scores" + "".join(f"{shape:>16}" for shape in SHAPES))
    for volume, runs in size.quiet.items():
        rng = np.random.default_rng([SEED, volume])  # so that one volume can be measured alone
        found = {}
        for shape in SHAPES:
            number = 0
            for run in range(runs):
                stream = quiet(apps[run % len(apps)], shape, volume, weeks=size.weeks, base=BASE, rng=rng)
                number += len(pages(PROMISED, stream.batch("score", rng)))
            found[shape] = {"pages": number, "weeks": runs * size.weeks, "a_week": number / (runs * size.weeks)}
        figures[str(volume)] = found
        print(f"  at {volume:>6,}/h{'':21}" + "".join(f"{of['a_week']:>16.3f}" for of in found.values()), flush=True)
    rng = np.random.default_rng(SEED)
    learnt = {}
    for answers in (2_500, LEARNT):
        streams = [
            changed(
                apps[run % len(apps)],
                max(answers, 26 * PER_HOUR),
                PER_HOUR,
                rates=(BASE, BASE),
                off=0.0,
                weeks=size.weeks,
                rng=rng,
            )
            for run in range(max(size.quiet.values()))
        ]
        known = [max(answers, _day(stream.at)) for stream in streams]
        number = sum(map(len, flag_pages(BETS, streams, known)))
        learnt[str(answers)] = number / (len(streams) * size.weeks)
    figures["flags"] = learnt
    print("  flags, baseline of: " + ", ".join(f"{int(n):,} answers {of:.3f}" for n, of in learnt.items()), flush=True)
    return figures


def _day(at: Floats) -> int:
    """How many answers come in the hours that a baseline needs at least."""
    return int(np.searchsorted(at, 25 * HOUR))


def delays(apps: Sequence[ScoredApp], size: Size, rng: np.random.Generator) -> dict[str, Any]:
    """Median hours until the page, by app and way."""
    figures: dict[str, Any] = {}
    print(f"\nmedian hours to see {BASE:.0%} become {RISEN:.0%} at {PER_HOUR}/h, after {LEARNT:,} answers")
    for app in (app for app in apps if app.bad.any()):
        streams = _changes(app, size, rng, rates=(BASE, RISEN))
        found = {
            "ranks": [_ranked(stream, "score", rng) for stream in streams],
            "flags": _flagged(streams),
            "flags, baseline + 2pp": _flagged(streams, 0.02),
        }
        of_app: dict[str, float] = {way: median(hours) for way, hours in found.items()}
        figures[app.name] = of_app | {"sooner": of_app["flags"] / of_app["ranks"]}
        line = ", ".join(f"{way} {_hours(hours)}" for way, hours in of_app.items())
        print(f"  {app.name:24}{line}; {of_app['flags'] / of_app['ranks']:.2f} × sooner than flags", flush=True)
    ratios = [of["sooner"] for of in figures.values()]
    figures["sooner, median of apps"] = median(ratios)
    print(f"  median of the apps: {median(ratios):.2f} × sooner")
    return figures


def retrieval(apps: Sequence[ScoredApp], size: Size, rng: np.random.Generator) -> dict[str, Any]:
    """Median hours until the page, by app and signal."""
    figures: dict[str, Any] = {}
    print(f"\nmedian hours to see that {OFF:.0%} of the retrievals are off the question, at {PER_HOUR}/h")
    for app in apps:
        streams = _changes(app, size, rng, off=OFF)
        found = {name: [_ranked(stream, name, rng) for stream in streams] for name in RANKED}
        found["first of these"] = [min(hours) for hours in zip(*found.values(), strict=True)]
        found["flags"] = _flagged(streams)
        figures[app.name] = {name: median(hours) for name, hours in found.items()}
        line = ", ".join(f"{name} {_hours(hours)}" for name, hours in figures[app.name].items())
        print(f"  {app.name:24}{line}", flush=True)
    return figures


def shipped(apps: Sequence[ScoredApp], size: Size, rng: np.random.Generator) -> dict[str, Any]:
    """Pages of each shipped rule, by app, over all runs."""
    rules = [rule for rule in load_rules(None, receivers=()).rules if "quality" in rule.labels.values()]
    figures: dict[str, Any] = {}
    print(f"\npages of the shipped rules in {size.shipped} runs of {size.weeks} weeks without a change, {PER_HOUR}/h")
    for app in apps:
        streams = [
            quiet(app, "day and night", PER_HOUR, weeks=size.weeks, base=BASE, rng=rng) for _ in range(size.shipped)
        ]
        of_app = {rule.name: sum(_pages(rule, stream, rng) for stream in streams) for rule in rules}
        flagged = float(np.mean([_negative(stream).mean() for stream in streams]))
        figures[app.name] = of_app | {"flagged": flagged, "a_run": sum(of_app.values()) / size.shipped}
        line = ", ".join(f"{name} {number}" for name, number in of_app.items())
        print(f"  {app.name:24}{flagged:6.1%} flagged: {line}", flush=True)
    return figures


def _pages(rule: Rule, stream: Stream, rng: np.random.Generator) -> int:
    if rule.signal.kind is SignalKind.RANKS and isinstance(rule.method, Shift):
        return len(pages(rule.method, stream.batch(rule.signal.name, rng)))
    if isinstance(rule.method, Threshold):
        flags = _negative(stream) if rule.signal.name == "negative" else stream.values("flagged")
        return _crossings(rule.method, stream.at, flags)
    return 0  # a rule on labels, of which there are none


def _negative(stream: Stream) -> Floats:
    return stream.values("flagged") + stream.values("refusal")


def _crossings(method: Threshold, at: Floats, flags: Floats) -> int:
    """Pages of a threshold once its baseline is learnt; it is learnt from the first day, as soon as it may be."""
    day = _day(at)
    bound = method.target.bound(baseline_of(at[:day], flags[:day]))
    minute = (at[day:] // 60).astype(np.int64)
    minute -= minute[0]
    total = np.bincount(minute)[np.newaxis]
    bad = np.bincount(minute, weights=flags[day:]).astype(np.int64)[np.newaxis]
    fires = paths.firing(paths.threshold(replace(method, above=Target(value=bound)), bad, total))[0]
    return int((fires & ~np.concatenate([[False], fires[:-1]])).sum())


def _changes(
    app: ScoredApp,
    size: Size,
    rng: np.random.Generator,
    *,
    rates: tuple[float, float] = (BASE, BASE),
    off: float = 0.0,
) -> list[Stream]:
    return [changed(app, LEARNT, PER_HOUR, rates=rates, off=off, weeks=LONGEST, rng=rng) for _ in range(size.changes)]


def _ranked(stream: Stream, name: str, rng: np.random.Generator) -> float:
    """Hours from the change to the page of the rule on ranks."""
    begun = float(stream.at[LEARNT])
    return _after(pages(PROMISED, stream.batch(name, rng), step=HOUR / 4, until=begun), begun)


def _flagged(streams: Sequence[Stream], margin: float = 0.0) -> list[float]:
    """Hours from the change to the page of the rule on flags, for each stream."""
    found = flag_pages(BETS, streams, [LEARNT] * len(streams), margin)
    return [_after(of, float(stream.at[LEARNT])) for of, stream in zip(found, streams, strict=True)]


def _after(pages_at: Sequence[float], begun: float) -> float:
    """Hours from the change to the first page after it; the longest that is watched if there is none."""
    return next(((at - begun) / HOUR for at in pages_at if at > begun), LONGEST * WEEK / HOUR)


def _hours(hours: float) -> str:
    return f"over {hours:.0f}" if hours >= LONGEST * WEEK / HOUR else f"{hours:.1f}"


PARTS: Mapping[str, Callable[[Sequence[ScoredApp], Size, np.random.Generator], dict[str, Any]]] = {
    "quiet": quiet_weeks,
    "delays": delays,
    "retrieval": retrieval,
    "shipped": shipped,
}


def main() -> None:
    arguments = options(
        __doc__,
        "one volume, few runs, the first file",
        test="the test files",
        **{part: f"only this part: {part}" for part in PARTS},
    )
    size = SHORT if arguments.short else FULL
    names = TEST if arguments.test else DEV
    apps = [app for app in scored(names[:1] if arguments.short else names) if app.good.any()]
    began = monotonic()
    parts = [part for part in PARTS if getattr(arguments, part)] or list(PARTS)
    figures = {part: PARTS[part](apps, size, np.random.default_rng(SEED)) for part in parts}
    print(f"\n{monotonic() - began:.0f} s")
    finish({**figures, "promised_a_week": 1 / WEEKS}, seed=SEED, path=arguments.json)


if __name__ == "__main__":
    main()
