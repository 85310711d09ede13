"""Chunks are judged by a scripted server, from the stored chunks to the stored judgement."""

from __future__ import annotations

import re
from contextlib import closing
from threading import Event

import pytest

from monitor.app.pending.judging import JudgingWorker
from monitor.app.pending.workers import work_off
from monitor.app.wiring.application import Application
from monitor.assess.threshold import UNKNOWN, dynamic_threshold, shrunk
from monitor.core.errors import Retriable
from monitor.core.model import Document
from monitor.core.pending import Work
from monitor.core.settings.load import load_settings
from monitor.store.interaction.writer import Writer
from monitor.store.pending.queue import Claim
from tests.factories.answers import a_batch, an_assessment, an_interaction, clock
from tests.factories.assess.diagnoses import a_chunk, a_diagnosis
from tests.rig.store.keys import QUEUE_KEY
from tests.rig.store.workers import judging
from tests.servers.llm import llm_server

DOCUMENTS = ("Snapshots are kept for 30 days. Invoices come by mail.", "Parcels are free.")
CHUNKS = (a_chunk(0, 0, 31, used=True), a_chunk(0, 32, 54), a_chunk(1, 0, 17))
DOWN = Retriable("out of reach")


@pytest.fixture
def stored(database):
    def store(**given):
        documents = tuple(Document(id=f"d-{n}", text=text) for n, text in enumerate(DOCUMENTS))
        with closing(Writer(database, clock, follow_ups=lambda _: [Work.JUDGE], queue_key=QUEUE_KEY)) as writer:
            writer.write(a_batch(an_assessment(retrieved_documents=documents, profile_hash="of today", **given)))

    return store


def about_snapshots(request):
    """A high score for each line of the chunks that speaks of snapshots, a low one for the others."""
    if "`query`" in request.system:
        return {"query": "How long are deleted snapshots retained?"}
    lines = re.search(r"<chunks (\w+)>\n(.*?)\n</chunks \1>", request.user, re.DOTALL)[2].splitlines()
    scores = [0.9 if "napshots" in line else 0.1 for line in lines]
    return {"chunks": [{"number": n, "why": "so", "score": score} for n, score in enumerate(scores, start=1)]}


def worked_off(database, server, **judge):
    settings = judging(server, metrics=["chunk_relevance"], **judge)
    with Application(load_settings(database_url=database, embedding={"provider": "hash"}, **settings)) as application:
        work_off(application, Event())


@pytest.mark.parametrize("mode", ["separate", "combined"])
def test_the_stored_chunks_are_judged_with_three_calls(database, stored, rows, mode):
    stored(diagnosis=a_diagnosis("retrieval_missed", chunks=CHUNKS))
    with llm_server() as server:
        server.answer = about_snapshots
        worked_off(database, server, mode=mode)
    assert len(server.chats) == 3
    ((metric, score, calls, parts),) = rows("SELECT metric, score, calls, parts FROM judgement")
    assert (metric, score, calls) == ("chunk_relevance", pytest.approx(1 / 3), 3)
    assert [(c["document"], c["start"], c["end"], c["score"]) for c in parts["chunks"]] == [
        (0, 0, 31, 0.9),
        (0, 32, 54, 0.1),
        (1, 0, 17, 0.1),
    ]
    assert parts["threshold"] == pytest.approx(dynamic_threshold([0.9, 0.1, 0.1]), abs=1e-6)
    assert (parts["diagnosis"], parts["without_model"]) == ("healthy", "retrieval_missed")
    assert rows("SELECT diagnosis FROM assessment") == [("retrieval_missed",)]  # the live one stays
    assert rows("SELECT count(*) FROM pending") == [(0,)]


def test_the_documents_of_a_row_without_chunks_are_judged(database, stored, rows):
    stored()
    with llm_server() as server:
        server.answer = about_snapshots
        worked_off(database, server, rewrite_question=True)
    ((parts, calls),) = rows("SELECT parts, calls FROM judgement")
    assert [(c["document"], c["start"], c["end"]) for c in parts["chunks"]] == [(0, 0, 54), (1, 0, 17)]
    assert "diagnosis" not in parts
    assert (parts["query"], calls) == ("How long are deleted snapshots retained?", 4)


def test_a_later_threshold_knows_the_app_s_scores(database, stored, rows):
    with llm_server() as server:
        server.answer = about_snapshots
        for n in range(2):
            stored(id=f"a-{n}", diagnosis=a_diagnosis(chunks=CHUNKS))
            worked_off(database, server)
    (first,), (second,) = rows("SELECT parts -> 'prior' FROM judgement ORDER BY id")
    spread = shrunk([0.9, 0.1, 0.1], UNKNOWN)
    assert first == {"mean": UNKNOWN.mean, "sd": UNKNOWN.sd}
    assert second == {"mean": pytest.approx(spread.mean, abs=1e-6), "sd": pytest.approx(spread.sd, abs=1e-6)}


def test_a_spread_that_is_out_of_reach_holds_up_no_claim():
    class Judge:
        def tasks(self, case):
            return [lambda: [case.prior]]

    def spread(_app):
        raise DOWN

    worker = JudgingWorker(queue=_Queue(), writer=None, judge=Judge(), concurrency=1, spread=spread)
    worker.take([_claim()])
    ((_, (task,)),) = worker._in_progress
    assert task.result() == [UNKNOWN]
    worker._pool.close()


def _claim(**given):
    known = {"id": 1, "kind": Work.JUDGE, "token": "t", "attempts": 1, "group": "g", "interaction": an_interaction()}
    return Claim(**{**known, "refuses": False, **given})


class _Queue:
    def now(self):
        return clock()
