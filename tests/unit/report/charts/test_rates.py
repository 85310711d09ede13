from __future__ import annotations

from monitor.report.charts.rates import Answers, RatePoint, answers_chart, rates_chart

START, END = "2025-11-20T00:00:00Z", "2025-11-21T00:00:00Z"
POINTS = tuple(
    RatePoint(f"2025-11-20T{hour:02}:30:00Z", verdict, 40 + hour, 30, 60)
    for hour in range(24)
    for verdict in ("refusal", "self-generated")
)


def test_the_shares_are_drawn_in_the_colour_of_the_text_and_without_inline_style():
    drawn = rates_chart(POINTS, START, END, "Verdicts of the last day", days=False)
    assert drawn.startswith("<svg")
    assert "currentColor" in drawn
    assert not any(forbidden in drawn for forbidden in ("style=", "<style", "<script", "http://127"))
    assert all(word in drawn for word in ("refusal", "self-generated", "share of the answers"))


def test_the_same_is_drawn_once():
    assert rates_chart(POINTS, START, END, "x", days=False) is rates_chart(POINTS, START, END, "x", days=False)


def test_bars_are_as_wide_as_bins_however_few_there_are():
    one = answers_chart((Answers("2025-11-20T23:30:00Z", 900),), START, END, "x", bins=24, days=False)
    width = 0.7 * 560 / 24
    assert f'stroke-width="{width:.3f}"' in one
