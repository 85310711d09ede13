from __future__ import annotations

import re
from datetime import date, timedelta
from xml.etree import ElementTree as ET

from monitor.report.charts.trend import DayShare, answers_chart, shares_chart

FIRST = date(2026, 10, 19)
DAYS = [FIRST + timedelta(days=n) for n in range(28)]
SINCE = DAYS[21]


def points(gap: int | None = None) -> list[DayShare]:
    return [
        DayShare(day=day, share=None, lower=None, upper=None)
        if n == gap
        else DayShare(day=day, share=0.25, lower=0.125, upper=0.5)
        for n, day in enumerate(DAYS)
    ]


def texts(svg: str) -> list[str | None]:
    return [element.text for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]


def test_lines_bands_and_mondays():
    svg = shares_chart({"refusals": points(), "self-generated": points(gap=3)}, since=SINCE, description="a <test>")
    assert {"refusals", "self-generated", "Oct 19", "Oct 26", "Nov 2", "Nov 9"} <= set(texts(svg))
    bands = re.findall(r'd="([^"]*)"[^>]*stroke-width="7"', svg)
    assert [band.count("V") for band in bands] == [28, 27]
    assert re.findall(r'(?:href|src)="', svg) == []
    assert "currentColor" in svg


def test_a_day_without_answers_leaves_a_gap():
    svg = shares_chart({"refusals": points(gap=3)}, since=SINCE, description="")
    (line,) = re.findall(r'd="([^"]*)"[^>]*stroke-width="2.5"', svg)
    assert line.count("M") == 2


def test_the_same_days_draw_the_same_bytes():
    one, other = (shares_chart({"refusals": points()}, since=SINCE, description="") for _ in range(2))
    assert one == other
    assert answers_chart([(day, 1) for day in DAYS], since=SINCE, description="").startswith("<svg")
