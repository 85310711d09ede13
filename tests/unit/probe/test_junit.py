"""JUnit XML of a run, parsed back."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from xml.etree.ElementTree import fromstring

import pytest

from monitor.probe.figures import figures
from monitor.probe.golden import GoldenItem
from monitor.probe.junit import checks, junit_xml, parse_threshold
from monitor.probe.result import ItemResult, ItemState, ProbeRun, RunState, Scored, Turn

RUN = ProbeRun(
    number=1,
    probe="sup\x1bport",
    app="a",
    environment="",
    chatbot="",
    golden="g",
    golden_version=1,
    golden_hash="h",
    items=2,
    target="http",
    judge="m",
    prompts_hash="p",
    repeats=1,
    turns=1,
    state=RunState.DONE,
    began_at=datetime(2026, 3, 1, tzinfo=UTC),
)
HOSTILE = "\x00\x1b]]><error/>&\ud800\uffff"


def test_it_is_read_back_with_failures_and_errors_whatever_the_texts_hold() -> None:
    item = GoldenItem(id=HOSTILE, question=HOSTILE, reference=HOSTILE)
    results = [
        ItemResult(item=item, state=ItemState.GRADED, turns=(Turn(question="?", answer=HOSTILE),), correctness=3.0),
        ItemResult(item=item, state=ItemState.FAILED, turns=(Turn(question="?", answer="", failure="timeout\x07"),)),
    ]
    scores = [
        Scored(item=str(n), state=r.state, correctness=r.correctness, wscore=None, lscore=None, mscore=None)
        for n, r in enumerate(results)
    ]
    thresholds = [parse_threshold("correctness=4.0"), parse_threshold("unsure=0.5")]
    root = fromstring(junit_xml(RUN, results, figures(scores), thresholds))
    suite = root.find("testsuite")
    assert root.tag == "testsuites"
    assert suite is not None
    assert {name: suite.get(name) for name in ("tests", "failures", "errors")} == {
        "tests": "5",
        "failures": "2",
        "errors": "1",
    }
    assert [case.get("name") for case in suite.findall("testcase")][2:] == [
        "judged >= 95%",
        "correctness >= 4",
        "unsure <= 0.5",
    ]
    assert [error.get("message") for error in suite.iter("error")] == ["timeout\ufffd"]
    assert [failure.get("message") for failure in suite.iter("failure")] == [
        "only 1 of 2 questions have a grade",
        "correctness is 3.00, and its limit is 4",
    ]


@pytest.mark.parametrize("text", ["", "correctness", "correctness=x", "correctness=nan", "spread=1", "wscore=-1"])
def test_what_is_no_threshold_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="no threshold"):
        parse_threshold(text)


def test_a_run_that_was_stopped_is_an_error() -> None:
    stopped = replace(RUN, state=RunState.STOPPED, error="1 of 2 questions were asked\x1b: it was told to stop")
    root = fromstring(junit_xml(stopped, [], figures([]), []))
    assert (root.get("tests"), root.get("errors")) == ("1", "1")
    assert [e.get("message") for e in root.iter("error")] == ["1 of 2 questions were asked\ufffd: it was told to stop"]


def test_a_mean_just_below_its_limit_is_not_shown_as_the_limit() -> None:
    scores = [
        Scored(item=str(n), state=ItemState.GRADED, correctness=one, wscore=None, lscore=None, mscore=None)
        for n, one in enumerate([4.0] * 499 + [3.0])
    ]
    assert parse_threshold("correctness=4").problem(figures(scores)) == "correctness is 3.998000, and its limit is 4"
    assert parse_threshold("correctness=3.998").problem(figures(scores)) is None


@pytest.mark.parametrize(
    ("unanswered", "problem"), [(0, None), (5, None), (6, "only 94 of 100"), (99, "only 1 of 100")]
)
def test_a_gate_wants_grades_of_nearly_all_questions(unanswered: int, problem: str | None) -> None:
    states = [ItemState.FAILED] * unanswered + [ItemState.GRADED] * (100 - unanswered)
    scores = [
        Scored(item=str(n), state=state, correctness=5.0, wscore=None, lscore=None, mscore=None)
        for n, state in enumerate(states)
    ]
    found = checks(figures(scores), [parse_threshold("correctness=4")])
    assert [why and why.removesuffix(" questions have a grade") for _, why in found] == [problem, None]
    assert checks(figures(scores), []) == []


@pytest.mark.parametrize("text", ["correctness=9", "correctness=0.5", "unsure=20", "lscore=0"])
def test_a_threshold_beyond_the_scale_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="says nothing"):
        parse_threshold(text)
