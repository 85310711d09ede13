"""Laps add up to the time that has passed, and each stage gets its own."""

from __future__ import annotations

from itertools import pairwise

from monitor.core.stopwatch import Stopwatch, unobserved


def test_each_lap_is_told_to_its_stage():
    told = []
    times = [10.0, 10.5, 12.0, 12.25]
    watch = Stopwatch(lambda stage, seconds: told.append((stage, seconds)), clock=iter(times).__next__)
    for stage in ("complete", "encode", "score"):
        watch.lap(stage)
    assert told == [
        (stage, end - begin)
        for stage, (begin, end) in zip(("complete", "encode", "score"), pairwise(times), strict=True)
    ]


def test_without_an_observer_nothing_is_kept():
    assert unobserved("read", 1.0) is None
