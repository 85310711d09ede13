"""The runs of probes in weekly reports, over a real PostgreSQL."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import event

from monitor.app.report import Format, reporting
from monitor.probe.golden import Source
from monitor.probe.result import RunState
from monitor.report.weekly.content import content
from monitor.store.probe.golden import GoldenSets
from monitor.store.probe.runs import ProbeRuns
from monitor.store.report.weekly import WeeklyFacts
from tests.factories.probe.runs import item, result, run
from tests.factories.report.weekly_traffic import APP, OTHER_APP, WEEK
from tests.rig.store.weekly_textbook import MONDAY_SIX

ITEMS = [item(number, source=Source("shop", "a") if number == 1 else None) for number in range(12)]


def probe(engine, at, score, *, state=RunState.DONE, items=ITEMS, **changes):
    """The number of a run that got this score on every item."""
    golden = GoldenSets(engine).save("support", items, by="tests", now=at)
    runs = ProbeRuns(engine)
    told = run(began_at=at, golden_version=golden.version, golden_hash=golden.hash, **{"app": APP, **changes})
    number = runs.begin(told, mark=f"{at} {changes}").number
    for place, of in enumerate(items):
        runs.save(number, place, result(of, score))
    runs.end(number, state, now=at)
    return number


def reported(engine):
    return content(WeeklyFacts(engine).facts(APP, WEEK))["probes"]


def test_nothing_probed_in_the_week(engine):
    probe(engine, WEEK.before.start, 4)
    probe(engine, WEEK.start, 4, app="another")
    probe(engine, WEEK.end, 4)
    assert reported(engine) == []


def test_the_newest_run_of_the_week_is_compared_with_the_newest_of_the_week_before(engine):
    hour = timedelta(hours=1)
    probe(engine, WEEK.before.start, 1)
    before = probe(engine, WEEK.start - hour, 5)
    probe(engine, WEEK.start, 4)
    this = probe(engine, WEEK.end - 2 * hour, 2)
    probe(engine, WEEK.end - hour, 1, state=RunState.STOPPED)
    alone = probe(engine, WEEK.start + hour, 3, probe="another")
    other, found = reported(engine)
    assert (other["probe"], other["this"]["run"], other["before"]) == ("another", alone, None)
    assert (found["this"]["run"], found["before"]["run"]) == (this, before)
    change = found["figures"]["correctness"]["change"]
    assert (change["pairs"], change["mean"], change["outcome"]) == (12, -3.0, "worse")
    assert found["fallen"] == 12
    texts = {fell["item"]: fell["question"] for fell in found["fell"]}
    assert texts["q0"] == "What does part 0 cost?"
    assert texts["q1"] is None  # it was made of an interaction, which may be erased


def test_only_questions_that_did_not_change_are_compared(engine):
    probe(engine, WEEK.before.start, 5)
    changed = [item(0, question="Something else?"), *ITEMS[1:]]
    probe(engine, WEEK.start, 2, items=changed)
    (found,) = reported(engine)
    assert found["figures"]["correctness"]["change"]["pairs"] == 11
    assert "q0" not in {fell["item"] for fell in found["fell"]}


def test_environments_with_a_probe_of_the_same_name_are_told_apart(engine):
    probe(engine, WEEK.before.start, 5)
    mine = probe(engine, WEEK.start, 5)
    other = probe(engine, WEEK.start, 2, environment="staging")
    found = reported(engine)
    assert [(one["environment"], one["this"]["run"]) for one in found] == [("production", mine), ("staging", other)]
    assert [one["before"] is None for one in found] == [False, True]


def test_probes_are_read_in_the_snapshot_of_the_rest(engine):
    probe(engine, WEEK.before.start, 5)
    changed = [item(0, question="Something else?"), *ITEMS[1:]]
    probe(engine, WEEK.start, 2, items=changed)
    sent = []
    event.listen(engine, "before_cursor_execute", lambda *its: sent.append((its[1].connection, its[2])))
    WeeklyFacts(engine).facts(APP, WEEK)
    (snapshot,) = {connection for connection, told in sent if "FROM verdict_hour" in told and "AS day" in told}
    of_probes = [connection for connection, told in sent if "probe_r" in told or "golden_" in told]
    assert len(of_probes) >= 6
    assert {*of_probes} == {snapshot}


def test_an_app_that_was_only_probed_has_a_report_for_the_weeks_in_which_a_probe_ran(engine, application):
    number = probe(engine, WEEK.start, 4, app="probed")
    probe(engine, WEEK.end, 4, app="later")
    probe(engine, WEEK.start, 4, app="candidate", candidate=True)
    probe(engine, WEEK.start, 4, app="stopped", state=RunState.STOPPED)
    weekly = reporting(application)
    assert weekly.apps(WEEK) == sorted([APP, OTHER_APP, "probed"])
    assert weekly.write_due(MONDAY_SIX) == 3
    written = weekly.written("probed", WEEK)
    assert written.content["probes"][0]["this"]["run"] == number
    assert written.content["verdicts"]["answers"] == 0
    for form in Format:
        assert b"NaN" not in weekly.rendered(written, form)
    assert "Golden probes" in weekly.rendered(written, Format.HTML).decode()
