"""Objects, settings and moments at which a report goes wrong: the chatbot goes on, and so does the next report."""

from __future__ import annotations

import contextvars
import json

import pytest

from monitor.client import Reporter, delivery, observe_rag
from monitor.client.event import encoded, size
from tests.factories.turn import TURN


class Unspeakable(Exception):
    def __repr__(self):
        raise RuntimeError("no words")


class Leaving:
    def __str__(self):
        raise SystemExit(1)


class Angry:
    def __str__(self):
        raise Unspeakable

    def __iter__(self):
        raise Unspeakable


@pytest.fixture
def reporter(tmp_path):
    with Reporter((tmp_path / "events.jsonl").as_uri()) as reporter:
        yield reporter


def test_an_error_that_cannot_even_be_told_ends_neither_the_call_nor_the_thread(reporter, tmp_path):
    def answer(_):
        raise Unspeakable

    assert observe_rag(reporter=reporter, answer=answer)(lambda question: question)("?") == "?"
    reporter.record(question="?", retrieved_documents=Angry(), answer="!")
    reporter.record(question=Angry(), retrieved_documents=[], answer="!")
    reporter.record(question=Leaving(), retrieved_documents=[], answer="!")
    reporter.record(**TURN, id="next")
    assert reporter.close(20)
    assert (reporter.sent, reporter.dropped) == (1, 4)
    assert json.loads((tmp_path / "events.jsonl").read_text())["id"] == "next"


def test_things_that_name_each_other_do_not_keep_the_thread_busy_for_ever():
    things = [{"page": number} for number in range(12)]
    for thing in things:
        thing["others"] = list(things)
    event = {"id": "x", "occurred_at": 0.0, "tags": {"n": float("nan")}}
    with pytest.raises(ValueError, match="more than"):
        encoded({**event, "question": things})
    first, second = {"page": 1}, {"page": 2}
    first["next"], second["before"] = second, first
    assert json.loads(encoded({**event, "question": first}))["question"] == {
        "page": 1, "next": {"page": 2, "before": None}
    }  # fmt: skip


def test_the_end_does_not_wait_for_more_after_the_first_batch(tmp_path, monkeypatch):
    monkeypatch.setattr(delivery, "LINGER", 30.0)
    reporter = Reporter((tmp_path / "events.jsonl").as_uri())
    for _ in range(2):
        for _ in range(delivery.MOST_EVENTS + 1):
            reporter.record(**TURN)
        assert reporter.flush(20)
    for _ in range(delivery.MOST_EVENTS + 1):
        reporter.record(**TURN)
    assert reporter.close(20)
    assert reporter.dropped == 0


def test_a_token_with_a_line_break_is_not_told_in_the_log(caplog):
    assert Reporter("http://127.0.0.1:9", token="secret\n").problem is None  # as read from a file
    assert "the token" in Reporter("http://127.0.0.1:9", token="sec\nret").problem
    assert "nothing is reported" in caplog.text
    assert "sec" not in caplog.text


def test_a_coroutine_may_be_closed_in_another_context(reporter):
    class Pause:
        def __await__(self):
            yield

    @observe_rag(reporter=reporter)
    async def ask(_question):
        await Pause()

    waiting = ask("?")
    contextvars.copy_context().run(waiting.send, None)
    waiting.close()


def test_the_size_of_an_event_counts_texts_metadata_and_nodes():
    class Node:
        def __init__(self, **fields):
            self.__dict__.update(fields)

    long = "x" * 1_000_000
    wide = "\u4e2d" * 500_000
    documents = [
        long,
        wide,
        {"text": "a", "metadata": {"page": long}},
        Node(page_content=long, metadata={}),
        Node(node=Node(text="b", metadata={"page": long}), score=0.5),
        b"x" * 1_000_000,
    ]
    for document in documents:
        assert 1_000_000 < size({"question": "?", "retrieved_documents": [document]}) < 1_010_000
    assert 1_000_000 < size({"question": "?", "tags": {"page": long}}) < 1_010_000
