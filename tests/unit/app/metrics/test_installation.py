"""What a scrape shows when the store answers, is slow, fails, and comes back."""

from __future__ import annotations

from dataclasses import replace
from threading import Semaphore
from typing import get_args

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from monitor.app.metrics.installation import FRESH, SHOWN, Answers, MetricName, StoreCollector
from monitor.core.errors import Retriable
from monitor.store.collect.figures import CollectFigures
from monitor.store.telemetry import Figures
from tests.factories.answers import NOON, at, clock

FIGURES = Figures(
    messages={("rag", "received"): 9, ("rag", "assessed"): 7, ("rag", "duplicate"): 1, ("rag", "expired"): 2},
    dead={"rag": 1},
    unbalanced={"rag": 0},
    lag={"rag": 2.5},
    unread={"rag": 4},
    pending={("judge", "waiting"): 3, ("judge", "given_up"): 1},
    answers={(NOON, "shop", "grounded"): 7},
    diagnoses={(NOON, "shop", "healthy"): 7},
    alerts={("negative-rate", "firing"): 2},
    waiting={"slack": 1},
    given_up={"slack": 5},
    evaluated={"negative-rate": NOON},
    unsealed=90.0,
    refused={"checkpoints": 1},
    collected=CollectFigures(open=3, bytes=4096, spans=9, repeated=2, refused=1, overdue=7.0, waiting={"otlp": 5}),
)
SCRAPES = 15  # seconds from one scrape to the next


class Ticks:
    """A clock that is set by hand."""

    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def ticks():
    return Ticks()


def answers():
    """A ping of a store that answers."""


def shown(collector):
    """Samples by name and labels."""
    return {(s.name, *sorted(s.labels.items())): s.value for family in collector.collect() for s in family.samples}


def test_every_metric_is_shown_under_its_name_and_labels(ticks):
    samples = shown(StoreCollector(lambda _: FIGURES, clock, ping=answers, clock=ticks))
    later = {"monitor_answers_total", "monitor_diagnosed_answers_total"}  # the first look counts nothing
    assert {name for name, *_ in samples} | later == set(get_args(MetricName))
    assert samples["monitor_up",] == 1
    assert samples["monitor_figures_age_seconds",] == 0
    assert samples["monitor_messages_received_total", ("source", "rag")] == 9
    assert samples["monitor_messages_total", ("outcome", "assessed"), ("source", "rag")] == 7
    assert samples["monitor_offsets_skipped_total", ("reason", "expired"), ("source", "rag")] == 2
    assert samples["monitor_alerts", ("rule", "negative-rate"), ("state", "firing")] == 2
    assert samples["monitor_rule_evaluated_timestamp_seconds", ("rule", "negative-rate")] == NOON.timestamp()
    assert samples["monitor_audit_waiting_seconds",] == 90
    assert samples["monitor_audit_refused", ("witness", "checkpoints")] == 1
    assert samples["monitor_traces_open",] == 3
    assert samples["monitor_traces_overdue_seconds",] == 7
    assert samples["monitor_spans_total", ("outcome", "kept")] == 6
    assert samples["monitor_inbox_waiting", ("topic", "otlp")] == 5


def test_the_store_is_asked_once_for_scrapes_close_to_each_other(ticks):
    asked = []
    collector = StoreCollector(lambda now: asked.append(now) or FIGURES, clock, ping=answers, clock=ticks)
    for _ in range(3):
        shown(collector)
    assert len(asked) == 1
    ticks.now += FRESH
    shown(collector)
    assert len(asked) == 2


def test_a_store_that_fails_is_down_and_nothing_old_is_shown(ticks):
    answers = [FIGURES, Retriable("database: gone"), FIGURES]

    def read(_):
        if isinstance(found := answers.pop(0), Exception):
            raise found
        return found

    collector = StoreCollector(read, clock, ping=answers, clock=ticks)
    found = []
    for _ in range(3):
        found.append(shown(collector))
        ticks.now += FRESH
    assert found[1] == {("monitor_up",): 0}
    assert found[0] == found[2] != found[1]


class SlowStore:
    """Its reads end when the test says so; its ping is answered unless it `hangs`, as the clock stands still."""

    def __init__(self, ticks, *, hangs=False):
        self.hangs = hangs
        self.asked = 0
        self._ended = Semaphore(0)
        self.collector = StoreCollector(self._read, clock, ping=self._ping, patience=0.001, clock=ticks)

    def _read(self, _):
        self.asked += 1
        self._ended.acquire()
        return FIGURES

    def _ping(self):
        if self.hangs:
            raise Retriable("the database does not answer")

    def end_read(self):
        """Lets the running read end, and waits until its figures are there."""
        self._ended.release()
        with self.collector._changed:
            assert self.collector._changed.wait_for(lambda: not self.collector._reading, 60)


def test_a_store_that_hangs_holds_up_no_scrape_and_is_asked_once(ticks):
    store = SlowStore(ticks, hangs=True)
    for _ in range(3):
        assert shown(store.collector) == {("monitor_up",): 0}
        ticks.now += SCRAPES
    assert store.asked == 1
    store.end_read()
    store.hangs = False
    assert shown(store.collector)["monitor_up",] == 1
    store.end_read()


def test_a_slow_store_is_up_and_shows_what_was_read_last(ticks):
    """Each read takes longer than a scrape waits, and ends before the next scrape."""
    store = SlowStore(ticks)
    assert shown(store.collector) == {("monitor_up",): 1}  # nothing was read yet
    for _ in range(10):
        ticks.now += 3
        store.end_read()
        ticks.now += SCRAPES - 3
        samples = shown(store.collector)
        assert samples["monitor_up",] == 1
        assert samples["monitor_figures_age_seconds",] == SCRAPES
        assert samples["monitor_dead_letters", ("source", "rag")] == 1
    store.end_read()
    assert store.asked == 11


def test_figures_are_shown_for_a_minute_after_they_were_read_however_long_that_took(ticks):
    store = SlowStore(ticks)
    shown(store.collector)
    ticks.now += 2 * SHOWN
    store.end_read()
    ticks.now += SHOWN - 1
    assert shown(store.collector)["monitor_figures_age_seconds",] == 3 * SHOWN - 1
    ticks.now += 1
    assert shown(store.collector) == {("monitor_up",): 1}
    store.end_read()


def test_a_store_that_hangs_after_all_was_well_shows_nothing_old(ticks):
    store = SlowStore(ticks)
    shown(store.collector)
    store.end_read()
    assert len(shown(store.collector)) > 1
    ticks.now += SCRAPES
    store.hangs = True
    assert shown(store.collector) == {("monitor_up",): 0}
    store.end_read()


def test_answers_count_from_the_first_look_and_never_go_down():
    answers = Answers()
    looks = [
        {(NOON, "shop", "grounded"): 100, (NOON, "shop", "refusal"): 10},
        {(NOON, "shop", "grounded"): 103, (NOON, "shop", "refusal"): 9},  # one was revised
        {(at(60), "shop", "grounded"): 2, (NOON, "shop", "grounded"): 103, (NOON, "shop", "refusal"): 11},
        {(at(60), "shop", "grounded"): 2},  # the first hour is past
    ]
    totals = []
    for hours in looks:
        answers.seen(hours)
        totals.append((answers.totals["shop", "grounded"], answers.totals["shop", "refusal"]))
    assert totals == [(0, 0), (3, 0), (5, 2), (5, 2)]


def test_diagnosed_answers_are_counted_likewise(ticks):
    looks = [FIGURES, replace(FIGURES, diagnoses={(NOON, "shop", "healthy"): 9, (NOON, "shop", "retrieval_missed"): 2})]
    collector = StoreCollector(lambda _: looks.pop(0), clock, ping=answers, clock=ticks)
    shown(collector)
    ticks.now += FRESH
    shown(collector)
    ticks.now += FRESH / 2
    samples = {name: value for name, value in shown(collector).items() if name[0] == "monitor_diagnosed_answers_total"}
    assert {dict(labels)["diagnosis"]: value for (_, *labels), value in samples.items()} == {
        "healthy": 2,
        "retrieval_missed": 2,
    }


def test_apps_that_never_come_again_are_left_out():
    answers = Answers()
    for number in range(100):
        hours = {(NOON, "shop", "grounded"): number, (NOON, f"random-{number}", "refusal"): 1}
        answers.seen(hours)
    assert set(answers.totals) == {("shop", "grounded"), ("random-99", "refusal")}
    assert answers.totals["shop", "grounded"] == 99


def test_labels_are_escaped(ticks):
    figures = replace(FIGURES, dead={'a"b\\c\nd': 1})
    registry = CollectorRegistry()
    registry.register(StoreCollector(lambda _: figures, clock, ping=answers, clock=ticks))
    assert r'monitor_dead_letters{source="a\"b\\c\nd"} 1.0' in generate_latest(registry).decode()
