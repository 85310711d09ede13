"""Draws evaluations and the course of an alert.

Lines and texts of an SVG take the colour of the text around them (`currentColor`), without a background, and the
colours of the marks contrast with white and black, so an inline chart is readable on light and dark pages and in print.
A PNG has a white background.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta

from monitor.alert.figures import capital, signal_words
from monitor.alert.notification import Course, Unit
from monitor.report.charts.picture import png
from monitor.report.charts.plot import Key, Look, Plot
from monitor.report.charts.scales import (
    Scale,
    as_number,
    as_percent,
    padded,
    rounded_span,
    ticks,
    time_ticks,
)
from monitor.report.charts.svg import Place, add_bars, add_line, add_marks
from monitor.review.evaluate.elements import Drawing, RocDrawing
from monitor.review.evaluate.figures import XY, ReliabilityPoint

SIDE = 300  # pixels of a square plot; it fits on a phone with its axes
COLOURS = ("#2f7fd6", "#d9731a", "#4f9d50", "#a464c4")
_SHARES = (0.0, 1.0)
_SMALLEST, _LARGEST = 20, 260  # square pixels of a dot
_PAGE = Look()
_PICTURE = Look(words="#333333", lines="#8a8f94", background="#ffffff", size=14, padding=12)
_GREY, _FAINT = "#6b7782", "#d5dde5"
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
    """ROC curves by name, at most four, each from (0, 0) to (1, 1), as an SVG element.

    `here` has a point for some curves, by name: a fixed decision, on the curve or beside it.
    """
    plot = _square("share of the others flagged", "share of the positive found")
    colours = dict(zip(curves, COLOURS, strict=False))
    for name, colour in colours.items():
        add_line(plot.marks, [_place(plot, point) for point in thinned(curves[name])], colour=colour, width=2)
    for name, point in here.items():
        add_marks(plot.marks, [(_place(plot, point), 70)], colour=colours[name])
    plot.legend([Key(name=name, colour=colour, area=70) for name, colour in colours.items()], above=False)
    return plot.markup(description)


def reliability_chart(points: Sequence[ReliabilityPoint], *, description: str) -> str:
    """Probabilities against the shares observed, with intervals, as an SVG element; a larger dot means more rows."""
    plot = _square("mean probability", "share observed")
    most = max((point.rows for point in points), default=0)
    area = Scale(0, max(most, 1), _SMALLEST, _LARGEST)
    intervals = (
        (plot.x(p.said), plot.y(p.low), plot.y(p.high)) for p in points if p.low is not None and p.high is not None
    )
    add_bars(plot.marks, intervals, colour=COLOURS[0], width=1.5, opacity=0.6)
    places = [_place(plot, (p.said, p.observed)) for p in points]
    add_line(plot.marks, places, colour=COLOURS[0], width=1.5)
    sizes = (area(point.rows) for point in points)
    add_marks(plot.marks, zip(places, sizes, strict=True), colour=COLOURS[0])
    _, _, step = rounded_span(0, most, 3, whole=True)
    shown = ticks(step, most, step, as_number)
    plot.legend(
        [Key(name=text, colour=COLOURS[0], line=False, area=area(rows)) for rows, text in shown],
        above=False,
        title="rows" if shown else "",
    )
    return plot.markup(description)


def course_chart(course: Course) -> bytes:
    """A PNG of an alert's signal over time (UTC), its bound dashed, over faint bars of the numbers counted.

    A point without a value leaves a gap in the line. An upright line is when the alert fired.
    """
    plot = _course_plot(course, look=_PICTURE, bars=_FAINT, words=_GREY, width=COURSE_WIDTH)
    plot.title(capital(signal_words(course.name)))
    return png(plot.markup(""), scale=2)


def course_svg(course: Course, *, description: str, width: int = COURSE_WIDTH) -> str:
    """The chart of `course_chart` as an SVG element, for a page whose words say what it shows."""
    return _course_plot(course, look=_PAGE, bars=_BETWEEN, words=_PAGE.words, width=width).markup(description)


def for_every_width(draw: Callable[[int], str], width: int) -> str:
    """What `draw` makes of a plot `width` pixels wide, and of one for a phone: the page's style shows one of the two.

    Scaled down to a phone, the words of a wide drawing could not be read.
    """
    wide, narrow = draw(width), draw(PHONE_WIDTH)
    return f'<div class="wide-drawing">{wide}</div><div class="phone-drawing">{narrow}</div>'


def _course_plot(course: Course, *, look: Look, bars: str, words: str, width: int) -> Plot:
    """`bars` and `words` are the colours of the numbers counted and of their axis."""
    times = [point.at for point in course.points]
    values = [point.value for point in course.points if point.value is not None]
    low, high, step = _value_span([course.bound, *values])
    began = course.started_at
    start, end = padded(times) if times else (None, None)
    if start is not None and end is not None and began is not None:
        start, end = min(start, began), max(end, began)
    span = (start.timestamp(), end.timestamp()) if start is not None and end is not None else (0.0, 0.0)
    plot = Plot(width, COURSE_HEIGHT, x=span, y=(low, high), look=look)
    # three times the highest bar, so that the bars stay below the line
    most = max([1, *(point.total for point in course.points)])
    counted = Scale(0, 3 * most, COURSE_HEIGHT, 0)
    plot.left(ticks(low, high, step, _SAY[course.unit]), "seconds" if course.unit == "seconds" else "")
    plot.right([(0, "0"), (most, f"{most:,}")], "counted", scale=counted, colour=words)
    marked = []
    if start is not None and end is not None:
        days = times[-1] - times[0] > _LONGEST_IN_HOURS
        marked = time_ticks(start, end, 6 if width > PHONE_WIDTH else 4, days=days)
    plot.bottom(marked, "UTC")
    drawn = ((plot.x(p.at.timestamp()), counted(0), counted(p.total)) for p in course.points if p.total)
    add_bars(plot.marks, drawn, colour=bars, width=max(1.0, 0.8 * width / max(len(times), 1)))
    if began is not None and times:
        add_line(plot.marks, _upright(plot, began.timestamp()), colour=words, width=1.5)
    bound = plot.y(course.bound)
    add_line(plot.marks, [(0, bound), (width, bound)], colour=COLOURS[1], width=2, dash="6,4")
    line = [None if p.value is None else (plot.x(p.at.timestamp()), plot.y(p.value)) for p in course.points]
    add_line(plot.marks, line, colour=COLOURS[0], width=2.5)
    add_marks(plot.marks, ((place, 30) for place in line if place is not None), colour=COLOURS[0])
    return plot


def _upright(plot: Plot, x: float) -> list[Place]:
    return [(plot.x(x), 0), (plot.x(x), plot.height)]


def _value_span(values: Sequence[float]) -> tuple[float, float, float]:
    """The ends of an axis with room for the values, which begins at zero if none is below it; and its step."""
    return rounded_span(min(0, *values) if min(values) >= 0 else min(values), max(values), 5)


_SAY: Mapping[Unit, Callable[[float, float], str]] = {
    "share": as_percent,
    "seconds": as_number,
    "number": as_number,
}


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


def _square(below: str, beside: str) -> Plot:
    """A square plot of shares with its dashed diagonal: flagging by chance, or a perfect probability."""
    plot = Plot(SIDE, SIDE, x=_SHARES, y=_SHARES, look=_PAGE)
    marked = ticks(0, 1, 0.2, as_number)
    plot.left(marked, beside)
    plot.bottom(marked, below, grid=True)
    add_line(plot.marks, [(0, SIDE), (SIDE, 0)], colour=_PAGE.lines, width=0.7, dash="4,4")
    return plot


def _place(plot: Plot, point: XY) -> Place:
    return plot.x(point[0]), plot.y(point[1])
