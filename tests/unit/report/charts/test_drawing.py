from __future__ import annotations

import math
import re
from itertools import pairwise
from xml.etree import ElementTree as ET

import pytest

from monitor.alert.notification import Point
from monitor.report.charts.drawing import (
    COURSE_HEIGHT,
    COURSE_WIDTH,
    course_chart,
    reliability_chart,
    roc_chart,
    thinned,
)
from monitor.review.evaluate.figures import ReliabilityPoint
from tests.factories.alert.notifications import a_course, at


def texts(svg):
    return [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_a_roc_chart_names_its_curves_and_passes_through_their_points():
    svg = roc_chart(
        {"first & best": [(0, 0), (0.25, 0.75), (1, 1)], "second": [(0, 0), (1, 1)]},
        here={"first & best": (0.25, 0.75)},
        description="ROC <of> a test",
    )
    assert {"first & best", "second", "share of the others flagged"} <= set(texts(svg))
    assert "M0,300L75,75L300,0" in svg  # 300 pixels a side, y from above
    assert len(re.findall(r'd="M[\d.]+,75a[^"]*z" fill="#2f7fd6"', svg)) == 1  # the dot
    assert re.findall(r'(?:href|src)="', svg) == []


def test_a_reliability_chart_shows_bins_with_and_without_intervals():
    points = [
        ReliabilityPoint(said=0.25, observed=0.5, low=0.25, high=0.75, rows=10),
        ReliabilityPoint(said=0.75, observed=1.0, low=None, high=None, rows=1),
    ]
    svg = reliability_chart(points, description="a test")
    assert "M75,150L225,0" in svg
    assert re.findall(r'd="(M75,[^"]*)" stroke="#2f7fd6"', svg) == ["M75,225V75"]  # one interval, of the first
    assert reliability_chart([], description="nothing").startswith("<svg")


def test_charts_take_the_colours_of_the_text_around_them():
    svg = roc_chart({"a": [(0, 0), (1, 1)]}, here={}, description="")
    assert "currentColor" in svg
    assert not re.search(r'(?:fill|stroke)="(?:#000|#fff|black|white|#888|#ddd)"', svg)


def test_a_long_curve_is_thinned_and_keeps_its_ends_and_its_shape():
    line = [(i / 5_000, math.sqrt(i / 5_000)) for i in range(5_001)]
    few = thinned(line)
    assert len(few) <= 301
    assert (few[0], few[-1]) == ((0.0, 0.0), (1.0, 1.0))
    assert max(b[0] + b[1] - a[0] - a[1] for a, b in pairwise(few)) < 0.02
    assert thinned(line[:3]) == line[:3]


@pytest.mark.parametrize("curves", [1, 4])
def test_as_many_curves_as_there_are_colours(curves):
    lines = {f"curve {number}": [(0, 0), (1, 1)] for number in range(curves)}
    assert sum("curve" in text for text in texts(roc_chart(lines, here={}, description=""))) == curves


def size(png):
    assert png.startswith(b"\x89PNG\r\n\x1a\n")
    return int.from_bytes(png[16:20]), int.from_bytes(png[20:24])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"points": ()},
        {"points": (Point(at=at(0), value=None, total=0),)},
        {"points": (Point(at=at(0), value=0.1, total=5), Point(at=at(60 * 24 * 7), value=None, total=0))},
        {"unit": "seconds", "bound": 300.0},
        {"unit": "number", "bound": -0.2},
        {"name": "<!channel> & \u202e" + "x" * 500},
    ],
    ids=["usual", "nothing", "one point", "days", "seconds", "number", "any name"],
)
def test_the_course_of_an_alert_is_a_picture_large_enough_for_a_phone(changes):
    width, height = size(course_chart(a_course(**changes)))
    assert width >= 2 * COURSE_WIDTH
    assert height >= 2 * COURSE_HEIGHT
    assert width < 3 * COURSE_WIDTH


def test_the_course_shows_its_values_and_its_bound():
    drawn = course_chart(a_course())
    assert drawn == course_chart(a_course())
    assert drawn != course_chart(a_course(bound=0.2))
    assert drawn != course_chart(a_course(points=a_course().points[:-1]))
