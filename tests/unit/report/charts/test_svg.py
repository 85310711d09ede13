from __future__ import annotations

import re
from datetime import date
from xml.etree import ElementTree as ET

import pytest

from monitor.report.charts.drawing import course_svg, reliability_chart, roc_chart
from monitor.report.charts.svg import fitted, number
from monitor.report.charts.trend import DayShare, shares_chart
from tests.factories.alert.notifications import a_course

SVG = "{http://www.w3.org/2000/svg}"
TAGS = {SVG + tag for tag in ("svg", "desc", "g", "path", "rect", "text")}
HOSTILE = [
    "</text></svg><script>alert(1)</script>",
    '" onload="alert(1)',
    "&lt;script&gt; &amp; ]]> <![CDATA[",
    "null \x00 bell \x07 escape \x1b[31m \ufffe",
    "turned \u202e round \u2066 \u200b",
    "lone \ud800 surrogate",
    "<!DOCTYPE svg [<!ENTITY a 'b'>]>&a;",
]


def charts(name):
    day = DayShare(day=date(2026, 10, 19), share=0.2, lower=0.1, upper=0.3)
    yield roc_chart({name: [(0, 0), (1, 1)]}, here={name: (0.5, 0.5)}, description=name)
    yield shares_chart({name: [day]}, since=day.day, description=name)
    yield reliability_chart([], description=name)
    yield course_svg(a_course(name=name), description=name)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_stays_text(name):
    for chart in charts(name):
        root = ET.fromstring(chart.encode())
        assert {element.tag for element in root.iter()} <= TAGS
        names = {attribute for element in root.iter() for attribute in element.attrib}
        assert not any(attribute.startswith("on") or attribute in {"style", "href"} for attribute in names)
        assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202e\u2066\ud800]", chart)


def test_a_name_is_shown_as_it_is_written():
    (roc, *_) = charts("a < b & \"c\" 'd'")
    root = ET.fromstring(roc)
    assert "a < b & \"c\" 'd'" in {element.text for element in root.iter(SVG + "text")}


def test_a_chart_is_an_image_with_a_description():
    root = ET.fromstring(roc_chart({"a": [(0, 0), (1, 1)]}, here={}, description='ROC <of> "a"'))
    assert (root.get("role"), root.get("aria-label")) == ("img", 'ROC <of> "a"')
    assert root.findtext(SVG + "desc") == 'ROC <of> "a"'


def test_a_chart_that_its_page_describes_is_hidden_from_screen_readers():
    root = ET.fromstring(course_svg(a_course(), description=""))
    assert root.get("aria-hidden") == "true"
    assert root.get("role") is None


def test_nothing_is_drawn_outside_the_view():
    for chart in charts("x" * 300):
        root = ET.fromstring(chart)
        width, height = float(root.get("width")), float(root.get("height"))
        assert root.get("viewBox") == f"0 0 {width:g} {height:g}"
        left, top = map(float, re.findall(r"[\d.]+", root.find(SVG + "g").get("transform")))
        for text in root.iter(SVG + "text"):
            assert -left <= float(text.get("x")) <= width - left
            assert -top <= float(text.get("y")) <= height - top


def test_text_is_cut_to_the_room_there_is():
    assert fitted("abc", 10, 100) == "abc"
    cut = fitted("x" * 100, 10, 100)
    assert cut.endswith("…")
    assert len(cut) == 15


@pytest.mark.parametrize(("value", "text"), [(75.0, "75"), (-0.0001, "0"), (1 / 3, "0.333"), (-2.5, "-2.5")])
def test_numbers_are_short(value, text):
    assert number(value) == text
