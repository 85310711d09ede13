"""The true rates that alert rules read: of the newest labelled period of each app, once its labels are complete."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import event, text

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.shift import Shift
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Span
from monitor.app.backtest import on_history
from monitor.core.model import Probabilities
from monitor.review.rates.period import Period
from monitor.store.review.plans import OPEN_FOR
from tests.factories.alert.alerts import a_rule
from tests.factories.answers import NOON, an_assessment
from tests.integration.app.review.test_rates import a_plan, answers
from tests.rig.store.reviewing import G, S, said, write

RULE = a_rule(
    signal=Signal(kind=SignalKind.TRUE_RATE, name="self_generated"),
    method=Rate(above=0.1),
    by=("app",),
    for_=timedelta(),
)


def label_all(application, items, by=("ann", "bob")):
    """Bob is asked about the negative ones only."""
    for item in items:
        made_up = int(item.id[2:]) < 300
        for person in by[: 1 + made_up]:
            said(application, item.id, S if made_up else G, by=person)


def a_short_plan(application, hours):
    """Of the two hours that ended so long ago, in which 120 answers came."""
    until = NOON - timedelta(hours=hours)
    return a_plan(application, labels=12, period=Period(since=until - timedelta(hours=2), until=until))


def test_a_period_counts_once_its_labels_are_complete_and_its_rule_fires(application, writer):
    write(writer, *answers())
    plan = a_plan(application, labels=40)
    periods, store = application.alerting.labelled, application.alerting.store
    items = sorted(plan.items, key=lambda item: item.id)  # a negative one is the first
    label_all(application, items[1:])
    assert periods.newest("self_generated") == []
    assert evaluate([RULE], store, NOON, ()) == []
    label_all(application, items[:1], by=("ann",))
    assert periods.newest("self_generated") == []  # a second person is asked
    label_all(application, items[:1], by=("bob",))
    (rate,) = periods.newest("self_generated")
    assert (rate.app, rate.plan, rate.labels, rate.until) == ("support-bot", str(plan.number), 40, plan.until)
    assert rate.lower > 0.1
    (change,) = evaluate([RULE], store, NOON, ())
    assert (change.alert.state, change.alert.value) == ("firing", rate.estimate)
    assert periods.newest("refusal")[0].estimate == 0


def test_a_closed_plan_counts_without_second_opinions_and_never_with_an_answer_without_a_label(
    application, writer, monkeypatch
):
    write(writer, *answers())
    periods, items = application.alerting.labelled, a_plan(application, labels=40).items
    label_all(application, items[1:], by=("ann",))
    monkeypatch.setattr(periods, "_now", lambda: NOON + OPEN_FOR)
    assert periods.newest("self_generated") == []
    label_all(application, items[:1], by=("ann",))
    assert periods.newest("self_generated")[0].labels == 40


def test_nobody_is_asked_about_erased_answers(application, writer, monkeypatch):
    """One without a label, and one that a single person calls negative."""
    write(writer, *answers())
    periods = application.alerting.labelled
    items = sorted(a_plan(application, labels=40).items, key=lambda item: item.id)
    label_all(application, items[:1], by=("ann",))
    label_all(application, items[1:-1])
    assert periods.newest("self_generated") == []
    with application.engine.begin() as connection:
        erased = text("UPDATE interaction SET marks = marks || '{erased}' WHERE id = ANY(:ids)")
        connection.execute(erased, {"ids": [items[0].id, items[-1].id]})
    monkeypatch.setattr(periods, "_now", lambda: NOON + timedelta(hours=1))
    (rate,) = periods.newest("self_generated")
    assert rate.lower > 0.1


def test_newer_periods_whose_labels_are_missing_hide_no_older_one(application, writer):
    write(writer, *answers())
    oldest, *newer = (a_short_plan(application, hours) for hours in (8, 6, 4, 2, 0))
    periods = application.alerting.labelled
    label_all(application, oldest.items)
    assert [rate.plan for rate in periods.newest("self_generated")] == [str(oldest.number)]
    label_all(application, newer[1].items)
    assert [rate.plan for rate in periods.newest("self_generated")] == [str(newer[1].number)]
    assert [rate.plan for rate in periods.all("negative")] == [str(oldest.number), str(newer[1].number)]


def test_a_label_re_reads_its_own_plan_only(application, writer):
    write(writer, *answers())
    plans = [a_short_plan(application, hours) for hours in (8, 6, 4, 2, 0)]
    periods, sent = application.alerting.labelled, []
    label_all(application, plans[0].items)
    event.listen(application.engine, "before_cursor_execute", lambda *its: sent.append(its[2]))

    def statements():
        sent.clear()
        return [rate.plan for rate in periods.newest("self_generated")], len(sent)

    found = [str(plans[0].number)]
    of_plan = 5  # the plan, its items, their labels, what is gone, what is still asked
    assert statements() == (found, 2 + 5 * of_plan - 1)  # nothing is asked of a complete plan
    assert statements() == (found, 1)
    label_all(application, plans[3].items[:1])
    assert statements() == (found, 3 + of_plan)
    assert statements() == (found, 1)


def test_a_back_test_knows_labelled_periods(application, writer):
    write(writer, *answers())
    label_all(application, a_plan(application, labels=40).items)
    span = Span(start=NOON - timedelta(days=30), end=NOON)
    tried = on_history(RULE, application.alerting.past, span)
    assert (tried.answers, [episode.fired_at for episode in tried.episodes]) == (40, [NOON])


def test_a_back_test_ranks_stored_answers_among_the_earlier_ones(application, writer):
    """Two days of usual answers, then an hour of ones that look made up."""
    rule = a_rule(
        signal=Signal(kind=SignalKind.RANKS, name="score"), method=Shift(), by=("app", "environment"), for_=timedelta()
    )

    def answered(n, score, minute):
        p = Probabilities(grounded=1 - score, refusal=0.0, self_generated=score)
        return an_assessment(
            id=f"q-{n}", question=f"{n}?", probabilities=p, occurred_at=NOON - timedelta(minutes=minute)
        )

    usual = [answered(n, 0.01 + (n * 37 % 100) / 200, 60 + 2 * n) for n in range(1_400)]
    worse = [answered(2_000 + n, 0.95, 59 - n) for n in range(60)]
    write(writer, *usual, *worse)
    tried = on_history(rule, application.alerting.past, Span(start=NOON - timedelta(days=1), end=NOON))
    (episode,) = tried.episodes
    assert NOON - timedelta(minutes=59) < episode.fired_at <= NOON
    assert (episode.labels["app"], episode.resolved_at) == ("support-bot", None)
    assert tried.answers == 690 + 60
