"""Draws the shares of verdicts and the number of answers over a span of time, as SVG."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt

from monitor.report.charts.drawing import COLOURS, data, svg

WIDTH, HEIGHT = 560, 190  # pixels of a plot
_KEPT = 128  # drawings in each cache
_SERIES = {"self-generated": COLOURS[1], "refusal": COLOURS[0]}


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
    names = [*_SERIES]
    rows = [
        {"at": p.at, "verdict": p.verdict, "share": p.share / 1000, "low": p.low / 1000, "high": p.high / 1000}
        for p in points
    ]
    scale = alt.Scale(domain=names, range=list(_SERIES.values()))
    legend = alt.Legend(title=None, orient="top", symbolStrokeWidth=2, symbolOpacity=1)
    shared: dict[str, Any] = {"sort": names, "legend": legend}
    colour = alt.Color("verdict:N", scale=scale, **shared)
    dash = alt.StrokeDash("verdict:N", scale=alt.Scale(domain=names, range=[[1, 0], [5, 3]]), **shared)
    shape = alt.Shape("verdict:N", scale=alt.Scale(domain=names, range=["circle", "triangle-up"]), **shared)
    share = alt.Y("share:Q", title="share of the answers", scale=alt.Scale(domainMin=0)).axis(format=".0%", tickCount=5)
    whole = alt.Chart(data(rows))
    time = _time(start, end, days=days, width=width)
    bars = whole.mark_rule(strokeWidth=5 if width == WIDTH else 3, opacity=0.22).encode(
        time, alt.Y("low:Q"), alt.Y2("high:Q"), colour
    )
    lines = whole.mark_line(strokeWidth=2).encode(time, share, colour, dash)
    dots = whole.mark_point(filled=True, opacity=1, size=34).encode(time, share, colour, shape)
    known = [
        {"at": t.start, "end": t.end, "verdict": t.verdict, "low": t.low / 1000, "high": t.high / 1000}
        for t in true_rates
    ]
    bands = (
        alt.Chart(data(known))
        .mark_rect(opacity=0.16)
        .encode(
            time,
            alt.X2("end:T"),
            alt.Y("low:Q"),
            alt.Y2("high:Q"),
            colour,
        )
    )
    layers = [bands] * bool(known) + [bars, lines, dots]
    return svg(alt.layer(*layers), description, width=width, height=HEIGHT)


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
    rows = [{"at": bin_.at, "answers": bin_.total} for bin_ in answers]
    number = alt.Y("answers:Q", title="answers", scale=alt.Scale(domainMin=0, nice=True)).axis(
        format="~s", tickCount=4, tickMinStep=1
    )
    time = _time(start, end, days=days, width=width)
    bars = alt.Chart(data(rows)).mark_bar(color=COLOURS[2], size=0.7 * width / bins).encode(time, number)
    return svg(alt.layer(bars), description, width=width, height=HEIGHT)


def _time(start: str, end: str, *, days: bool, width: int) -> alt.X:
    scale = alt.Scale(type="utc", domain=[start, end], nice=False)
    return alt.X("at:T", title="UTC", scale=scale).axis(
        format="%b %-d" if days else "%H:%M", tickCount=7 if width == WIDTH else 4, grid=False, labelOverlap=True
    )


def warmed() -> Sequence[str]:
    """Draws something, so that the first visitor does not wait for the library."""
    start, end = "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"
    point = RatePoint(start, "refusal", 10, 0, 20)
    return (
        rates_chart((point,), start, end, "", days=False),
        answers_chart((Answers(start, 1),), start, end, "", bins=24, days=False),
    )
