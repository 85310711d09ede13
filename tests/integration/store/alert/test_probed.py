"""The newest runs of probes as alert rules read them."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.evaluation.reading import too_small
from monitor.alert.probed import LOOKED_BACK, MAX_AGE, RUNS
from monitor.alert.rules.file import load_rules, parse_rules
from monitor.alert.state import State
from monitor.probe.result import RunState
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.alert.probed import probed_runs
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.newest import LOOKED_AT, NEWEST
from monitor.store.probe.runs import ProbeRuns
from tests.factories.probe.runs import AT, item, result, run

RULE = "rules:\n  - {name: probe-declined, signal: {probe: correctness}}\n"


@pytest.fixture
def write(engine):
    """Stores a run with these scores of its questions; a score that is None is an answer that did not come."""
    runs = ProbeRuns(engine)

    def written(*scores, state=RunState.DONE, hours=0, **changes):
        began = AT + timedelta(hours=hours)
        one = runs.begin(run(items=len(scores), began_at=began, **changes), mark=f"{len(runs.runs(most=99))}")
        for place, score in enumerate(scores):
            runs.save(one.number, place, result(item(place), *([] if score is None else [score])))
        error = "the budget is spent" if state is RunState.FAILED else None
        runs.end(one.number, state, now=began + timedelta(minutes=5), error=error)
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
    assert len(probed_runs(engine, "correctness", also=(), now=AT + timedelta(days=13))) == 1
    assert probed_runs(engine, "correctness", also=(), now=AT + MAX_AGE + timedelta(days=1)) == []


def test_a_bounded_number_of_runs_is_read_and_those_that_are_asked_for(engine, write):
    numbers = [write(5, hours=n) for n in range(20)]
    other = write(4, probe="other", app="bank")
    bank, shop = probed_runs(engine, "correctness", also=[numbers[2], 10**6], now=AT + timedelta(days=1))
    assert [one.number for one in bank.runs] == [other]
    assert [one.number for one in shop.runs] == [*reversed(numbers[-RUNS:]), numbers[2]]


def test_environments_with_a_probe_of_the_same_name_do_not_take_each_others_place(engine, write):
    mine = write(5)
    for _ in range(RUNS + 2):
        write(4, environment="staging")
    found = probed_runs(engine, "correctness", also=(), now=AT)
    assert [(one.environment, len(one.runs)) for one in found] == [("production", 1), ("staging", RUNS)]
    assert found[0].runs[0].number == mine


def test_questions_whose_text_or_reference_changed_are_not_compared(engine, write):
    sets = GoldenSets(engine)
    old = sets.save("support", [item(0), item(1), item(2)], by="ana", now=AT)
    new = sets.save("support", [item(0), item(1, reference="It is free."), item(2)], by="ana", now=AT)
    first = write(5, 5, 5, golden_version=old.version, golden_hash=old.hash)
    write(4, 1, 5, golden_version=new.version, golden_hash=new.hash)
    (found,) = probed_runs(engine, "correctness", also=(), now=AT)
    assert [dict(one.values) for one in found.runs] == [{"q0": 4, "q1": 1, "q2": 5}, {"q0": 5, "q2": 5}]
    assert found.runs[1].judged == 3
    write(4, 4, 4, golden_version=9, golden_hash="9" * 64)  # a set that is gone: nobody knows what was asked
    (found,) = probed_runs(engine, "correctness", also=[first], now=AT)
    assert [len(one.values) for one in found.runs] == [3, 0, 0]


def test_values_that_are_no_numbers_are_left_out(engine, write):
    number = write(5, 4)
    with engine.begin() as connection:
        connection.execute(text("UPDATE probe_result SET correctness = 'NaN' WHERE place = 0"))
    (found,) = probed_runs(engine, "correctness", also=(), now=AT)
    assert (found.runs[0].number, dict(found.runs[0].values)) == (number, {"q1": 4})


@pytest.mark.parametrize(("state", "age"), [("done", "100 days"), ("stopped", "0 days")])
def test_the_work_does_not_grow_with_the_runs_that_are_stored(engine, write, state, age):
    """Neither with old ones, of which none counts, nor with those that were stopped."""

    def looked_at(runs):
        copies = text("""
            INSERT INTO probe_run (mark, probe, app, environment, chatbot, golden, golden_version, golden_hash, items,
                target, judge, prompts_hash, repeats, turns, state, began_at, ended_at)
            SELECT 'copy ' || :runs || ' ' || n, probe, app, environment, chatbot, golden, golden_version, golden_hash,
                items, target, judge, prompts_hash, repeats, turns, :state, began_at - CAST(:age AS interval), ended_at
            FROM probe_run, generate_series(1, :runs) n WHERE mark = '0'
        """)
        with engine.begin() as connection:
            connection.execute(copies, {"runs": runs, "state": state, "age": age})
            connection.execute(text("ANALYZE probe_run"))
            asked = {"since": AT - LOOKED_BACK, "most": RUNS, "looked_at": LOOKED_AT, "also": []}
            asked |= {"until": None, "app": None}
            plan = connection.execute(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {NEWEST}"), asked).scalar_one()
        return sum(_rows(plan[0]["Plan"]))

    write(5, 5)
    few, many = looked_at(2_000), looked_at(8_000)
    assert many <= few + 10
    if state == "stopped":
        assert len(probed_runs(engine, "correctness", also=(), now=AT)) == 1


def _rows(plan):
    yield (plan["Actual Rows"] + plan.get("Rows Removed by Filter", 0)) * plan["Actual Loops"]
    for below in plan.get("Plans", ()):
        yield from _rows(below)


def test_an_alert_goes_on_while_the_chatbot_answers_nothing_and_ends_long_after_the_last_run(engine, write):
    rules = parse_rules(RULE, name="rules.yaml", receivers=["console"]).rules
    store = PostgresAlertStore(engine, lambda _: [])

    def round_(**later):
        return [one.alert.state for one in evaluate(rules, store, AT + timedelta(**later), ["console"])]

    good, bad = [5, 4] * 10, [4, 2] * 10
    for values in (good, good, bad):
        write(*values)
    assert round_(hours=1) == [State.FIRING]
    write(*[None] * 20, hours=2)
    assert [round_(days=days) for days in range(1, 5)] == [[], [], [], []]
    (alert,) = store.alerts()
    assert (alert.state, alert.detail) == (
        State.FIRING,
        "run 4 judged only 0 of 20 questions: the chatbot, or the judge, did not answer",
    )
    write(*good, hours=100)
    assert round_(days=5) == [State.RESOLVED]
    assert round_(days=60) == []
    write(*bad, hours=24 * 61)
    assert round_(days=62) == []  # there is nothing left to compare it with


def test_a_rule_falls_silent_without_an_error_when_nothing_is_probed_any_more(engine, write):
    rules = parse_rules(RULE, name="rules.yaml", receivers=["console"]).rules
    store = PostgresAlertStore(engine, lambda _: [])
    for values in ([5, 4] * 10, [4, 2] * 10):
        write(*values)
    assert len(evaluate(rules, store, AT + timedelta(hours=1), ["console"])) == 1
    assert evaluate(rules, store, AT + MAX_AGE, ["console"]) == []  # the run ended some minutes later
    ended = evaluate(rules, store, AT + MAX_AGE + timedelta(minutes=5), ["console"])
    assert [(one.alert.state, one.alert.note) for one in ended] == [
        (State.RESOLVED, "ended because no run has ended in the last 2 weeks: whether it is better is not known")
    ]
    (rule,) = rules
    assert store.memory(rule.digest).failing_since is None


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


def test_questions_without_a_judged_answer_are_counted_also_in_a_run_that_failed(engine, write):
    def unjudged(**later):
        found = probed_runs(engine, "unjudged", also=(), now=AT + timedelta(**later))
        return [(run.number, run.items, run.judged, run.error) for probe in found for run in probe.runs]

    write(5, 4, 0, None)
    assert unjudged() == [(1, 4, 3, None)]
    write(None, None, state=RunState.STOPPED)
    write(None, None, candidate=True)
    assert unjudged() == [(1, 4, 3, None)]
    write(5, None, None, state=RunState.FAILED, hours=1)
    write(3, 3, app="bank", probe="other")
    assert unjudged() == [(5, 2, 2, None), (4, 3, 1, "the budget is spent")]
    assert unjudged(days=30) == []
    done = probed_runs(engine, "correctness", also=[4], now=AT)
    assert [run.number for probe in done for run in probe.runs] == [5, 1]


def test_the_rules_that_ship_tell_of_a_chatbot_that_answers_nothing_until_it_does(engine, write):
    rules = load_rules(None, receivers=["console"]).rules
    store = PostgresAlertStore(engine, lambda _: [])

    def round_(**later):
        changes = evaluate(rules, store, AT + timedelta(**later), ["console"])
        return [(one.alert.rule, one.alert.state, one.alert.detail) for one in changes]

    write(*[5, 4] * 10)
    assert round_(hours=1) == []
    write(*[None] * 20, hours=2)
    assert round_(hours=3) == [("probe-unjudged", State.FIRING, "run 2 judged only 0 of 20 questions")]
    write(*[5, 4] * 10, hours=4)
    assert round_(hours=5) == [("probe-unjudged", State.RESOLVED, "run 3 judged 20 of 20 questions")]
    write(*[5, 4] * 9, None, None, state=RunState.FAILED, hours=6)  # most are judged: it is told all the same
    assert round_(hours=7) == [("probe-unjudged", State.FIRING, "run 4: the budget is spent")]


@pytest.mark.parametrize("method", ["{method: threshold, below: 4.0}", "{}"])
def test_a_rule_whose_probe_has_too_few_answers_says_so(engine, write, method):
    rule = f"rules:\n  - {{name: wrong, signal: {{probe: correctness}}, {method[1:-1] or 'min_samples: 30'}}}\n"
    (parsed,) = parse_rules(rule, name="rules.yaml", receivers=["console"]).rules
    store = PostgresAlertStore(engine, lambda _: [])
    write(*[3] * 29)
    assert too_small([parsed], store, AT) == [
        "wrong: not judged: run 1 of support has 29 graded answers, and min_samples is 30"
    ]
    write(*[3] * 30)
    assert too_small([parsed], store, AT) == []
