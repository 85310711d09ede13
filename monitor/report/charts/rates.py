"""Draws the shares of verdicts and the number of answers over a span of time, as SVG."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache

from monitor.report.charts.drawing import COLOURS
from monitor.report.charts.plot import SYMBOL, Key, Look, Plot
from monitor.report.charts.scales import Tick, as_amount, as_percent, rounded_span, ticks, time_ticks
from monitor.report.charts.svg import add, add_bars, add_line, add_marks

WIDTH, HEIGHT = 560, 190  # pixels of a plot
_KEPT = 128  # drawings in each cache
_SERIES = {
    "self-generated": Key(name="self-generated", colour=COLOURS[1]),
    "refusal": Key(name="refusal", colour=COLOURS[0], shape="triangle", dash="5,3"),
}


@dataclass(frozen=True, slots=True)
class RatePoint:
    """The share of one verdict in a bin, per mille, with its interval; `at` is the middle of the bin, in ISO 8601."""

    at: str
    verdict: str  # a key of `_SERIES`
    share: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class TrueRate:
    """The interval of the true rate of a verdict, per mille, in a period from `start` to `end`, in ISO 8601."""

    start: str
    end: str
    verdict: str  # a key of `_SERIES`
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Answers:
    """The number of answers in a bin; `at` is the middle of the bin, in ISO 8601."""

    at: str
    total: int


@lru_cache(maxsize=_KEPT)
def rates_chart(
    points: tuple[RatePoint, ...],
    start: str,
    end: str,
    description: str,
    *,
    days: bool,
    true_rates: tuple[TrueRate, ...] = (),
    width: int = WIDTH,
) -> str:
    """Shares of refusals and of self-generated answers in [start, end) with their intervals, as an SVG element.

    The lines differ in dash and in the shape of their points too. `true_rates` are drawn as areas over their
    periods, which must not reach beyond [start, end). Drawings are cached.
    """
    begin, finish = _seconds(start), _seconds(end)
    tops = [1, *(point.high for point in points), *(rate.high for rate in true_rates)]
    _, high, step = rounded_span(0, max(tops) / 1000, 5)
    plot = Plot(width, HEIGHT, x=(begin, finish), y=(0, high), look=Look())
    plot.left(ticks(0, high, step, as_percent), "share of the answers")
    plot.bottom(_time(start, end, days=days, width=width), "UTC")
    for rate in true_rates:
        left, right = plot.x(_seconds(rate.start)), plot.x(_seconds(rate.end))
        upper, lower = plot.y(rate.high / 1000), plot.y(rate.low / 1000)
        area = {"x": left, "y": upper, "width": right - left, "height": lower - upper}
        add(plot.marks, "rect", **area, fill=_SERIES[rate.verdict].colour, opacity=0.16)
    for name, key in _SERIES.items():
        own = [(plot.x(_seconds(p.at)), p) for p in points if p.verdict == name]
        bars = ((x, plot.y(p.low / 1000), plot.y(p.high / 1000)) for x, p in own)
        add_bars(plot.marks, bars, colour=key.colour, width=5 if width == WIDTH else 3, opacity=0.22)
    for name, key in _SERIES.items():
        line = [(plot.x(_seconds(p.at)), plot.y(p.share / 1000)) for p in points if p.verdict == name]
        add_line(plot.marks, line, colour=key.colour, width=2, dash=key.dash)
        add_marks(plot.marks, ((place, SYMBOL) for place in line), colour=key.colour, shape=key.shape or "circle")
    plot.legend([*_SERIES.values()])
    return plot.markup(description)


@lru_cache(maxsize=_KEPT)
def answers_chart(
    answers: tuple[Answers, ...],
    start: str,
    end: str,
    description: str,
    *,
    bins: int,
    days: bool,
    width: int = WIDTH,
) -> str:
    """The number of answers in the `bins` of [start, end), as bars in an SVG element. Drawings are cached."""
    _, high, step = rounded_span(0, max((bin_.total for bin_ in answers), default=1), 4, whole=True)
    plot = Plot(width, HEIGHT, x=(_seconds(start), _seconds(end)), y=(0, high), look=Look())
    plot.left(ticks(0, high, step, as_amount), "answers")
    plot.bottom(_time(start, end, days=days, width=width), "UTC")
    bars = ((plot.x(_seconds(bin_.at)), plot.y(0), plot.y(bin_.total)) for bin_ in answers if bin_.total)
    add_bars(plot.marks, bars, colour=COLOURS[2], width=0.7 * width / bins)
    return plot.markup(description)


def _time(start: str, end: str, *, days: bool, width: int) -> list[Tick]:
    return time_ticks(_instant(start), _instant(end), 7 if width == WIDTH else 4, days=days)


def _instant(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _seconds(text: str) -> float:
    return _instant(text).timestamp()
