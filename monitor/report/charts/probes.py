"""Draws the mean scores of the runs of a probe over time, as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt

from monitor.report.charts.drawing import COLOURS, data, svg

WIDTH, HEIGHT = 560, 190  # pixels of a plot
_KEPT = 128  # drawings
_SERIES = {"correctness": COLOURS[0], "wscore": COLOURS[1]}
_HIGHEST = 5  # score


@dataclass(frozen=True, slots=True)
class ScorePoint:
    """The mean of one score in a run, in thousandths, with its interval; `at` is when the run began, in ISO 8601."""

    at: str
    score: str  # a key of `_SERIES`
    mean: int
    low: int
    high: int


@lru_cache(maxsize=_KEPT)
def scores_chart(
    points: tuple[ScorePoint, ...], start: str, end: str, description: str, *, days: bool, width: int = WIDTH
) -> str:
    """Mean scores with their intervals as an SVG element, from 0 to 5; the lines differ in dash and points too."""
    names = [name for name in _SERIES if any(point.score == name for point in points)]
    rows = [
        {"at": p.at, "score": p.score, "mean": p.mean / 1000, "low": p.low / 1000, "high": p.high / 1000}
        for p in points
    ]
    shared: dict[str, Any] = {
        "sort": names,
        "legend": alt.Legend(title=None, orient="top", symbolStrokeWidth=2, symbolOpacity=1),
    }
    colour = alt.Color("score:N", scale=alt.Scale(domain=names, range=[_SERIES[name] for name in names]), **shared)
    dash = alt.StrokeDash("score:N", scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]][: len(names)]), **shared)
    shape = alt.Shape("score:N", scale=alt.Scale(domain=names, range=["circle", "triangle-up"][: len(names)]), **shared)
    mean = alt.Y("mean:Q", title="mean score", scale=alt.Scale(domain=[0, _HIGHEST], clamp=True)).axis(tickCount=5)
    time = alt.X("at:T", title="UTC", scale=alt.Scale(type="utc", domain=[start, end], nice=False)).axis(
        format="%b %-d" if days else "%H:%M", tickCount=7 if width == WIDTH else 4, grid=False, labelOverlap=True
    )
    whole = alt.Chart(data(rows))
    bars = whole.mark_rule(strokeWidth=5 if width == WIDTH else 3, opacity=0.22).encode(
        time, alt.Y("low:Q"), alt.Y2("high:Q"), colour
    )
    lines = whole.mark_line(strokeWidth=2).encode(time, mean, colour, dash)
    dots = whole.mark_point(filled=True, opacity=1, size=34).encode(time, mean, colour, shape)
    return svg(alt.layer(bars, lines, dots), description, width=width, height=HEIGHT)
