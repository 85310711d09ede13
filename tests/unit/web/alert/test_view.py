from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest

from monitor.alert.notification import Course, Point
from monitor.alert.notify.notified import described
from monitor.alert.state import State
from monitor.alert.window import Count, Counts
from monitor.simulate.fakes.alerts import MemoryAlertStore
from monitor.web.alert import view as alert_view
from monitor.web.alert.rule_figures import nearest_to_firing
from tests.factories.alert.alerts import a_method, a_rule, a_rule_set, an_alert
from tests.factories.answers import at

SOURCE = """\
grouping: {by: [app]}
rules:
  # the first
  - name: one
    signal: {rate: negative}
    above: 0.3   # a third

  # about the second
  - {name: two, signal: lag, above: 300}
  - name: three
    signal: no_data
"""


def test_an_alert_in_words():
    its = an_alert()
    assert alert_view.name(its) == "negative-rate, shop"
    assert (alert_view.value(its), alert_view.limit(its)) == ("40.0 %", "fires above 30.0 %")
    assert alert_view.headline(its) == "Negative answers: 40.0 %, fires above 30.0 %"
    assert alert_view.duration(its, at(61.5)) == "1h1m", "since it fired, not since it began to breach"
    assert alert_view.duration(its, at(0.5)) == "30s"
    assert alert_view.duration(an_alert(fired_at=None, state=State.PENDING), at(0.5)) == "2m30s"


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_a_word_and_can_be_told(state):
    its = an_alert(state=state)
    assert alert_view.STATES[state][0]
    assert described(its).rule == "negative-rate"


@pytest.mark.parametrize(
    ("signal", "asked"),
    [
        ("rate of negative", {"verdict": ["negative"]}),
        ("rate of refusal", {"verdict": ["refusal"]}),
        ("rate of missing_fact", {"reason": ["missing_fact"]}),
        ("rate of retrieval_missed", {"diagnosis": ["retrieval_missed"]}),
        ("mean of sda", {}),
        ("lag", {}),
        ("unscored_rate", {"unscored": ["any"]}),
    ],
)
def test_the_answers_that_it_is_about(signal, asked):
    its = an_alert(signal=signal, labels={"app": "a&b=ü", "topic": "", "team": "x"}, resolved_at=at(10))
    path = urlsplit(alert_view.interactions_path(its))
    assert path.path == "/interactions"
    assert parse_qs(path.query) == {
        "app": ["a&b=ü"],
        "since": ["2025-11-21T11:53Z"],
        "until": ["2025-11-21T12:11Z"],
        **asked,
    }


def test_an_alert_on_a_probe_leads_to_its_run():
    its = an_alert(signal="probe of correctness", labels={"probe": "a&b", "app": "shop"})
    assert alert_view.probe_path(its) == "/probes?probe=a%26b&app=shop"
    told = an_alert(signal="probe of correctness", detail="run 7 judged 30 of 30 questions")
    assert alert_view.probe_path(told) == "/probes/7"
    assert alert_view.probe_path(an_alert(detail="run 7")) is None


def test_an_alert_on_a_probe_leads_to_the_chart_of_its_runs_whatever_run_it_is_about():
    its = an_alert(signal="probe of unsure", detail="run 7 judged 30 of 30", labels={"probe": "a&b", "app": "shop"})
    assert alert_view.probe_course_path(its) == "/probes?probe=a%26b&app=shop"
    assert alert_view.probe_course_path(an_alert()) is None


@pytest.mark.parametrize("label", [{"app": "other"}, {"model": "ada@example.org"}, {"topic": "call 0171 2345678"}])
def test_no_list_is_offered_where_none_is_true_or_its_address_would_hold_personal_data(label):
    assert alert_view.interactions_path(an_alert(labels={"app": "shop", **label})) is None


def test_what_is_not_over_has_no_end():
    assert "until" not in alert_view.interactions_path(an_alert())


def test_history_is_newest_first_and_names_what_failed():
    event = {"at": at(0), "from_state": "pending", "to_state": "no_data", "samples": 1200, "note": "quiet"}
    action = {"at": at(2), "action": "acknowledge", "by": "ada", "comment": "on it"}
    told = {
        "made_at": at(1),
        "receiver": "slack",
        "news": "firing",
        "delivered_at": None,
        "given_up": True,
        "attempts": 3,
        "last_error": "channel_not_found",
        "escalated_after": None,
    }
    acknowledged, lost, fired = alert_view.history([event], [action], [told])
    assert (acknowledged.what, acknowledged.more) == ("acknowledged by ada", "on it")
    assert (lost.what, lost.more, lost.bad) == ("notified slack: firing", "lost: channel_not_found", True)
    assert (fired.what, fired.more) == ("pending → no data", "1,200 counted · quiet")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("one", "  - name: one\n    signal: {rate: negative}\n    above: 0.3   # a third"),
        ("two", "  - {name: two, signal: lag, above: 300}"),
        ("three", "  - name: three\n    signal: no_data"),
        ("four", None),
    ],
)
def test_the_lines_of_a_rule(rule, text):
    found = alert_view.rule_text(SOURCE, rule)
    assert found is None if text is None else found.strip().removeprefix("- ") == text.strip().removeprefix("- ")


@pytest.mark.parametrize("source", ["", "rules: 3", "{", "rules: [1, 2]"])
def test_other_text_has_none(source):
    assert alert_view.rule_text(source, "one") is None


TWICE = """\
rules:
  #  - {name: two, signal: lag, above: 300}
  - name: one
    signal: {rate: negative}
    above: 0.3
    annotations:
      example: |
        write it as
          - {name: two, signal: lag, above: 300}
      separator: "a\u2028b"
  - {name: two, signal: lag, above: 300}
# said of inhibit
inhibit: []
"""


def test_a_rule_is_edited_where_it_stands_and_not_where_its_text_stands_first():
    edited = alert_view.with_rule_text(TWICE, "two", "  - {name: two, signal: lag, above: 900}")
    before, _, after = TWICE.rpartition("  - {name: two, signal: lag, above: 300}")
    assert edited == f"{before}  - {{name: two, signal: lag, above: 900}}{after}"
    assert alert_view.with_rule_text(TWICE, "three", "") is None


def test_what_follows_the_rules_is_no_part_of_the_last_one():
    assert alert_view.rule_text(TWICE, "two") == "  - {name: two, signal: lag, above: 300}"


def test_whether_the_rule_is_still_the_one():
    rule = a_rule()
    same = an_alert(rule_digest=rule.digest)
    assert alert_view.configured_rule(same, a_rule_set(rule)) == (rule, True)
    assert alert_view.configured_rule(an_alert(), a_rule_set(rule)) == (rule, False)
    assert alert_view.configured_rule(same, a_rule_set()) == (None, False)
    assert alert_view.configured_rule(same, None) == (None, False)


def test_the_chart_in_words_and_as_a_drawing():
    points = tuple(Point(at=at(n), value=None if n == 1 else 0.1 * n, total=n) for n in range(4))
    course = Course(points=points, bound=0.3, unit="share", name="rate of negative", started_at=at(2))
    assert alert_view.course_words(course) == (
        "Negative answers: from 0.0 % to 30.0 %, last 30.0 %; the dashed line is at 30.0 %; "
        "the upright line is when it fired, 2025-11-21 12:02 UTC"
    )
    drawn = alert_view.course_drawing(course)
    assert drawn.count("<svg") == 2
    assert "style=" not in drawn
    assert "<script" not in drawn
    empty = Course(points=(), bound=0.3, unit="share", name="rate of negative")
    assert alert_view.course_words(empty) == "Negative answers: nothing was counted"


def counted(app, matching, total):
    return Counts(labels={"app": app}, counts=(Count(total=total, sum=matching, squares=matching),))


def test_the_combination_that_is_nearest_to_the_line():
    rule = a_rule()
    found = nearest_to_firing(
        rule, [counted("a", 1, 10), counted("b", 1200, 4000), counted("c", 0, 0)], MemoryAlertStore()
    )
    assert (found.figure, found.labels) == ("30.0 % of 4,000", "b")
    assert nearest_to_firing(rule, [counted("c", 0, 0)], MemoryAlertStore()) is None
    assert nearest_to_firing(rule, [], MemoryAlertStore()) is None
    below = a_rule(method=a_method(above=None, below=0.4))
    assert nearest_to_firing(below, [counted("a", 1, 10), counted("b", 3, 10)], MemoryAlertStore()).labels == "a"


def test_an_unknown_length_of_an_episode_is_never_negative():
    assert alert_view.duration(an_alert(active_since=at(5)), at(0)) == "0s"
