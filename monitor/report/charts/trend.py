"""Draws shares of answers from day to day, with their intervals, as SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

import altair as alt

from monitor.report.charts.drawing import COLOURS, data, svg

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
    names = [*series]
    days = [point.day for points in series.values() for point in points]
    rows = [
        {"name": name, "day": f"{p.day}T00:00:00Z", "share": p.share, "lower": p.lower, "upper": p.upper}
        for name, points in series.items()
        for p in points
    ]
    scale = alt.Scale(domain=names, range=list(COLOURS[: len(names)]))
    colour = alt.Color("name:N", sort=names, scale=scale).legend(
        title=None,
        orient="top",
        symbolType="stroke",
        symbolStrokeWidth=3,
        symbolOpacity=1,
        columns=len(names) if width == WIDTH else 2,
    )
    form = alt.Y("share:Q", title="share of the day's answers", scale=alt.Scale(domainMin=0)).axis(
        format=".0%", tickCount=5
    )
    whole = alt.Chart(data(rows))
    known = alt.Chart(data([row for row in rows if row["share"] is not None]))
    low, high = alt.Y("lower:Q"), alt.Y2("upper:Q")
    bands = known.mark_rule(strokeWidth=7 if width == WIDTH else 4, opacity=0.22).encode(_time(days), low, high, colour)
    lines = whole.mark_line(strokeWidth=2.5, point=alt.OverlayMarkDef(size=26, opacity=1)).encode(
        _time(days), form, colour
    )
    return svg(alt.layer(_shade(since, days), bands, lines), description, width=width, height=HEIGHT)


def answers_chart(days: Sequence[tuple[date, int]], *, since: date, description: str, width: int = WIDTH) -> str:
    """Draws the number of answers of each day as bars; the days from `since` on are shaded."""
    rows = [{"day": f"{day}T00:00:00Z", "answers": answers} for day, answers in days]
    dates = [day for day, _ in days]
    number = alt.Y("answers:Q", title="answers").axis(format="~s", tickCount=3, tickMinStep=1)
    bars = alt.Chart(data(rows)).mark_bar(color=_FAINT, size=0.6 * width / max(len(rows), 1))
    return svg(
        alt.layer(_shade(since, dates), bars.encode(_time(dates), number)), description, width=width, height=BARS
    )


def _time(days: Sequence[date]) -> alt.X:
    """An axis from half a day before the first day to half a day after the last, with a tick on each Monday, in UTC."""
    domain = [_utc(min(days) - timedelta(days=1), hours=12), _utc(max(days), hours=12)]
    mondays = [_utc(day) for day in sorted(set(days)) if day.weekday() == 0]
    scale = alt.Scale(type="utc", domain=domain, nice=False)
    return alt.X("day:T", title=None, scale=scale).axis(values=mondays, format="%b %-d", grid=False)


def _utc(day: date, hours: int = 0) -> alt.DateTime:
    return alt.DateTime(year=day.year, month=day.month, date=day.day, hours=hours, utc=True)


def _shade(since: date, days: Sequence[date]) -> alt.Chart:
    ends = {"start": f"{since - timedelta(days=1)}T12:00:00Z", "end": f"{max(days)}T12:00:00Z"}
    band = alt.Chart(data([ends])).mark_rect(color=_FAINT, opacity=0.12)
    return band.encode(alt.X("start:T"), alt.X2("end:T"))  # type: ignore[no-any-return]
