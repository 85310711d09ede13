"""The newest runs of probes as alert rules read them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.probed import MAX_AGE, RUNS
from monitor.alert.rules.file import parse_rules
from monitor.alert.state import State
from monitor.probe.result import RunState
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.alert.probed import probed_runs
from monitor.store.probe.runs import ProbeRuns
from tests.factories.probe.runs import AT, item, result, run

RULE = "rules:\n  - {name: probe-declined, signal: {probe: correctness}, by: [app, probe]}\n"


@pytest.fixture
def write(engine):
    """Stores a run with these scores of its questions; a score that is None is an answer that did not come."""
    runs = ProbeRuns(engine)

    def written(*scores, state=RunState.DONE, hours=0, **changes):
        began = AT + timedelta(hours=hours)
        one = runs.begin(run(items=len(scores), began_at=began, **changes), mark=f"{len(runs.runs(most=99))}")
        for place, score in enumerate(scores):
            runs.save(one.number, place, result(item(place), *([] if score is None else [score])))
        runs.end(one.number, state, now=began + timedelta(minutes=5))
        return one.number

    return written


def test_the_newest_runs_come_with_the_values_of_the_score(engine, write):
    first = write(5, 4, 0, None)
    second = write(3, 4, 4, 0, chatbot="v2")
    (found,) = probed_runs(engine, "correctness", also=(), now=AT)
    assert found.labels == {"probe": "support", "app": "shop", "environment": "production"}
    assert [(one.number, one.chatbot, one.items, one.judged) for one in found.runs] == [
        (second, "v2", 4, 4),
        (first, "v1", 4, 3),
    ]
    assert [dict(one.values) for one in found.runs] == [{"q0": 3, "q1": 4, "q2": 4}, {"q0": 5, "q1": 4}]
    (unsure,) = probed_runs(engine, "unsure", also=(), now=AT)
    assert dict(unsure.runs[1].values) == {"q0": 0, "q1": 0, "q2": 1}


def test_runs_that_are_not_done_or_too_old_do_not_count(engine, write):
    write(1, 1, state=RunState.STOPPED)
    assert probed_runs(engine, "correctness", also=(), now=AT) == []
    write(5, 5)
    assert len(probed_runs(engine, "correctness", also=(), now=AT + timedelta(days=30))) == 1
    assert probed_runs(engine, "correctness", also=(), now=AT + MAX_AGE + timedelta(days=1)) == []


def test_a_bounded_number_of_runs_is_read_and_those_that_are_asked_for(engine, write):
    numbers = [write(5, hours=n) for n in range(20)]
    other = write(4, probe="other", app="bank")
    bank, shop = probed_runs(engine, "correctness", also=[numbers[2], 10**6], now=AT + timedelta(days=1))
    assert [one.number for one in bank.runs] == [other]
    assert [one.number for one in shop.runs] == [*reversed(numbers[-RUNS:]), numbers[2]]


def test_a_rule_fires_when_a_version_got_worse_and_ends_when_it_is_back(engine, write):
    rules = parse_rules(RULE, name="rules.yaml", receivers=["console"]).rules
    store = PostgresAlertStore(engine, lambda _: [])
    now = AT

    def round_():
        nonlocal now
        now += timedelta(hours=1)
        return [(one.alert.state, one.alert.labels["probe"]) for one in evaluate(rules, store, now, ["console"])]

    assert round_() == []  # nothing was ever probed
    good, bad = [5, 4] * 10, [4, 2] * 10
    write(*good)
    assert round_() == []
    write(*good)
    assert round_() == []
    worse = write(*bad, chatbot="v2")
    assert round_() == [(State.FIRING, "support")]
    (alert,) = store.alerts()
    assert f"monitor probe compare {worse - 1} {worse}" in alert.detail
    for _ in range(RUNS + 2):
        write(*bad, chatbot="v2")
        assert round_() == []
    write(*good, chatbot="v3")
    assert round_() == [(State.RESOLVED, "support")]
