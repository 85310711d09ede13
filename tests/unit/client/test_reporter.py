"""The reporter: what it sends, what it drops, and that the chatbot never notices."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from types import SimpleNamespace

import pytest

from monitor.client import Reporter
from tests.factories.turn import TURN

pytestmark = pytest.mark.usefixtures("quick")


def test_an_answer_arrives_as_a_native_event_with_the_token(door):
    reporter = Reporter(door.url, app="bot", token="secret")
    usage = SimpleNamespace(prompt_tokens=7, completion_tokens=3, total_tokens=10)
    key = reporter.record(
        **TURN, supporting_documents=["30 days."], conversation_id="c", model="m", tags={"user": 5}, usage=usage, turn=2
    )
    reporter.feedback(key, thumbs="down", comment="No.")
    assert reporter.flush()
    turn, word = door.events
    assert turn.pop("occurred_at").endswith("+00:00")
    assert turn == {
        **TURN, "id": key, "app": "bot", "supporting_documents": ["30 days."], "conversation_id": "c", "model": "m",
        "tags": {"user": 5}, "usage": {"prompt_tokens": 7, "completion_tokens": 3}, "turn": 2,
    }  # fmt: skip
    assert word["feedback"] == [{"id": key, "thumb": "down", "comment": "No."}]
    request = door.requests[0]
    assert (request.path, request.headers["authorization"]) == ("/v1/interactions", "Bearer secret")
    assert (reporter.sent, reporter.dropped) == (2, 0)
    assert reporter.close()


def test_documents_of_the_frameworks_are_understood(door):
    langchain = SimpleNamespace(page_content="A", metadata={"source": "a.md"}, id="1")
    llama = SimpleNamespace(node=SimpleNamespace(text="B", node_id="2", metadata={}), score=0.5)
    haystack = SimpleNamespace(content="C", id="3", score=0.25, meta={"page": 1})
    reporter = Reporter(door.url)
    reporter.record(
        question="?",
        answer="!",
        retrieved_documents=[langchain, llama, haystack, (langchain, 0.75), {"page_content": "D", "id": "4"}, 5],
    )
    reporter.close()
    assert door.events[0]["retrieved_documents"] == [
        {"text": "A", "id": "1", "metadata": {"source": "a.md"}},
        {"text": "B", "id": "2", "score": 0.5},
        {"text": "C", "id": "3", "score": 0.25, "metadata": {"page": 1}},
        {"text": "A", "id": "1", "metadata": {"source": "a.md"}, "score": 0.75},
        {"text": "D", "id": "4"},
        "5",
    ]


def test_the_time_of_an_answer_may_be_a_figure_a_datetime_or_unknown(door):
    noon = datetime(2026, 5, 4, 12, tzinfo=UTC)
    reporter = Reporter(door.url)
    for at in (noon.timestamp(), noon, noon.astimezone(timezone(timedelta(hours=2))), noon.isoformat(), None):
        reporter.record(**TURN, occurred_at=at)
    assert reporter.flush()
    assert (reporter.sent, reporter.dropped) == (5, 0)
    *given, unknown = [datetime.fromisoformat(event["occurred_at"]) for event in door.events]
    assert given == [noon] * 4
    assert unknown > noon


def test_nothing_is_waited_for_after_the_end(door):
    reporter = Reporter(door.url)
    reporter.record(**TURN)
    assert reporter.close()
    assert reporter.flush(timeout=0.0)


def test_a_turn_that_cannot_be_scored_says_why(door):
    reporter = Reporter(door.url)
    reporter.record(question="Hi", retrieved_documents=None, answer="Hello")
    reporter.record(question="Hi", retrieved_documents=[], answer=None)
    reporter.close()
    assert [event["unscored"] for event in door.events] == ["no_retrieval", "call_failed"]


def test_values_that_json_does_not_know_do_not_cost_the_answer(door):
    class Odd:
        def __str__(self):
            return "odd"

    loop = {"text": "x"}
    loop["metadata"] = loop
    reporter = Reporter(door.url)
    reporter.record(
        question="1", answer="", retrieved_documents=[{"text": "x", "score": float("nan")}], tags={"o": Odd()}
    )
    reporter.record(question="2", answer="", retrieved_documents=[loop])
    reporter.record(question="3\ud800", answer="", retrieved_documents=[])
    reporter.close()
    assert [event["question"] for event in door.events] == ["1", "2", "3\ud800"]
    assert door.events[0]["tags"] == {"o": "odd"}
    assert door.events[0]["retrieved_documents"] == [{"text": "x", "score": None}]


def test_nothing_that_the_chatbot_passes_raises_an_error(door, caplog):
    class Bad:
        def __str__(self):
            raise RuntimeError("bad")

    reporter = Reporter(door.url)
    assert reporter.record(question="?", retrieved_documents=5, answer="!", id="x") == "x"
    assert reporter.record(question="?", retrieved_documents=[Bad()], answer="!")
    reporter.record(question=Bad(), retrieved_documents=[], answer="!")
    reporter.record(**TURN)
    assert reporter.close()
    assert (reporter.sent, reporter.dropped) == (1, 3)
    assert len(caplog.records) <= 3
    reporter.record(**TURN)  # closed
    assert reporter.dropped == 4


@pytest.mark.parametrize(
    "url",
    ["", "htp://x", "kafka://host:9092", "file://host/x", "http://u:p@host", "http://host:99999", "kafka:///t", "::"],
)
def test_a_url_that_cannot_be_used_reports_nothing_and_says_so(url, caplog, monkeypatch):
    monkeypatch.delenv("MONITOR_CLIENT_URL", raising=False)
    reporter = Reporter(url)
    assert reporter.problem
    assert "nothing is reported" in caplog.text
    assert "p@" not in caplog.text
    assert reporter.record(**TURN)
    reporter.feedback("x", thumbs="up")
    assert reporter.flush()
    assert reporter.close()


def test_the_environment_says_where_and_for_which_app(door, monkeypatch):
    monkeypatch.setenv("MONITOR_CLIENT_URL", door.url)
    monkeypatch.setenv("MONITOR_CLIENT_APP", "bot")
    with Reporter() as reporter:
        reporter.record(**TURN)
    assert door.events[0]["app"] == "bot"
