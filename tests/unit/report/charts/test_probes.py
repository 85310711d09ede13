from __future__ import annotations

from monitor.report.charts.probes import ScorePoint, scores_chart

CORRECTNESS = tuple(ScorePoint(run, "correctness", 4200, 3900, 4500) for run in (1, 2))
BOTH = (*CORRECTNESS, *(ScorePoint(run, "wscore", 4000, 4000, 4000) for run in (1, 2)))


def test_scores_are_drawn_in_the_colour_of_the_text_and_without_inline_style():
    drawn = scores_chart(BOTH, "Mean scores")
    assert drawn.startswith("<svg")
    assert "currentColor" in drawn
    assert not any(forbidden in drawn for forbidden in ("style=", "<style", "<script", "http://127"))
    assert all(word in drawn for word in (">correctness<", ">wscore<", "mean score"))


def test_only_the_scores_that_there_are_are_named():
    drawn = scores_chart(CORRECTNESS, "Mean scores")
    assert ">correctness<" in drawn
    assert "wscore" not in drawn


def test_the_same_is_drawn_once():
    assert scores_chart(BOTH, "x") is scores_chart(BOTH, "x")
