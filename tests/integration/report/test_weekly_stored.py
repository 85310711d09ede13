"""WeeklyFacts reports stored once, shown again, and without what was erased."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta

import pytest

from monitor.app.report import Format, chosen_week, file_name
from monitor.core.errors import Retriable, WrongSettings
from monitor.report.weekly.content import content, digest
from monitor.report.weekly.week import Week
from monitor.store.database import connect
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from monitor.store.report.reports import Reports, blank_reported
from monitor.store.report.weekly import WeeklyFacts
from tests.factories.answers import a_batch, an_assessment
from tests.factories.report.weekly_traffic import APP, OTHER_APP, WEEK
from tests.rig.store.weekly_textbook import MONDAY_SIX, its


def test_a_report_is_stored_once_and_shown_as_it_was_stored(application, writer, engine):
    reporting = its(application)
    first = reporting.written(APP, WEEK)
    assert (first.differs, first.made_at) == (None, MONDAY_SIX)
    late = an_assessment(id="late", app=APP, occurred_at=WEEK.end - timedelta(seconds=1))
    writer.write(a_batch(late))
    stored = reporting.written(APP, WEEK)
    assert stored.digest == first.digest
    assert Reports(engine).get(APP, WEEK.start).intact
    for form in Format:
        assert reporting.rendered(stored, form) == reporting.rendered(first, form)
    again = reporting.written(APP, WEEK, again=True)
    assert {"verdicts", "days", "groups"} <= set(again.differs)
    assert "judge" in again.differs  # of which the share that was sampled changed
    assert "alerts" not in again.differs
    assert reporting.written(APP, WEEK, again=True).differs == ()
    assert reporting.written(APP, WEEK).digest == again.digest != first.digest


def test_a_week_that_is_not_over_is_not_stored(application, engine):
    running = Week(monday=WEEK.monday + timedelta(days=7))
    shown_only = its(application).written(APP, running)
    assert shown_only.made_at is None
    assert shown_only.content["verdicts"]["answers"] == 0
    assert Reports(engine).listed() == []
    with pytest.raises(WrongSettings, match="'nobody' has no answers"):
        its(application).written("nobody", WEEK)


def test_what_is_due_is_written_once_by_one_replica_and_made_up_for(application, engine):
    reporting = its(application)
    with Reports(engine).reporting() as ours:
        assert ours
        assert reporting.write_due(MONDAY_SIX) == 0  # another one is at it
    assert reporting.write_due(MONDAY_SIX + timedelta(days=3)) == 2
    assert reporting.write_due(MONDAY_SIX + timedelta(days=4)) == 0
    found = [(one.app, one.start, one.sent_at) for one in Reports(engine).listed()]
    assert found == [(OTHER_APP, WEEK.start, None), (APP, WEEK.start, None)]
    assert its(application, apps=("nobody", APP)).write_due(MONDAY_SIX) == 0
    assert [one.app for one in Reports(engine).listed(app=APP)] == [APP]


def test_erased_answers_are_taken_out_of_stored_reports(application, engine):
    first = its(application).written(APP, WEEK)
    gone = first.content["worst"][0]["id"]
    with engine.begin() as connection:
        assert blank_reported(connection, APP, {gone}) == 1
        assert blank_reported(connection, APP, {gone}) == 0
        assert blank_reported(connection, OTHER_APP, {gone}) == 0
    left = Reports(engine).get(APP, WEEK.start)
    assert left.intact
    assert left.digest != first.digest
    assert left.content["worst"][0] == {**first.content["worst"][0], "question": "", "answer": ""}
    assert left.content["worst"][1:] == first.content["worst"][1:]
    for form in Format:
        assert its(application).rendered(its(application).written(APP, WEEK), form)


def test_what_was_erased_while_a_report_was_made_is_not_stored_in_it(engine):
    read = content(facts_of(engine))
    gone = read["worst"][0]
    erase(engine, gone["id"])
    kept = Reports(engine).keep(read, app=APP, start=WEEK.start, end=WEEK.end, now=MONDAY_SIX)
    assert kept["worst"][0] == {**gone, "question": "", "answer": ""}
    stored = Reports(engine).get(APP, WEEK.start)
    assert stored.intact
    assert stored.content == kept
    assert gone["question"] not in json.dumps(stored.content, ensure_ascii=False)


def test_erased_answers_are_no_examples(engine):
    gone = facts_of(engine).worst[0]
    erase(engine, gone.id)
    after = facts_of(engine)
    assert gone.id not in {one.id for one in after.worst}
    assert all(one.question for one in (*after.worst, *after.over_refusals))
    assert len(after.worst) == 10


def facts_of(engine):
    return WeeklyFacts(engine).facts(APP, WEEK)


def erase(engine, id_):
    erasure = Erasure(engine)
    erasure.erase(APP, erasure.find(ErasureTarget(app=APP, ids=(id_,))), by="eve", reason_given=False, now=MONDAY_SIX)


def test_the_week_is_chosen_by_name_or_by_its_last_day():
    now = datetime(2025, 11, 19, tzinfo=UTC)
    assert chosen_week(now, name=None, ending=None) == WEEK
    assert chosen_week(now, name="2025-W46", ending=None) == WEEK
    assert chosen_week(now, name=None, ending=WEEK.end.date() - timedelta(days=1)) == WEEK
    for wrong, message in (
        ({"name": "2025-W46", "ending": WEEK.monday}, "either"),
        ({"name": "2025-46", "ending": None}, "write it as"),
        ({"name": "2025-W53", "ending": None}, "no such week"),
        ({"name": "2025-W48", "ending": None}, "has not begun"),
        ({"name": None, "ending": WEEK.monday}, "try 2025-11-16"),
        ({"name": None, "ending": date.min}, "no answer can be that old"),
        ({"name": None, "ending": date.max}, "has not begun"),
    ):
        with pytest.raises(WrongSettings, match=message):
            chosen_week(now, **wrong)


def test_a_file_is_named_by_app_and_week(application):
    written = its(application).written(APP, WEEK)
    assert file_name(written) == "support-bot-2025-W46"
    assert digest(written.content) == written.digest
    assert re.fullmatch("[0-9a-f]{64}", written.digest)


def test_a_database_that_is_away_is_retriable():
    away = connect("postgresql://monitor@127.0.0.1:1/none")
    with pytest.raises(Retriable):
        WeeklyFacts(away).apps(WEEK)
    away.dispose()
