"""The true rates that alert rules read: of the newest labelled period of each app, once its labels are complete."""

from __future__ import annotations

from datetime import timedelta

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.methods.rate import Rate
from monitor.alert.methods.shift import Shift
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.window import Span
from monitor.app.backtest import on_history
from monitor.core.model import Probabilities
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


def label_all(application, items):
    for item in items:
        said(application, item.id, S if int(item.id[2:]) < 300 else G)


def test_a_period_counts_once_its_labels_are_complete_and_its_rule_fires(application, writer):
    write(writer, *answers())
    plan = a_plan(application, labels=40)
    periods, store = application.alerting.labelled, application.alerting.store
    label_all(application, plan.items[:-1])
    assert periods.newest("self_generated") == []
    assert evaluate([RULE], store, NOON, ()) == []
    label_all(application, plan.items[-1:])
    (rate,) = periods.newest("self_generated")
    assert (rate.app, rate.plan, rate.labels, rate.until) == ("support-bot", str(plan.number), 40, plan.until)
    assert rate.lower > 0.1
    (change,) = evaluate([RULE], store, NOON, ())
    assert (change.alert.state, change.alert.value) == ("firing", rate.estimate)
    assert periods.newest("refusal")[0].estimate == 0


def test_a_plan_that_nobody_is_asked_about_any_more_counts_with_the_labels_it_has(application, writer, monkeypatch):
    write(writer, *answers())
    label_all(application, a_plan(application, labels=40).items[:30])
    later = NOON + OPEN_FOR
    monkeypatch.setattr(application.alerting.labelled, "_now", lambda: later)
    assert application.alerting.labelled.newest("self_generated")[0].labels == 30


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
