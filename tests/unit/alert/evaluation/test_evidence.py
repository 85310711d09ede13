"""Nothing fires by waiting alone, and an alert that goes on without traffic says since when."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.evaluation.evaluate import evaluate
from monitor.alert.evaluation.evidence import last_counted
from monitor.alert.methods.absence import Absence
from monitor.alert.methods.burn_rate import BurnRate, BurnWindow
from monitor.alert.signal import Signal, SignalKind
from monitor.alert.target import Target
from monitor.alert.window import Span
from monitor.simulate.fakes.alerts import MemoryAlertStore
from tests.factories.alert.alerts import a_method, a_rule
from tests.factories.alert.notifications import at

SHOP = {"app": "shop"}
LATE = timedelta(seconds=30)


def look_on(store, rule, start, end):
    """The states entered in [start, end), in minutes, with four looks a minute."""
    entered = []
    for quarter in range(int(start * 4), int(end * 4)):
        changes = evaluate([rule], store, at(quarter / 4), ("memory",))
        entered += [(quarter / 4, change.alert.state.value) for change in changes]
    return entered


class Asked(MemoryAlertStore):
    """How often counts were asked for."""

    times = 0

    def counts(self, *asked):
        self.times += 1
        return super().counts(*asked)


@pytest.mark.parametrize("window", [5, 300])
def test_an_outage_of_all_apps_is_looked_into_with_few_queries(window):
    store, apps = Asked(), 200
    rule = a_rule(method=a_method(window=timedelta(minutes=window)), for_=timedelta(minutes=1), lateness=LATE)
    for minute in range(4):
        for app in range(apps):
            if app % 4 != minute:  # a quarter of them has no answer in the last minute, and so on
                store.count(at(minute), {"app": f"app{app}"}, 40, negative=40)
    changes = evaluate([rule], store, at(4.5), ("memory",))
    assert {change.alert.labels["app"] for change in changes} == {f"app{app}" for app in range(apps)}
    assert store.times < apps / 2
    alone = Asked()
    alone.count(at(3), {"app": "alone"}, 40, negative=40)
    assert len(evaluate([rule], alone, at(4.5), ("memory",))) == 1
    assert alone.times <= 4


def traffic(store, minutes, *, bad, total=10):
    for minute in minutes:
        store.count(at(minute), SHOP, total, negative=bad)


def test_good_answers_that_leave_the_window_make_no_alert():
    """21 % at the last answer; without new ones, the good minutes leave first, and the rest looks like 50 %."""
    store = MemoryAlertStore()
    rule = a_rule(method=a_method(window=timedelta(minutes=10)), for_=timedelta(), lateness=LATE)
    traffic(store, range(7), bad=1)
    traffic(store, range(7, 10), bad=5)
    assert look_on(store, rule, 10, 30) == []


def test_the_same_share_in_new_answers_makes_one():
    store = MemoryAlertStore()
    rule = a_rule(method=a_method(window=timedelta(minutes=10)), for_=timedelta(), lateness=LATE)
    traffic(store, range(7), bad=1)
    traffic(store, range(7, 13), bad=5)
    assert look_on(store, rule, 10, 15) == [(13.5, "firing")]


@pytest.mark.parametrize("lasts", [1, 2, 4])
def test_waiting_makes_no_pending_alert_fire(lasts):
    store = MemoryAlertStore()
    rule = a_rule(method=a_method(window=timedelta(minutes=15)), for_=timedelta(minutes=5), lateness=LATE)
    traffic(store, range(lasts), bad=8)
    assert look_on(store, rule, 0, 40) == [(1.5, "pending"), (lasts + 15.5, "inactive")]


def test_answers_that_go_on_make_it_fire_in_time():
    store = MemoryAlertStore()
    rule = a_rule(method=a_method(window=timedelta(minutes=15)), for_=timedelta(minutes=5), lateness=LATE)
    traffic(store, range(10), bad=8)
    assert look_on(store, rule, 0, 9) == [(1.5, "pending"), (6.5, "firing")]


def test_rare_answers_make_it_fire_with_the_next_one():
    store = MemoryAlertStore()
    rule = a_rule(method=a_method(window=timedelta(minutes=60)), for_=timedelta(minutes=5), lateness=LATE)
    traffic(store, [0, 9], bad=8)
    assert look_on(store, rule, 0, 12) == [(1.5, "pending"), (10.5, "firing")]


def test_windows_of_a_burn_rate_do_not_slide_into_an_alert():
    store = MemoryAlertStore()
    windows = (BurnWindow(long=timedelta(minutes=20), short=timedelta(minutes=5), factor=2),)
    method = BurnRate(allowed=Target(value=0.15), windows=windows, min_samples=10)
    rule = a_rule(method=method, for_=timedelta(), lateness=LATE)
    traffic(store, range(17), bad=1)
    traffic(store, range(17, 20), bad=8)
    assert look_on(store, rule, 20, 60) == []


def test_what_goes_on_without_answers_says_since_when_and_keeps_its_figures():
    store = MemoryAlertStore()
    rule = a_rule(for_=timedelta(), lateness=LATE)
    traffic(store, range(6), bad=8)
    look_on(store, rule, 0, 8)
    (firing,) = store.alerts()
    assert (firing.quiet_since, firing.value) == (None, 0.8)
    look_on(store, rule, 8, 30)
    (quiet,) = store.alerts()
    assert (quiet.state, quiet.quiet_since, quiet.value, quiet.samples) == ("firing", at(6), 0.8, 0)
    traffic(store, range(30, 33), bad=8)
    look_on(store, rule, 30, 33)
    (again,) = store.alerts()
    assert (again.quiet_since, again.samples) == (None, 20)


def test_missing_answers_are_missed_since_the_last_one():
    store = MemoryAlertStore()
    week = 7 * 24 * 60
    for start in (-2 * week, -week, 0):
        traffic(store, range(start - 200, start), bad=0)
    traffic(store, [*range(-2 * week, -2 * week + 60), *range(-week, -week + 60)], bad=0)
    rule = a_rule(signal=Signal(kind=SignalKind.NO_DATA), method=Absence(), for_=timedelta())
    assert look_on(store, rule, 14, 17) == [(14.25, "firing")]
    look_on(store, rule, 170, 171)  # so late that today's traffic says nothing any more
    (alert,) = store.alerts()
    assert (alert.quiet_since, alert.value) == (at(0), 0.0)
    assert alert.bound == pytest.approx(150, abs=2)


@pytest.mark.parametrize("minutes", [1, 59, 60, 61, 1_440])
def test_the_last_answer_is_found_to_the_minute(minutes):
    store, rule = MemoryAlertStore(), a_rule()
    span = Span(start=at(-minutes), end=at(0))
    assert last_counted(rule, store, SHOP, span) is None
    store.count(at(-minutes), SHOP, 1)
    assert last_counted(rule, store, SHOP, span) == at(1 - minutes)
    store.count(at(-1), SHOP, 1)
    store.count(at(0), SHOP, 1)
    store.count(at(-1), {"app": "other"}, 1)
    assert last_counted(rule, store, SHOP, span) == at(0)
