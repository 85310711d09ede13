"""Draws the mean scores of the runs of a probe, one beside the other whenever they ran, as SVG."""

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
    """The mean of one score in the run of a number, in thousandths, with its interval."""

    run: int
    score: str  # a key of `_SERIES`
    mean: int
    low: int
    high: int


@lru_cache(maxsize=_KEPT)
def scores_chart(points: tuple[ScorePoint, ...], description: str, *, width: int = WIDTH) -> str:
    """Mean scores with their intervals as an SVG element, from 0 to 5; the lines differ in dash and points too."""
    names = [name for name in _SERIES if any(point.score == name for point in points)]
    rows = [
        {"run": p.run, "score": p.score, "mean": p.mean / 1000, "low": p.low / 1000, "high": p.high / 1000}
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
    run = alt.X("run:O", title="run").axis(grid=False, labelAngle=0, labelOverlap=True)
    whole = alt.Chart(data(rows))
    bars = whole.mark_rule(strokeWidth=5 if width == WIDTH else 3, opacity=0.22).encode(
        run, alt.Y("low:Q"), alt.Y2("high:Q"), colour
    )
    lines = whole.mark_line(strokeWidth=2).encode(run, mean, colour, dash)
    dots = whole.mark_point(filled=True, opacity=1, size=34).encode(run, mean, colour, shape)
    return svg(alt.layer(bars, lines, dots), description, width=width, height=HEIGHT)
