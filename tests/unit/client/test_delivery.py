"""The queue: when batches go, how often they are sent again, and what is dropped."""

from __future__ import annotations

import os

import pytest

from monitor.client import Reporter, delivery
from tests.factories.turn import TURN
from tests.servers.interactions import accepted
from tests.servers.webhook import Answer

pytestmark = pytest.mark.usefixtures("quick")


def test_it_tries_again_until_the_door_is_open(door, caplog):
    door.troubles = [
        Answer(status=503),
        Answer(status=429, headers={"Retry-After": "0"}),
        Answer(status=401),
        Answer(status=307, headers={"Location": "/"}),
    ]
    reporter = Reporter(door.url)
    reporter.record(**TURN, id="a")
    assert reporter.flush(20)
    assert [event["id"] for event in door.events] == ["a"]
    assert len(door.requests) == 5
    assert (reporter.sent, reporter.dropped) == (1, 0)
    assert len(caplog.records) == 1
    reporter.close()


def test_the_wait_that_the_door_asks_for_is_kept(monkeypatch, door):
    waits = []
    reporter = Reporter(door.url)
    monkeypatch.setattr(reporter._delivery._ended, "wait", waits.append)
    door.troubles = [
        Answer(status=429, headers={"Retry-After": "7"}),
        Answer(status=503, headers={"Retry-After": "99999999"}),
        Answer(status=503, headers={"Retry-After": "x"}),
    ]
    reporter.record(**TURN)
    assert reporter.flush(20)
    assert waits[0] == 7
    assert waits[1] == delivery.LONGEST_ASKED
    assert waits[2] < 1


@pytest.mark.parametrize("headers", [{}, {"Transfer-Encoding": "chunked"}], ids=["told why", "the words break off"])
def test_a_wrong_event_costs_only_itself(headers, door, caplog):
    refusal = Answer(status=400, headers=headers, body='{"problem": "question"}')
    door.refuses = lambda events: refusal if any(event["id"] == "bad" for event in events) else None
    reporter = Reporter(door.url)
    for key in ("a", "b", "bad", "c", "d"):
        reporter.record(**TURN, id=key)
    assert reporter.flush(20)
    assert [event["id"] for event in door.events] == ["a", "b", "c", "d"]
    assert (reporter.sent, reporter.dropped) == (4, 1)
    assert "1 event dropped: http" in caplog.text
    assert "answered 400" in caplog.text


def test_what_the_door_rejects_of_a_batch_is_counted(door, caplog):
    door.troubles = [accepted(1, {"index": 1, "problem": "answer: is missing"})]
    reporter = Reporter(door.url)
    reporter.record(**TURN)
    reporter.record(**TURN)
    reporter.close()
    assert (reporter.sent, reporter.dropped) == (1, 1)
    assert "answer: is missing" in caplog.text


def test_the_queue_is_bounded_in_events_and_in_bytes(door, caplog):
    door.held.clear()
    few, small = Reporter(door.url, max_events=3), Reporter(door.url, max_bytes=10_000)
    for _ in range(5):
        few.record(**TURN)
        small.record(question="?", retrieved_documents=["x" * 4_000], answer="")
    assert few.dropped == 2
    assert small.dropped == 3
    door.held.set()
    assert few.flush()
    few.record(**TURN)  # there is room again
    assert few.close()
    assert (few.sent, few.dropped) == (4, 2)
    assert small.close()
    assert "the queue is full: 2 events dropped since" in caplog.text


def test_batches_are_full_under_load(door):
    reporter = Reporter(door.url)
    for _ in range(250):
        reporter.record(**TURN)
    assert reporter.close()
    assert sorted(map(len, door.batches)) == [50, 100, 100]


def test_with_nobody_there_it_ends_within_the_time_given(caplog):
    reporter = Reporter("http://127.0.0.1:9")
    reporter.record(**TURN)
    assert not reporter.flush(0.05)
    assert not reporter.close(0.05)
    assert reporter.dropped == 1
    assert "not delivered before the end: 1 event" in caplog.text


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_child_reports_its_own_and_nothing_of_its_parent(door):
    door.held.clear()
    reporter = Reporter(door.url)
    reporter.record(**TURN, id="parent 1")
    assert door.came.wait(10)
    reporter.record(**TURN, id="parent 2")
    with reporter._delivery._lock:  # as if another thread held it
        child = os.fork()
        if child == 0:
            reporter.record(**TURN, id="child")
            os._exit(0 if reporter.close(10) and reporter.sent == 1 else 1)
    door.held.set()
    assert os.waitpid(child, 0)[1] == 0
    assert reporter.close()
    assert sorted(event["id"] for event in door.events) == ["child", "parent 1", "parent 2"]


def test_logging_that_fails_does_not_break_it(monkeypatch):
    monkeypatch.setattr(delivery.log, "log", lambda *_: 1 / 0)
    reporter = Reporter("http://127.0.0.1:9")
    reporter.record(question="?", retrieved_documents=5, answer="!")
    assert reporter.dropped == 1
    assert reporter.close(0)
