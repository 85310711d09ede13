"""The metrics of a real store, checked and scraped by a real Prometheus."""

from __future__ import annotations

import urllib.request
from datetime import UTC, datetime

import psycopg
import pytest

from monitor.app.metrics.installation import FRESH, SHOWN, StoreCollector
from monitor.app.metrics.pages import MetricsPages, served
from monitor.app.metrics.process import ProcessMetrics
from monitor.core.diagnosis import Diagnosis
from monitor.core.message import Offset, Position, Progress, Skip
from monitor.core.model import Verdict
from monitor.store.interaction.assessments import AssessmentQueries
from monitor.store.interaction.writer import Writer
from monitor.store.ledger.progress import ReadingStore
from monitor.store.telemetry import TelemetryStore
from tests.factories.answers import NOON, a_batch, a_dead_letter, an_assessment, at, clock
from tests.factories.assess.diagnoses import a_diagnosis
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.waiting import until
from tests.servers.prometheus import check_metrics, prometheus

ALERT = """
    INSERT INTO alert (fingerprint, episode, rule, rule_digest, signal, labels, severity, threshold, "window",
                       annotations, receivers, state, active_since, samples, lower, upper)
    VALUES (%s, 'e', 'negative-rate', 'd', 'negative', '{}', 'critical', 0.3, '5 min', '{}', '{slack}', %s, now(),
            1, 0, 1)
"""
TOLD = """
    INSERT INTO notification (receiver, group_key, episode, number, news, made_at, payload, delivered_at, given_up)
    VALUES ('slack', 'g', 'e', %s, 'firing', now(), '{}', %s, %s)
"""


class Ticks:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self):
        return self.now


def pages_of(read, now):
    return MetricsPages(process=ProcessMetrics(), installation=StoreCollector(read, now, ping=lambda: None))


@pytest.fixture
def store(engine):
    return TelemetryStore(engine)


@pytest.fixture
def filled(writer, rows, engine):
    """Something of everything."""
    position = Position(topic="rag", partition=0, offset=0)
    offsets = (
        Offset(topic="rag", partition=0, expected=None, next=5, begin=0, received=2, skipped={Skip.TOMBSTONE: 3}),
    )
    dead = (a_dead_letter(topic="rag", offset=1),)
    writer.write(a_batch(an_assessment(position=position), dead_letters=dead, offsets=offsets))
    writer.write(a_batch(pending=(an_assessment(id="q-2").interaction,)))
    ReadingStore(engine).note("monitor", [Progress(topic="rag", partition=0, through=at(-1), behind=4)], NOON)
    for number, state in enumerate(["pending", "active", "active"]):
        rows(ALERT, str(number), state)
    for number, (delivered, given_up) in enumerate([(None, False), (NOON, False), (None, True), (None, True)]):
        rows(TOLD, number, delivered, given_up)
    rows("INSERT INTO rule_state (rule_digest, rule, evaluated_at) VALUES ('d', 'negative-rate', %s)", NOON)


@pytest.mark.usefixtures("filled")
def test_the_figures_are_those_of_the_store(store):
    figures = store.figures(NOON)
    assert figures.messages["rag", "received"] == 2
    assert figures.messages["rag", "assessed"] == 1
    assert figures.messages["rag", "tombstone"] == 3
    assert (figures.dead, figures.unbalanced) == ({"rag": 1}, {"rag": 0})
    assert (figures.lag, figures.unread) == ({"rag": 60.0}, {"rag": 4})
    assert figures.pending == {("assess", "waiting"): 1, ("assess", "given_up"): 0}
    assert {labels: n for labels, n in figures.answers.items() if n} == {(NOON, "support-bot", "grounded"): 1}
    assert figures.alerts == {("negative-rate", "pending"): 1, ("negative-rate", "active"): 2}
    assert (figures.waiting, figures.given_up) == ({"slack": 1}, {"slack": 2})
    assert figures.evaluated == {"negative-rate": NOON}


def test_diagnoses_are_counted_for_apps_that_have_any(writer, store):
    missed = a_diagnosis("retrieval_missed")
    writer.write(a_batch(an_assessment(diagnosis=missed), an_assessment(id="b", app="before")))
    assert store.figures(NOON).diagnoses == {
        (NOON, "support-bot", diagnosis): int(diagnosis == "retrieval_missed") for diagnosis in Diagnosis
    }


def test_an_empty_store_has_figures_too(store):
    figures = store.figures(NOON)
    assert not any([figures.messages, figures.lag, figures.answers, figures.alerts, figures.evaluated])


def test_a_rescores_messages_are_not_counted(store, database):
    writer = Writer(database, clock, group="again", rescore="0123456789abcdef", queue_key=QUEUE_KEY)
    writer.write(a_batch(offsets=(Offset(topic="rag", partition=0, expected=None, next=5, begin=0, received=5),)))
    writer.close()
    assert store.figures(NOON).messages == {}


@pytest.mark.usefixtures("filled")
def test_promtool_has_nothing_to_say(store):
    with (
        served(pages_of(store.figures, clock), "127.0.0.1", 0) as port,
        urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer,
    ):
        text = answer.read()
    assert b"monitor_up 1.0" in text
    assert b'monitor_lag_seconds{source="rag"} 60.0' in text
    assert check_metrics(text) == ""


@pytest.mark.usefixtures("filled")
def test_a_prometheus_sees_our_figures_move_and_the_store_go(store, writer, tmp_path, rows):
    def now():
        return datetime.now(UTC)

    pages = pages_of(store.figures, now)
    with served(pages, "127.0.0.1", 0) as port, prometheus(tmp_path, f"127.0.0.1:{port}") as server:
        until("it has scraped", lambda: server.ask("monitor_up") == {(): 1.0})
        active = (("rule", "negative-rate"), ("state", "active"))
        assert server.ask("monitor_alerts")[active] == 2
        writer.write(
            a_batch(*(an_assessment(id=f"n-{i}", occurred_at=now(), verdict=Verdict.REFUSAL) for i in range(3)))
        )
        refusals = (("app", "support-bot"), ("verdict", "refusal"))
        until("it counts them", lambda: server.ask("monitor_answers_total").get(refusals) == 3)
        rows("ALTER TABLE consumer_offset RENAME TO gone")
        until("it sees the store fail", lambda: server.ask("monitor_up") == {(): 0.0})
        until("nothing old is shown", lambda: not server.ask("monitor_alerts"))


@pytest.mark.usefixtures("filled")
def test_a_database_that_holds_up_the_figures_is_up_and_one_that_refuses_is_not(store, engine, database, rows):
    """A migration or a backup may lock a table for minutes: whoever is on call must not be told that all is down."""
    ticks, queries = Ticks(), AssessmentQueries(engine)
    collector = StoreCollector(store.figures, clock, ping=queries.ping, patience=0.5, clock=ticks)

    def shown():
        return {family.name: family.samples[0].value for family in collector.collect() if family.samples}

    def is_read():
        with collector._changed:
            return collector._changed.wait_for(lambda: not collector._reading, 60)

    shown()
    assert is_read()
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE consumer_offset")
        for now in (15, 30):
            ticks.now = now
            assert (
                shown().items()
                >= {"monitor_up": 1, "monitor_figures_age_seconds": now, "monitor_dead_letters": 1}.items()
            )
        ticks.now = SHOWN
        assert shown() == {"monitor_up": 1}
    assert is_read()
    assert shown()["monitor_dead_letters"] == 1
    rows("ALTER TABLE consumer_offset RENAME TO gone")
    ticks.now = SHOWN + FRESH + 15
    shown()
    assert is_read()
    assert shown() == {"monitor_up": 0}
