"""Erasure and retention while others work on the same rows: no text comes back or stays."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace

import psycopg
import pytest

from monitor.core.model import Origin, Support, SupportingDocument, Verdict
from monitor.core.pending import Work
from monitor.privacy.retention import CutOff
from monitor.store.alert.alerts import PostgresAlertStore
from monitor.store.interaction.rescore import add_assessments
from monitor.store.interaction.writer import Writer
from monitor.store.pending.finish import finish_assessed
from monitor.store.pending.queue import PendingQueue
from monitor.store.privacy.erasure import Erasure, ErasureTarget
from monitor.store.privacy.retention import Retention
from tests.factories.answers import NOON, a_batch, an_assessment, clock
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.privacy import APP, SECRET, everything, told
from tests.rig.waiting import until

LATER = "fedcba9876543210"


def erase(engine):
    erasure = Erasure(engine)
    erasure.erase(APP, erasure.find(ErasureTarget(app=APP, ids=("q-1",))), by="eve", reason_given=False, now=NOON)


def remove(engine):
    cuts = [CutOff(app=APP, verdict=verdict, before=NOON.replace(year=2099)) for verdict in (Verdict.GROUNDED, None)]
    Retention(engine).remove(NOON.date().replace(day=1), cuts, ("", ""), by="eve", now=NOON)


@contextmanager
def meanwhile(rows, work, *args):
    """Runs it in a thread, which waits for a lock when the block begins."""
    with ThreadPoolExecutor(1) as others:
        running = others.submit(work, *args)
        until("it waits for a lock", lambda: running.done() or rows("SELECT pid FROM pg_locks WHERE NOT granted"))
        yield
        running.result()


@pytest.mark.parametrize("work", [erase, remove])
def test_a_rescore_that_is_at_the_same_row_leaves_nothing_of_it(database, writer, engine, rows, work):
    writer.write(a_batch(told("q-1", NOON)))
    with psycopg.connect(database) as connection:
        support = Support(origin=Origin.LOGGED, documents=(SupportingDocument(text=SECRET),))
        add_assessments(connection, [replace(told("q-1", NOON, profile_hash=LATER), support=support)])
        with meanwhile(rows, work, engine):
            connection.commit()
    assert SECRET not in everything(database)


@pytest.mark.parametrize("work", [erase, remove])
def test_what_a_worker_queues_to_follow_goes_too(database, writer, engine, rows, monkeypatch, work):
    it = told("q-1", NOON).interaction
    writer.write(a_batch(pending=(it,)))
    (claim,) = PendingQueue(engine).claim([Work.ASSESS], NOON, most=1, lease=NOON.replace(year=2099) - NOON)
    worker = Writer(database, clock, follow_ups=lambda _: [Work.JUDGE], queue_key=QUEUE_KEY)
    stored = worker.add

    def slowly(connection, assessments):
        stored(connection, assessments)
        running.enter_context(meanwhile(rows, work, engine))

    monkeypatch.setattr(worker, "add", slowly)
    with ExitStack() as running:
        finish_assessed(worker, [(claim, an_assessment(interaction=it))])
    worker.close()
    assert rows("SELECT kind FROM pending") == []


def test_a_round_of_alerting_is_waited_for(database, writer, engine, rows):
    """The round has read questions and answers, and is about to store what it quotes."""
    writer.write(a_batch(told("q-1", NOON)))
    with ThreadPoolExecutor(1) as others:
        with PostgresAlertStore(engine).evaluating() as ours:
            assert ours
            running = others.submit(erase, engine)
            until("it waits for the round", lambda: rows("SELECT pid FROM pg_locks WHERE NOT granted"))
            assert rows("SELECT count(*) FROM interaction WHERE question = ''") == [(0,)]
        running.result()
    assert SECRET not in everything(database)
