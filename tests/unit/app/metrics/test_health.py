"""When a process says that it lives, and when that it can work."""

from __future__ import annotations

from threading import Event

import pytest

from monitor.app.metrics.health import Health, Readiness, lives, polls
from monitor.core.errors import Retriable


def test_it_is_ready_when_the_database_answers():
    Readiness(lambda: None).check()


def test_a_database_out_of_reach_is_reported_without_its_own_words():
    def away():
        raise Retriable("connection to 10.0.0.7 failed")

    with pytest.raises(Retriable, match=r"^the database does not answer$"):
        Readiness(away).check()


def test_a_hanging_database_delays_nobody_and_is_asked_once():
    answers, asked = Event(), []

    def hangs():
        asked.append(1)
        answers.wait()

    readiness = Readiness(hangs, patience=0.0)
    for _ in range(3):
        with pytest.raises(Retriable):
            readiness.check()
    assert asked == [1]
    answers.set()
    Readiness(lambda: None).check()


def test_a_consumer_lives_while_it_polls():
    polled_at, now = [100.0], [400.0]
    check = polls(lambda: polled_at[0], 300.0, clock=lambda: now[0])
    check()
    now[0] = 401.0
    with pytest.raises(Retriable, match=r"^Kafka was polled 301 s ago for the last time$"):
        check()
    polled_at[0] = 401.0
    check()


def failing():
    raise Retriable("the database does not answer")


def stuck():
    raise Retriable("Kafka was polled 301 s ago for the last time")


@pytest.mark.parametrize(
    ("alive", "ready", "path", "status", "body"),
    [
        (lives, lives, "/healthz", "200 OK", "ok\n"),
        (lives, lives, "/readyz", "200 OK", "ready\n"),
        (lives, failing, "/healthz", "200 OK", "ok\n"),  # a restart would not bring the database back
        (lives, failing, "/readyz", "503 Service Unavailable", "the database does not answer\n"),
        (stuck, lives, "/healthz", "503 Service Unavailable", "Kafka was polled 301 s ago for the last time\n"),
        (stuck, lives, "/readyz", "503 Service Unavailable", "Kafka was polled 301 s ago for the last time\n"),
        (stuck, failing, "/metrics", "204 No Content", "/metrics"),
        (stuck, failing, "/healthz/", "204 No Content", "/healthz/"),
    ],
)
def test_what_is_answered(alive, ready, path, status, body):
    said = []

    def others(environ, start_response):
        start_response("204 No Content", [])
        return [environ["PATH_INFO"].encode()]

    answer = Health(alive=alive, ready=ready).beside(others)
    parts = answer({"PATH_INFO": path}, lambda status, _: said.append(status))
    assert (said, b"".join(parts)) == ([status], body.encode())
