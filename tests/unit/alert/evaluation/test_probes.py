"""Rules on probes: an old run neither keeps an alert firing for ever, nor ends it as if all were well again."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.methods.decline import Decline
from monitor.alert.methods.threshold import Threshold
from monitor.alert.probed import MAX_AGE, Probed, ProbedRun
from monitor.alert.signal import PROBE_LABELS, Signal, SignalKind
from monitor.alert.state import State
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import a_rule
from tests.factories.alert.notifications import at

CORRECTNESS = Signal(kind=SignalKind.PROBE, name="correctness")
GOOD, BAD = [5, 4] * 20, [4, 2] * 20
UNKNOWN = "ended because no run has ended in the last 2 weeks: whether it is better is not known"
DECLINE, THRESHOLD = Decline(), Threshold(below=4.0)


def a_run(number, values, *, day):
    named = {f"q{n}": float(value) for n, value in enumerate(values)}
    return ProbedRun(
        number=number,
        ended_at=at(0) + timedelta(days=day),
        chatbot="v1",
        turns=1,
        items=len(named),
        judged=len(named),
        values=named,
    )


def probed_rule(method, **changes):
    return a_rule(signal=CORRECTNESS, method=method, by=PROBE_LABELS, for_=timedelta(), **changes)


class Days:
    """Evaluates a rule on days, with the runs of a probe that are done until then."""

    def __init__(self, rule):
        self.rule, self.store, self.runs = rule, MemoryAlertStore(), []

    def run(self, day, values):
        self.runs = [a_run(len(self.runs) + 1, values, day=day), *self.runs]
        found = Probed(probe="support", app="shop", environment="production", runs=tuple(self.runs))
        self.store.probes["correctness"] = [found]

    def look(self, day):
        changes = evaluate((self.rule,), self.store, at(0) + timedelta(days=day), ("memory",))
        return [(change.alert.state, change.alert.note) for change in changes]


@pytest.mark.parametrize("no_data", ["keep_last", "normal"])
@pytest.mark.parametrize("method", [DECLINE, THRESHOLD])
def test_an_alert_about_an_old_run_ends_with_the_reason(method, no_data):
    days = Days(probed_rule(method, no_data=no_data))
    days.run(0, GOOD)
    assert days.look(0.5) == []
    days.run(1, BAD)
    assert days.look(1.5) == [(State.FIRING, None)]
    assert [days.look(day) for day in range(2, 15)] == [[]] * 13  # the last known figures hold
    assert days.look(1 + MAX_AGE.days) == [(State.RESOLVED, UNKNOWN)]
    (alert,) = days.store.alerts()
    assert alert.value == 3.0
    assert [days.look(day) for day in (16, 17, 60)] == [[]] * 3


@pytest.mark.parametrize("method", [DECLINE, THRESHOLD])
def test_a_rule_that_asks_for_it_tells_that_a_probe_runs_no_more(method):
    days = Days(probed_rule(method, no_data="no_data"))
    days.run(0, GOOD)
    assert days.look(MAX_AGE.days - 1) == []
    assert days.look(MAX_AGE.days) == [(State.NO_DATA, None)]
    (alert,) = days.store.alerts()
    assert alert.detail == "no run has ended in the last 2 weeks"
    days.run(MAX_AGE.days + 1, GOOD)
    assert days.look(MAX_AGE.days + 1) == [(State.RESOLVED, None)]


def test_a_pending_alert_about_an_old_run_ends():
    days = Days(replace(probed_rule(THRESHOLD), for_=timedelta(days=20)))
    days.run(0, BAD)
    assert days.look(1) == [(State.PENDING, None)]
    assert days.look(MAX_AGE.days) == [(State.INACTIVE, UNKNOWN)]


def test_a_decline_does_not_become_the_usual_while_nothing_runs():
    """The next run, long after the alert ended, is compared with those from before the decline."""
    days = Days(probed_rule(DECLINE))
    for day, values in ((0, GOOD), (1, BAD)):
        days.run(day, values)
        days.look(day)
    assert days.look(15) == [(State.RESOLVED, UNKNOWN)]
    assert days.look(25) == []
    days.run(30, BAD)
    assert days.look(30) == [(State.FIRING, None)]
    (alert,) = days.store.alerts()
    assert alert.detail.startswith("run 3 is 1.50 worse over 40 questions than in run 1; ")
