"""Draws the mean scores of the runs of a probe, one beside the other whenever they ran, as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from monitor.report.charts.drawing import COLOURS
from monitor.report.charts.plot import SYMBOL, Key, Look, Plot
from monitor.report.charts.scales import as_number, ticks
from monitor.report.charts.svg import add_bars, add_line, add_marks

WIDTH, HEIGHT = 560, 190  # pixels of a plot
_KEPT = 128  # drawings
_SERIES = {
    "correctness": Key(name="correctness", colour=COLOURS[0]),
    "wscore": Key(name="wscore", colour=COLOURS[1], shape="triangle", dash="5,3"),
}
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
    runs = sorted({point.run for point in points})
    place = {run: number for number, run in enumerate(runs)}
    plot = Plot(width, HEIGHT, x=(-0.5, max(len(runs), 1) - 0.5), y=(0, _HIGHEST), look=Look())
    plot.left(ticks(0, _HIGHEST, 1, as_number), "mean score")
    plot.bottom([(number, str(run)) for run, number in place.items()], "run")
    series = {key: [p for p in points if p.score == name] for name, key in _SERIES.items()}
    there = {key: own for key, own in series.items() if own}
    for key, own in there.items():
        bars = ((plot.x(place[p.run]), _height(plot, p.low), _height(plot, p.high)) for p in own)
        add_bars(plot.marks, bars, colour=key.colour, width=5 if width == WIDTH else 3, opacity=0.22)
    for key, own in there.items():
        line = [(plot.x(place[p.run]), _height(plot, p.mean)) for p in sorted(own, key=lambda p: p.run)]
        add_line(plot.marks, line, colour=key.colour, width=2, dash=key.dash)
        add_marks(plot.marks, ((at, SYMBOL) for at in line), colour=key.colour, shape=key.shape or "circle")
    plot.legend([*there])
    return plot.markup(description)


def _height(plot: Plot, thousandths: int) -> float:
    return plot.y(min(max(thousandths / 1000, 0), _HIGHEST))
