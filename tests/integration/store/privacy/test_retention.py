"""Retention on a real server: what goes and when, while ledger, duplicates and audit trail still add up."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, date, datetime

import psycopg
import pytest
from sqlalchemy import insert

from monitor.app.ledger import complaints
from monitor.app.privacy.retention import due, whole_months
from monitor.core.message import Offset
from monitor.core.model import Mark, Verdict
from monitor.privacy.retention import Keeping, Policy
from monitor.store.interaction.feedback import add_feedback
from monitor.store.ledger.ledger import Ledger
from monitor.store.privacy import retention as of_store
from monitor.store.privacy.retention import Retention
from monitor.store.report.reports import Reports
from monitor.store.tables.alerts import notification
from tests.factories.alert.notifications import a_notification, an_example
from tests.factories.answers import NOON, a_batch, an_interaction
from tests.rig.store.privacy import APP, SECRET, everything, surround, told
from tests.rig.store.retaining import AUGUST, DAY, MONTHS, NOVEMBER, SEPTEMBER, ids, removed
from tests.rig.waiting import until


@pytest.fixture
def retention(engine):
    return Retention(engine)


def partitions(rows):
    return {name for (name,) in rows("SELECT inhrelid::regclass::text FROM pg_inherits") if "default" not in name}


def test_a_month_goes_as_a_whole_with_all_that_belongs_to_it(database, writer, retention, rows):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", AUGUST), told("q-3", NOVEMBER)))
    for id_, at in (("q-1", AUGUST), ("q-3", NOVEMBER)):
        surround(database, id_, at)
    assert removed(retention, MONTHS) == {(APP, Verdict.GROUNDED, date(2025, 8, 1)): 2}
    assert ids(rows) == ["q-3"]
    assert {name for name in partitions(rows) if name.endswith("2025_08")} == set()
    assert rows("SELECT id FROM interaction_key") == [("q-3",)]
    assert rows("SELECT id FROM audit_secret") == [("q-3",)]
    assert rows("SELECT interaction_id FROM pending") == [("q-3",)]
    assert rows("SELECT interaction_id, note FROM review ORDER BY 1") == [("q-1", None), ("q-3", SECRET)]
    assert rows("SELECT sum(total) FROM verdict_minute") == [(3,)]


def test_what_a_longer_rule_keeps_stays_and_the_others_go_row_by_row(database, writer, retention, rows):
    writer.write(
        a_batch(
            told("q-1", AUGUST),
            told("q-2", AUGUST, verdict=Verdict.SELF_GENERATED),
            told("q-3", AUGUST, app="audited"),
            told("q-4", NOVEMBER),
        )
    )
    surround(database, "q-1", AUGUST)
    policy = Policy(
        others=Keeping(keep=30 * DAY, by_verdict={Verdict.SELF_GENERATED: 400 * DAY}), by_app={"audited": Keeping()}
    )
    assert removed(retention, policy) == {(APP, Verdict.GROUNDED, date(2025, 8, 1)): 1}
    assert ids(rows) == ["q-2", "q-3", "q-4"]
    assert rows("SELECT id FROM assessment ORDER BY id") == [("q-2",), ("q-3",), ("q-4",)]
    assert rows("SELECT count(*) FROM judgement") == rows("SELECT count(*) FROM pending") == [(0,)]
    assert SECRET not in "".join(line for line in everything(database).splitlines() if "q-1" in line)
    assert removed(retention, policy) == {}


@pytest.mark.parametrize("whole_month", [True, False])
def test_feedback_goes_with_the_answer_and_none_is_taken_afterwards(writer, retention, engine, rows, whole_month):
    kept = [] if whole_month else [told("q-3", AUGUST, app="audited")]
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", NOVEMBER), *kept))
    assert add_feedback(engine, APP, "q-1", "up", NOON)
    assert add_feedback(engine, APP, "q-2", "down", NOON)
    removed(retention, Policy(others=Keeping(keep=30 * DAY), by_app={"audited": Keeping()}))
    assert (rows("SELECT id FROM interaction_key WHERE id = 'q-1'") == []) is whole_month
    assert not add_feedback(engine, APP, "q-1", "up", NOON)
    assert rows("SELECT interaction_id, thumb FROM feedback") == [("q-2", "down")]


def test_many_rows_go_in_several_transactions(monkeypatch, writer, retention, rows):
    monkeypatch.setattr(of_store, "BATCH", 3)
    early = [told(f"q-{n}", AUGUST) for n in range(8)]
    writer.write(a_batch(*early, told("q-9", AUGUST, verdict=Verdict.REFUSAL)))
    policy = Policy(others=Keeping(by_verdict={Verdict.GROUNDED: 30 * DAY}))
    assert removed(retention, policy) == {(APP, Verdict.GROUNDED, date(2025, 8, 1)): 8}
    assert ids(rows) == ["q-9"]
    acts = rows("SELECT body ->> 'verdict', (body ->> 'rows')::int FROM audit_queue WHERE kind = 'retention'")
    assert acts == [("grounded", 3), ("grounded", 3), ("grounded", 2)]


def test_the_act_says_what_is_missing_and_why(writer, retention, rows):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", AUGUST, verdict=Verdict.REFUSAL)))
    removed(retention, MONTHS)
    (act,) = rows("SELECT app, subject, body FROM audit_queue WHERE kind = 'retention'")
    before = (NOON - 75 * DAY).isoformat()
    assert act == (
        APP,
        "2025-08",
        {"by": "eve", "at": NOON.isoformat(), "verdict": None, "before": before, "rows": 2},
    )


def test_a_month_that_is_partly_due_loses_what_is_due(writer, retention, rows):
    late = SEPTEMBER + 10 * DAY
    writer.write(a_batch(told("q-1", datetime(2025, 9, 2, tzinfo=UTC)), told("q-2", late)))
    assert removed(retention, MONTHS) == {(APP, Verdict.GROUNDED, date(2025, 9, 1)): 1}
    assert ids(rows) == ["q-2"]
    assert rows("SELECT count(*) FROM interaction_key") == [(2,)]  # its event is still known


def test_what_is_not_assessed_is_kept_as_long_as_is_said_of_none(writer, retention, rows):
    writer.write(a_batch(pending=(an_interaction(id="q-1", app=APP, occurred_at=AUGUST),), received=1))
    assert removed(retention, Policy(others=Keeping(by_verdict=dict.fromkeys(Verdict, DAY)))) == {}
    assert removed(retention, MONTHS) == {(APP, None, date(2025, 8, 1)): 1}
    assert rows("SELECT count(*) FROM pending") == [(0,)]


def test_times_that_belong_to_no_month_go_too(writer, retention, rows):
    far = datetime(1970, 1, 1, tzinfo=UTC)
    writer.write(a_batch(told("q-1", far, marks=frozenset({Mark.TIME_OUT_OF_RANGE})), told("q-2", NOVEMBER)))
    assert removed(retention, MONTHS) == {(APP, Verdict.GROUNDED, None): 1}
    assert ids(rows) == ["q-2"]


def test_nothing_goes_where_everything_is_kept(writer, retention, rows):
    writer.write(a_batch(told("q-1", AUGUST)))
    assert removed(retention, Policy()) == {}
    assert due(retention, Policy(), NOON) == []
    assert ids(rows) == ["q-1"]


def test_what_would_go_is_shown_and_left(writer, retention, rows):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", SEPTEMBER - 10 * DAY), told("q-3", SEPTEMBER + DAY)))
    parts = due(retention, MONTHS, NOON)
    assert [(one.month, one.due, one.stored) for one in parts] == [(date(2025, 8, 1), 1, 1), (date(2025, 9, 1), 1, 2)]
    assert whole_months(parts) == {date(2025, 8, 1)}
    assert ids(rows) == ["q-1", "q-2", "q-3"]


def test_what_alerts_and_reports_quote_goes_with_it(database, writer, retention, rows, engine):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", NOVEMBER)))
    examples = (an_example(id="q-1", question=SECRET), an_example(id="q-2", question="Why?"))
    payload = a_notification(examples=examples).to_json()
    report = {"worst": [{"id": "q-1", "question": SECRET, "answer": SECRET}], "over_refusals": []}
    with engine.begin() as connection:
        told_of = {"receiver": "slack", "group_key": "g", "episode": "e", "number": 0, "news": "firing"}
        connection.execute(insert(notification).values(made_at=NOON, payload=payload, **told_of))
    Reports(engine).keep(report, app=APP, start=AUGUST, end=AUGUST + 7 * DAY, now=NOON)
    removed(retention, MONTHS)
    ((stored,),) = rows("SELECT payload FROM notification")
    assert [(one["id"], one["question"]) for one in stored["examples"]] == [("q-1", ""), ("q-2", "Why?")]
    assert SECRET not in "".join(line for line in everything(database).splitlines() if "q-1" in line)


def test_what_is_quoted_goes_though_the_run_before_did_not_come_this_far(writer, retention, rows, engine):
    writer.write(a_batch(told("q-1", AUGUST)))
    examples = (an_example(id="q-1", question=SECRET),)
    told_of = {"receiver": "slack", "group_key": "g", "episode": "e", "number": 0, "news": "firing"}
    with engine.begin() as connection:
        payload = a_notification(examples=examples).to_json()
        connection.execute(insert(notification).values(made_at=NOON, payload=payload, **told_of))
    retention.drop(date(2025, 8, 1), MONTHS.cut_offs([APP], NOON), by="eve", now=NOON)
    assert removed(retention, MONTHS) == {}
    assert SECRET not in str(rows("SELECT payload FROM notification"))


def test_a_month_from_before_there_were_judgements_goes_too(writer, retention, rows):
    early = datetime(2025, 9, 2, tzinfo=UTC)
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", early), told("q-3", SEPTEMBER)))
    for month in ("2025_08", "2025_09"):
        rows(f"DROP TABLE judgement_{month}")
    assert removed(retention, MONTHS) == {
        (APP, Verdict.GROUNDED, date(2025, 8, 1)): 1,
        (APP, Verdict.GROUNDED, date(2025, 9, 1)): 1,
    }
    assert ids(rows) == ["q-3"]


def test_a_month_that_an_attempt_without_an_answer_has_dropped_is_no_error(writer, retention):
    writer.write(a_batch(told("q-1", AUGUST)))
    month, cuts = date(2025, 8, 1), MONTHS.cut_offs([APP], NOON)
    assert retention.drop(month, cuts, by="eve", now=NOON)
    assert retention.drop(month, cuts, by="eve", now=NOON) == []
    assert retention.remove(month, cuts, ("", ""), by="eve", now=NOON) == ([], ("", ""))


# --- what comes afterwards ---


def test_an_event_that_comes_late_is_stored_neither_twice_nor_again(writer, retention, rows):
    writer.write(a_batch(told("q-1", AUGUST), told("q-2", datetime(2025, 9, 2, tzinfo=UTC)), told("q-3", SEPTEMBER)))
    removed(retention, MONTHS)
    late = (told("q-1", AUGUST), told("q-4", AUGUST), told("q-2", datetime(2025, 9, 2, tzinfo=UTC)))
    tally = writer.write(a_batch(*late))
    assert (tally.duplicate, tally.assessed) == (3, 0)
    assert ids(rows) == ["q-3"]
    assert rows("SELECT sum(total) FROM verdict_minute") == [(3,)]
    assert "interaction_2025_08" not in partitions(rows)


def test_a_dropped_month_is_closed_to_the_apps_that_had_anything_in_it_only(writer, retention, rows):
    by_rows = Policy(by_app={"old": Keeping(keep=DAY)})
    writer.write(a_batch(told("q-1", AUGUST, app="old"), told("q-2", AUGUST)))
    removed(retention, by_rows)  # of this one the key is left
    removed(retention, MONTHS)
    assert rows("SELECT app, month FROM retention_month ORDER BY 1") == [
        ("old", date(2025, 8, 1)),
        (APP, date(2025, 8, 1)),
    ]
    tally = writer.write(a_batch(*(told("q-1", AUGUST, app=app) for app in ("new", "old", APP))))
    assert (tally.assessed, tally.duplicate) == (1, 2)
    assert rows("SELECT app FROM interaction") == [("new",)]
    assert rows("SELECT app FROM interaction_key") == [("new",)]


def test_an_event_that_comes_again_while_its_month_is_dropped_is_no_new_one(database, writer, rows):
    writer.write(a_batch(told("q-1", AUGUST)))
    with ThreadPoolExecutor(1) as others, psycopg.connect(database) as connection:
        connection.execute("DELETE FROM interaction_key")
        connection.execute("INSERT INTO retention_month VALUES (%s, '2025-08-01', now())", (APP,))
        again = others.submit(writer.write, a_batch(told("q-1", AUGUST), told("q-2", NOVEMBER)))
        until("the writer waits", lambda: rows("SELECT pid FROM pg_locks WHERE NOT granted"))
        connection.commit()
        tally = again.result()
    assert (tally.assessed, tally.duplicate) == (1, 1)
    assert rows("SELECT id FROM interaction_key") == [("q-2",)]


def test_the_recount_knows_what_was_removed(writer, retention, engine):
    first = Offset(topic="answers", partition=0, expected=None, next=9, begin=0, received=4)
    writer.write(
        a_batch(
            told("q-1", AUGUST),
            told("q-2", AUGUST),
            told("q-3", datetime(2025, 9, 2, tzinfo=UTC)),
            told("q-4", NOVEMBER),
            offsets=(first,),
        )
    )
    ledger = Ledger(engine)
    removed(retention, MONTHS)
    _, (recount,) = ledger.read(recount=True)
    assert (recount.assessed, recount.interactions, recount.removed, recount.balanced) == (4, 1, 3, True)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM interaction")
    rows, (recount,) = ledger.read(recount=True)
    assert [line for line in complaints(rows, [recount]) if "removed by retention (-1)" in line]


@pytest.mark.parametrize(("kept", "month"), [((), date(2025, 8, 1)), ((told("q-9", AUGUST, app="audited"),), None)])
def test_the_ledger_counts_nothing_as_pending_that_is_gone(writer, retention, engine, kept, month):
    """By month, and row by row where another app keeps a row of the month."""
    old = tuple(told(f"q-{n}", AUGUST).interaction for n in (1, 2))
    new = told("q-3", NOVEMBER).interaction
    first = Offset(topic="answers", partition=0, expected=None, next=9, begin=9 - 3 - len(kept), received=3 + len(kept))
    writer.write(a_batch(*kept, pending=(*old, new), offsets=(first,)))
    policy = Policy(others=MONTHS.others, by_app={"audited": Keeping()})
    if month is not None:
        early = Policy(others=Keeping(keep=110 * DAY))  # nothing of the month is due yet: nothing may change
        assert retention.drop(month, early.cut_offs([APP], NOON), by="eve", now=NOON) == []
    assert removed(retention, policy) == {(APP, None, date(2025, 8, 1)): 2}
    (row,), (recount,) = Ledger(engine).read(recount=True)
    assert (row.counts["pending"], row.counts["assessed"], row.counts["called_off"]) == (1, 2 + len(kept), 2)
    assert (row.balanced, recount.balanced, recount.removed) == (True, True, 2)


def test_one_replica_does_it(retention, engine):
    with retention.holding() as ours, Retention(engine).holding() as other:
        assert (ours, other) == (True, False)
