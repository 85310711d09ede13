"""Draws shares of answers from day to day, with their intervals, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time

from monitor.report.charts.drawing import COLOURS
from monitor.report.charts.plot import Key, Look, Plot
from monitor.report.charts.scales import Tick, as_amount, as_percent, date_words, rounded_span, ticks
from monitor.report.charts.svg import add, add_bars, add_line, add_marks

WIDTH, HEIGHT, BARS = 640, 230, 80  # pixels of the plots
_FAINT = "#8a97a6"


@dataclass(frozen=True, slots=True, kw_only=True)
class DayShare:
    """A share of one day's answers with its interval; all three are None if the day has no answers."""

    day: date
    share: float | None
    lower: float | None
    upper: float | None


def shares_chart(series: Mapping[str, Sequence[DayShare]], *, since: date, description: str, width: int = WIDTH) -> str:
    """Draws a line with its band for each of at most four series; the days from `since` on are shaded.

    A day without answers leaves a gap.
    """
    days = [point.day for points in series.values() for point in points]
    tops = [point.upper for points in series.values() for point in points if point.upper is not None]
    _, high, step = rounded_span(0, max(tops, default=1), 5)
    plot = _plot(days, since, width, HEIGHT, high)
    plot.left(ticks(0, high, step, as_percent), "share of the day's answers")
    plot.bottom(_mondays(days))
    for points, colour in zip(series.values(), COLOURS, strict=False):
        bands = (
            (plot.x(_noon(p.day)), plot.y(p.lower), plot.y(p.upper))
            for p in points
            if p.lower is not None and p.upper is not None
        )
        add_bars(plot.marks, bands, colour=colour, width=7 if width == WIDTH else 4, opacity=0.22)
        line = [None if p.share is None else (plot.x(_noon(p.day)), plot.y(p.share)) for p in points]
        add_line(plot.marks, line, colour=colour, width=2.5)
        add_marks(plot.marks, ((place, 26) for place in line if place is not None), colour=colour)
    plot.legend([Key(name=name, colour=colour) for name, colour in zip(series, COLOURS, strict=False)])
    return plot.markup(description)


def answers_chart(days: Sequence[tuple[date, int]], *, since: date, description: str, width: int = WIDTH) -> str:
    """Draws the number of answers of each day as bars; the days from `since` on are shaded."""
    dates = [day for day, _ in days]
    _, high, step = rounded_span(0, max((answers for _, answers in days), default=1), 3, whole=True)
    plot = _plot(dates, since, width, BARS, high)
    plot.left(ticks(0, high, step, as_amount), "answers")
    plot.bottom(_mondays(dates))
    bars = ((plot.x(_noon(day)), plot.y(0), plot.y(answers)) for day, answers in days if answers)
    add_bars(plot.marks, bars, colour=_FAINT, width=0.6 * width / max(len(days), 1))
    return plot.markup(description)


def _plot(days: Sequence[date], since: date, width: int, height: int, high: float) -> Plot:
    """A plot whose days are each as wide, from the first to the last; those from `since` on are shaded."""
    first, last = min(days), max(days)
    plot = Plot(width, height, x=(_noon(first) - 43_200, _noon(last) + 43_200), y=(0, high), look=Look())
    left = max(plot.x(_noon(since) - 43_200), 0)
    if left < width:
        add(plot.marks, "rect", x=left, y=0.0, width=width - left, height=height, fill=_FAINT, opacity=0.12)
    return plot


def _mondays(days: Sequence[date]) -> list[Tick]:
    return [(_noon(day), date_words(day)) for day in sorted(set(days)) if day.weekday() == 0]


def _noon(day: date) -> float:
    """The middle of a day in UTC, in seconds from the epoch."""
    return datetime.combine(day, time(12), UTC).timestamp()
