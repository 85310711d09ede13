"""Draws charts as SVG and PNG: Altair makes Vega-Lite, vl-convert draws it in this process, nothing is fetched.

Lines and texts of an SVG take the colour of the text around them (`currentColor`), without a background, and the
colours of the marks contrast with white and black, so an inline chart is readable on light and dark pages and in print.
A PNG has a white background.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, timedelta
from typing import Any

import altair as alt

from monitor.alert.figures import capital, signal_words
from monitor.alert.notification import Course
from monitor.review.evaluate.elements import Drawing, RocDrawing
from monitor.review.evaluate.figures import XY, ReliabilityPoint

SIDE = 300  # pixels of a square plot; it fits on a phone with its axes
COLOURS = ("#2f7fd6", "#d9731a", "#4f9d50", "#a464c4")
_GUIDE = "currentColor"
_SHARE = alt.Scale(domain=[0, 1], nice=False)
_TICKS = [0, 0.2, 0.4, 0.6, 0.8, 1]
_INK, _GREY, _FAINT = "#333333", "#7c8894", "#d5dde5"
_BETWEEN = "#8a97a655"  # faint on white and on black
_LONGEST_IN_HOURS = timedelta(hours=36)
COURSE_WIDTH, COURSE_HEIGHT = 480, 240  # pixels of the plot, drawn at twice that for phones
PHONE_WIDTH = 240  # pixels of a plot that fits on a phone with its axes, at its natural size
_MOST_POINTS = 300  # of a curve; more cannot be distinguished on a plot of this size


def evaluation_chart(drawing: Drawing) -> str:
    """A chart of an evaluation as an SVG element."""
    if isinstance(drawing, RocDrawing):
        return roc_chart(drawing.curves, here=drawing.here, description=drawing.caption)
    return reliability_chart(drawing.points, description=drawing.caption)


def roc_chart(curves: Mapping[str, Sequence[XY]], *, here: Mapping[str, XY], description: str) -> str:
    """ROC curves by name, each from (0, 0) to (1, 1), as an SVG element.

    `here` has a point for some curves, by name: a fixed decision, on the curve or beside it.
    """
    names = [*curves]
    colour = alt.Color("curve:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS[: len(names)])))
    colour = colour.legend(title=None, orient="bottom", columns=1, labelLimit=SIDE)
    x = alt.X("x:Q", title="share of the others flagged", scale=_SHARE).axis(values=_TICKS)
    y = alt.Y("y:Q", title="share of the positive found", scale=_SHARE).axis(values=_TICKS)
    points = [
        {"curve": name, "order": number, "x": fpr, "y": tpr}
        for name, line in curves.items()
        for number, (fpr, tpr) in enumerate(thinned(line))
    ]
    lines = alt.Chart(data(points)).mark_line(strokeWidth=2).encode(x, y, colour, order="order:Q")
    marks = alt.Chart(data([{"curve": name, "x": fpr, "y": tpr} for name, (fpr, tpr) in here.items()]))
    dots = marks.mark_point(filled=True, size=70, opacity=1).encode(x, y, colour)
    return svg(alt.layer(_diagonal(), lines, dots), description)


def reliability_chart(points: Sequence[ReliabilityPoint], *, description: str) -> str:
    """Probabilities against the shares observed, with intervals, as an SVG element; a larger dot means more rows."""
    x = alt.X("said:Q", title="mean probability", scale=_SHARE).axis(values=_TICKS)
    y = alt.Y("observed:Q", title="share observed", scale=_SHARE).axis(values=_TICKS)
    rows = [{"said": p.said, "observed": p.observed, "rows": p.rows, "low": p.low, "high": p.high} for p in points]
    whole = alt.Chart(data(rows))
    bounded = alt.Chart(data([row for row in rows if row["low"] is not None]))
    bars = bounded.mark_rule(color=COLOURS[0], opacity=0.6).encode(x, alt.Y("low:Q", scale=_SHARE), alt.Y2("high:Q"))
    line = whole.mark_line(color=COLOURS[0], strokeWidth=1.5).encode(x, y)
    size = alt.Size("rows:Q", scale=alt.Scale(range=[20, 260], zero=True))
    size = size.legend(title="rows", orient="bottom", symbolFillColor=COLOURS[0], symbolStrokeWidth=0, tickCount=3)
    dots = whole.mark_point(filled=True, color=COLOURS[0], opacity=1).encode(x, y, size)
    return svg(alt.layer(_diagonal(), bars, line, dots), description)


def course_chart(course: Course) -> bytes:
    """A PNG of an alert's signal over time (UTC), its bound dashed, over faint bars of the numbers counted.

    A point without a value leaves a gap in the line. An upright line is the start of the alert.
    """
    title = alt.Title(
        capital(signal_words(course.name)),
        anchor="start",
        color=_INK,
        fontSize=14,
        fontWeight="normal",
        limit=COURSE_WIDTH,
    )
    drawn = (
        _course_layers(course, bars=_FAINT, words=_GREY, width=COURSE_WIDTH)
        .properties(width=COURSE_WIDTH, height=COURSE_HEIGHT, background="white", padding=12, title=title)
        .configure_axis(labelColor=_INK, titleColor=_INK, labelFontSize=14, titleFontSize=14, titleFontWeight="normal")
        .configure_view(stroke=None)
    )
    out = io.BytesIO()
    drawn.save(out, format="png", scale_factor=2)
    return out.getvalue()


def course_svg(course: Course, *, description: str, width: int = COURSE_WIDTH) -> str:
    """The chart of `course_chart` as an SVG element, for a page whose words say what it shows."""
    layers = _course_layers(course, bars=_BETWEEN, words=_GUIDE, width=width)
    return svg(layers, description, width=width, height=COURSE_HEIGHT)


def for_every_width(draw: Callable[[int], str], width: int) -> str:
    """What `draw` makes of a plot `width` pixels wide, and of one for a phone: the page's style shows one of the two.

    Scaled down to a phone, the words of a wide drawing could not be read.
    """
    wide, narrow = draw(width), draw(PHONE_WIDTH)
    return f'<div class="wide-drawing">{wide}</div><div class="phone-drawing">{narrow}</div>'


def _course_layers(course: Course, *, bars: str, words: str, width: int) -> alt.LayerChart:
    """`bars` and `words` are the colours of the numbers counted and of their axis."""
    form = {"share": ".0%", "seconds": ",~g", "number": "~g"}[course.unit]
    unit = "seconds" if course.unit == "seconds" else None
    # JavaScript's dates have no zone of ours: what is written is UTC, and read as local time by a drawing in UTC
    rows = [
        {"at": f"{point.at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z", "value": point.value, "total": point.total}
        for point in course.points
    ]
    days = bool(rows) and course.points[-1].at - course.points[0].at > _LONGEST_IN_HOURS
    time = alt.X("at:T", title="UTC", scale=alt.Scale(type="utc"))
    time = time.axis(format="%b %-d" if days else "%H:%M", tickCount=6 if width > PHONE_WIDTH else 4, grid=False)
    # three times the highest bar, so that the bars stay below the line
    ceiling = 3 * max([1, *(point.total for point in course.points)])
    counted = alt.Y("total:Q", title="counted", scale=alt.Scale(domain=[0, ceiling], nice=False))
    value = alt.Y("value:Q", title=unit, scale=alt.Scale(domainMin=0) if _positive(course) else alt.Scale())
    whole = alt.Chart(data(rows))
    counts = whole.mark_bar(color=bars, size=max(1.0, 0.8 * width / max(len(rows), 1))).encode(
        time, counted.axis(orient="right", titleColor=words, labelColor=words, values=[0, ceiling // 3], grid=False)
    )
    line = whole.mark_line(color=COLOURS[0], strokeWidth=2.5, point=alt.OverlayMarkDef(color=COLOURS[0], size=30))
    bound = alt.Chart(data([{"bound": course.bound}])).mark_rule(color=COLOURS[1], strokeWidth=2, strokeDash=[6, 4])
    layers = [line.encode(time, value.axis(format=form, tickCount=5)), bound.encode(alt.Y("bound:Q", title=unit))]
    if course.started_at is not None:
        began = alt.Chart(data([{"at": f"{course.started_at.astimezone(UTC):%Y-%m-%dT%H:%M:%S}Z"}]))
        layers.append(began.mark_rule(color=words, strokeWidth=1.5).encode(time))
    return alt.layer(counts, alt.layer(*layers)).resolve_scale(y="independent")  # type: ignore[no-any-return]


def _positive(course: Course) -> bool:
    """Whether the axis of the values may begin at zero."""
    return min([course.bound, *(point.value for point in course.points if point.value is not None)]) >= 0


def thinned(line: Sequence[XY]) -> list[XY]:
    """At most `_MOST_POINTS` of the points, evenly along the curve, including the first and the last."""
    if len(line) <= _MOST_POINTS:
        return list(line)
    kept, reached = [], -1.0
    for fpr, tpr in line[:-1]:
        if (fpr + tpr) - reached >= 2 / (_MOST_POINTS - 1):
            kept.append((fpr, tpr))
            reached = fpr + tpr
    return [*kept, line[-1]]


def _diagonal() -> alt.Chart:
    """The dashed diagonal: flagging by chance, or a perfect probability."""
    ends = alt.Chart(data([{"x": 0, "y": 0}, {"x": 1, "y": 1}]))
    line = ends.mark_line(strokeWidth=1, strokeDash=[4, 4], color=_GUIDE, opacity=0.6)
    return line.encode(alt.X("x:Q", scale=_SHARE), alt.Y("y:Q", scale=_SHARE))  # type: ignore[no-any-return]


def data(values: Sequence[Mapping[str, Any]]) -> alt.Data:
    """Rows that the chart contains itself."""
    return alt.Data(values=values)  # type: ignore[no-untyped-call]


def svg(chart: alt.LayerChart | alt.FacetChart, description: str, *, width: int = SIDE, height: int = SIDE) -> str:
    """The chart as an SVG element in the colour of the text around it; `width` by `height` pixels without the axes."""
    text: dict[str, Any] = {"labelColor": _GUIDE, "titleColor": _GUIDE, "labelFontSize": 12, "titleFontSize": 12}
    axes: dict[str, Any] = {"domainColor": _GUIDE, "tickColor": _GUIDE, "gridColor": _GUIDE, "gridOpacity": 0.15}
    drawn = (
        chart.properties(width=width, height=height, background="transparent", description=description)
        .configure_axis(**text, **axes, titleFontWeight="normal")
        .configure_legend(**text, titleFontWeight="normal")
        .configure_view(stroke=None)
    )
    out = io.StringIO()
    drawn.save(out, format="svg")
    return out.getvalue()
