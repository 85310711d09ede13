from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.probe.figures import figures
from monitor.web.probe.view import probe_views, shown
from tests.factories.probe.runs import AT, item, result, run


def a_run(*scores, hours=0, **changes):
    told = run(**{"number": 1 + hours, "began_at": AT + timedelta(hours=hours), **changes})
    return told, figures([result(item(n), score).scored for n, score in enumerate(scores)])


def test_probes_are_named_once_each_with_its_newest_run():
    views = probe_views([a_run(5, probe="a", hours=2), a_run(2, probe="b", hours=3), a_run(4, probe="b")])
    assert [(view.run.probe, view.figures.correctness.mean) for view in views] == [("a", 5.0), ("b", 2.0)]
    assert [view.drawing is None for view in views] == [True, False]


@pytest.mark.parametrize("other", [{"app": "bank"}, {"environment": "staging"}])
def test_apps_and_environments_with_a_probe_of_the_same_name_are_told_apart(other):
    views = probe_views([a_run(5), a_run(1, hours=1, **other)])
    assert [(view.figures.correctness.mean, view.drawing) for view in views] == [(5.0, None), (1.0, None)]


def test_a_course_needs_scores_and_two_runs_however_near():
    assert probe_views([a_run(2)])[0].drawing is None
    within_a_second = probe_views([a_run(2, number=7), a_run(3, number=6)])
    assert all(f">{number}</text>" in str(within_a_second[0].drawing) for number in (6, 7))
    assert probe_views([a_run(0, hours=1), a_run(0)])[0].drawing is None


def test_further_turns_have_a_line_of_their_own():
    (one,) = probe_views([a_run(2, 3, hours=1), a_run(3, 4)])
    (more,) = probe_views([a_run(2, 3, hours=1, turns=3), a_run(3, 4, turns=3)])
    assert "wscore" not in str(one.drawing)
    assert "wscore" in str(more.drawing)


def test_texts_are_masked_and_hide_nothing():
    assert shown("write to jane.doe@example.org\u202e") != "write to jane.doe@example.org\u202e"
    assert "jane.doe" not in shown("write to jane.doe@example.org")
    assert shown("a\u202eb") == "a⟨U+202E⟩b"
