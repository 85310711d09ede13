from __future__ import annotations

from monitor.report.charts.probes import ScorePoint, scores_chart

START, END = "2026-11-20T00:00:00Z", "2026-11-21T00:00:00Z"
CORRECTNESS = tuple(ScorePoint(at, "correctness", 4200, 3900, 4500) for at in (START, END))
BOTH = (*CORRECTNESS, *(ScorePoint(at, "wscore", 4000, 4000, 4000) for at in (START, END)))


def test_scores_are_drawn_in_the_colour_of_the_text_and_without_inline_style():
    drawn = scores_chart(BOTH, START, END, "Mean scores", days=False)
    assert drawn.startswith("<svg")
    assert "currentColor" in drawn
    assert not any(forbidden in drawn for forbidden in ("style=", "<style", "<script", "http://127"))
    assert all(word in drawn for word in (">correctness<", ">wscore<", "mean score"))


def test_only_the_scores_that_there_are_are_named():
    drawn = scores_chart(CORRECTNESS, START, END, "Mean scores", days=False)
    assert ">correctness<" in drawn
    assert "wscore" not in drawn


def test_the_same_is_drawn_once():
    assert scores_chart(BOTH, START, END, "x", days=True) is scores_chart(BOTH, START, END, "x", days=True)
