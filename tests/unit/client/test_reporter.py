"""The reporter: what it sends where, what it drops, and that the chatbot never notices."""

from __future__ import annotations

import json
import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import kafka
import pytest
from kafka.errors import KafkaTimeoutError, MessageSizeTooLargeError

from monitor.client import Reporter, delivery
from monitor.client.send_http import retry_after

TURN = {"question": "How long?", "retrieved_documents": ["30 days."], "answer": "30 days."}


class Door(ThreadingHTTPServer):
    """Takes batches as the monitor does. `replies` are given first: (status, headers, body) each."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.batches, self.headers, self.replies = [], [], []
        self.came = threading.Event()
        self.held = threading.Event()
        self.held.set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def events(self):
        return [event for batch in self.batches for event in batch]


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        events = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.headers.append((self.path, dict(self.headers)))
        self.server.came.set()
        self.server.held.wait(10)
        reply = self.server.replies.pop(0) if self.server.replies else None
        if callable(reply):
            reply = reply(events, self.server)
        status, headers, body = reply or (202, {}, {"accepted": len(events), "rejected": []})
        if status == 202:
            self.server.batches.append(events)
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        pass


@pytest.fixture
def door():
    server = Door()
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.held.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(delivery, "LINGER", 0.05)
    monkeypatch.setattr(delivery, "FIRST_PAUSE", 0.01)


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
    path, headers = door.headers[0]
    assert (path, headers["Authorization"]) == ("/v1/interactions", "Bearer secret")
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


def test_it_tries_again_until_the_door_is_open(door, caplog):
    door.replies = [(503, {}, {}), (429, {"Retry-After": "0"}, {}), (401, {}, {}), (307, {"Location": "/"}, {})]
    reporter = Reporter(door.url)
    reporter.record(**TURN, id="a")
    assert reporter.flush(20)
    assert [event["id"] for event in door.events] == ["a"]
    assert len(door.headers) == 5
    assert (reporter.sent, reporter.dropped) == (1, 0)
    assert len(caplog.records) == 1
    reporter.close()


def test_the_wait_that_the_door_asks_for_is_kept(monkeypatch, door):
    waits = []
    reporter = Reporter(door.url)
    monkeypatch.setattr(reporter._delivery._ended, "wait", waits.append)
    door.replies = [
        (429, {"Retry-After": "7"}, {}),
        (503, {"Retry-After": "99999999"}, {}),
        (503, {"Retry-After": "x"}, {}),
    ]
    reporter.record(**TURN)
    assert reporter.flush(20)
    assert waits[0] == 7
    assert waits[1] == delivery.LONGEST_ASKED
    assert waits[2] < 1


def test_retry_after_may_be_a_date():
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 30) == 30
    assert retry_after("Thu, 01 Jan 1970 00:01:00 GMT", 90) == 0
    assert retry_after("inf", 0) is retry_after("soon", 0) is retry_after(None, 0) is None


def test_a_wrong_event_costs_only_itself(door, caplog):
    def strict(events, server):
        server.replies.insert(0, strict)
        return (400, {}, {"problem": "question"}) if any(event["id"] == "bad" for event in events) else None

    door.replies = [strict]
    reporter = Reporter(door.url)
    for key in ("a", "b", "bad", "c", "d"):
        reporter.record(**TURN, id=key)
    assert reporter.flush(20)
    assert [event["id"] for event in door.events] == ["a", "b", "c", "d"]
    assert (reporter.sent, reporter.dropped) == (4, 1)
    assert "answered 400" in caplog.text


def test_what_the_door_rejects_of_a_batch_is_counted(door, caplog):
    door.replies = [(202, {}, {"accepted": 1, "rejected": [{"index": 1, "problem": "answer: is missing"}]})]
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
    assert "the queue is full" in caplog.text


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


def test_a_file_gets_whole_lines_and_after_a_full_disk_no_half_line(tmp_path, monkeypatch):
    path = tmp_path / "a b.jsonl"
    path.write_text('{"id": "old"}\n')
    write, calls = os.write, []

    def full_disk(descriptor, data):
        calls.append(len(data))
        if len(calls) == 2:
            raise OSError(28, "No space left on device")
        return write(descriptor, bytes(data[:20]) if len(calls) == 1 else data)

    monkeypatch.setattr(os, "write", full_disk)
    with Reporter(path.as_uri()) as reporter:
        reporter.record(**TURN, id="new")
        assert reporter.flush()
    assert [json.loads(line)["id"] for line in path.read_text().splitlines()] == ["old", "new"]


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


class Producer:
    """Stands in for `kafka.KafkaProducer`; fails as often as `failures` says."""

    made, taken, failures = [], [], []

    def __init__(self, **options):
        self.made.append(options)

    def send(self, topic, *, key, value):
        if self.failures:
            raise self.failures.pop(0)
        self.taken.append((topic, key, json.loads(value)["id"]))
        return SimpleNamespace(get=lambda **_: None)

    def close(self, timeout):
        pass


def test_to_kafka_with_the_id_as_key_and_a_new_producer_after_a_failure(monkeypatch):
    monkeypatch.setattr(kafka, "KafkaProducer", Producer)
    Producer.failures[:] = [KafkaTimeoutError()]
    reporter = Reporter("kafka://a:9092,b:9092/answers", kafka={"security_protocol": "SSL"})
    reporter.record(**TURN, id="x")
    assert reporter.flush(20)
    Producer.failures[:] = [MessageSizeTooLargeError()]
    reporter.record(**TURN, id="too large")
    assert reporter.close(20)
    assert Producer.taken == [("answers", b"x", "x")]
    assert [made["bootstrap_servers"] for made in Producer.made] == [["a:9092", "b:9092"]] * 2
    assert Producer.made[0]["security_protocol"] == "SSL"
    assert (reporter.sent, reporter.dropped) == (1, 1)
