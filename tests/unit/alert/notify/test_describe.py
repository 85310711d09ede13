from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise

import pytest

from monitor.alert.explain.explanation import Explanation
from monitor.alert.notification import MAX_EXAMPLES
from monitor.alert.notify.describe import BASELINE, LONGEST_WINDOW, POINTS, Describer, spans
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import MINUTE, Span
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import a_rule
from tests.factories.alert.notifications import a_notified_alert, at
from tests.unit.alert.explain.rows import a_row

RULE = a_rule(by=("app", "environment"), selector={"environment": ("production",), "topic": ("refunds",)})
ALERT_SENT = a_notified_alert(breaching_since=at(0), fired_at=at(2))


class Answers:
    """Answers of the window, and none before it."""

    def __init__(self, *found):
        self.found = list(found)
        self.asked = []

    def read(self, selector, labels, signal, window, baseline):
        self.asked.append((selector, labels, signal, window, baseline))
        return self.found, []


class SavedExplanations:
    def __init__(self):
        self.explained_episodes: list[tuple[str, Explanation]] = []

    def save(self, alert, explanation, now):
        del now
        self.explained_episodes.append((alert.episode, explanation))


@pytest.fixture
def store():
    return MemoryAlertStore()


def describer(store, *answers, rule=RULE, **more):
    known = {
        "rules": [rule],
        "signals": store,
        "answers": Answers(*answers),
        "explanations": SavedExplanations(),
        "embed": None,
        "link": lambda app, its: f"https://m/{app}/{its}",
    }
    return Describer(**known | more)


def test_bad_answers_are_shown_with_links_and_the_explanation_is_kept(store):
    describe = describer(store, *(a_row(number) for number in range(5)))
    description = describe(ALERT_SENT, at(3))
    assert 0 < len(description.examples) <= MAX_EXAMPLES
    assert all(its.url == f"https://m/shop/{its.id}" for its in description.examples)
    ((episode, explanation),) = describe.explanations.explained_episodes
    assert episode == ALERT_SENT.episode
    assert description.changes == tuple(explanation.sentences())
    assert description.cause == tuple(explanation.conclusion())
    assert description.cause


def test_window_and_week_before_are_compared_under_the_rules_selection(store):
    describe = describer(store, a_row())
    describe(ALERT_SENT, at(3.5))
    assert describe.answers.asked == [
        (
            RULE.selector,
            {"app": "support-bot", "environment": "production"},
            "negative",
            Span(start=at(-5), end=at(4)),
            Span(start=at(-5) - BASELINE, end=at(-5)),
        )
    ]


def test_a_rise_of_minutes_is_drawn_in_minutes(store):
    points = describer(store)(ALERT_SENT, at(10)).course.points
    assert points[1].at - points[0].at == MINUTE


def test_a_long_episode_is_shown_by_its_last_hours():
    window, baseline = spans(ALERT_SENT, at(600))
    assert (window.length, window.end, baseline.end) == (LONGEST_WINDOW, at(601), window.start)


def test_the_course_reaches_back_and_has_the_rates_of_these_labels(store):
    production = {"app": "support-bot", "environment": "production", "topic": "refunds"}
    store.count(at(1), production, 10, negative=4)
    store.count(at(1), {**production, "app": "other"}, 99, negative=99)
    course = describer(store)(ALERT_SENT, at(3.5)).course
    assert course
    assert course.points[0].at <= at(-60)
    assert [(point.at, point.value, point.total) for point in course.points if point.total] == [(at(1), 0.4, 10)]
    assert (course.bound, course.unit, course.name) == (ALERT_SENT.bound, "share", "rate of negative")


@pytest.mark.parametrize("minutes", [0, 59, 60, 61, 100_000])
def test_the_course_has_few_points_that_leave_no_gap(store, minutes):
    course = describer(store)(ALERT_SENT, at(minutes + 0.5)).course
    assert course
    times = [point.at for point in course.points]
    steps = {after - before for before, after in pairwise(times)}
    assert len(times) <= POINTS + 1
    (step,) = steps
    assert step % MINUTE == timedelta()
    assert times[-1] + step == at(minutes + 1)


@pytest.mark.parametrize("status", ["no_data", "error"])
def test_what_does_not_fire_has_a_course_only(store, status):
    describe = describer(store, a_row())
    description = describe(replace(ALERT_SENT, status=status), at(3))
    assert description.course
    assert description.examples == ()
    assert describe.answers.asked == []


@pytest.mark.parametrize(
    ("kind", "course"), [(SignalKind.MEAN, True), (SignalKind.NO_DATA, False), (SignalKind.LAG, False)]
)
def test_only_rates_are_explained(store, kind, course):
    name = "sda" if kind is SignalKind.MEAN else ""
    describe = describer(store, a_row(), rule=replace(RULE, signal=Signal(kind=kind, name=name)))
    description = describe(ALERT_SENT, at(3))
    assert (description.course is not None, description.changes, description.examples) == (course, (), ())


@pytest.mark.parametrize(
    ("kind", "detail", "url"),
    [
        (SignalKind.PROBE, "run 12 is 0.50 worse over 20 questions than in the run before it", "https://m/probes/12"),
        (
            SignalKind.PROBE,
            "only 3 questions of run 7 were asked alike before, and 10 are needed",
            "https://m/probes/7",
        ),
        (SignalKind.PROBE, "no run has ended in the last 2 weeks", None),
        (SignalKind.PROBE, None, None),
        (SignalKind.LAG, "run 12", None),
    ],
)
def test_an_alert_on_a_probe_leads_to_its_run(store, kind, detail, url):
    signal = Signal(kind=kind, name="correctness" if kind is SignalKind.PROBE else "")
    describe = describer(store, rule=replace(RULE, signal=signal), run_link=lambda run: f"https://m/probes/{run}")
    assert describe(replace(ALERT_SENT, detail=detail), at(3)).run_url == url


def test_of_a_rule_that_is_gone_nothing_is_known(store):
    description = describer(store, rule=replace(RULE, name="another"))(ALERT_SENT, at(3))
    assert (description.course, description.changes, description.examples) == (None, (), ())
