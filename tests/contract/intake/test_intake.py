"""What every `Intake` promises."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from monitor.app.wiring.application import Application
from monitor.core.message import Message, Position
from monitor.core.settings.load import load_settings
from monitor.core.trace import Collected, Span
from monitor.simulate.fakes.intake import MemoryIntake

NOW = datetime(2026, 11, 2, 12, tzinfo=UTC)


@pytest.fixture(params=["memory", "postgres"])
def intake(request, tmp_path):
    if request.param == "memory":
        yield MemoryIntake(max_spans=3)
        return
    database = request.getfixturevalue("database")
    settings = load_settings(database_url=database, state_dir=tmp_path, collect={"max_parts": 3})
    with Application(settings, now=lambda: NOW) as application:
        yield application.collecting.intake


def a_span(number, trace="a" * 32):
    return Span(trace_id=trace, span_id=f"{number:016x}", parent_id=None, name="call", started=1, ended=2)


def a_request(*spans, app=None):
    return Collected(received_at=NOW, app=app, spans=spans)


def a_message(place, value):
    position = Position(topic="http", partition=0, offset=place)
    return Message(value=value, position=position, received_at=NOW, size=len(value))


EVENT = b'{"id": "1", "question": "q", "answer": "a", "retrieved_documents": []}'


def test_spans_are_kept_also_when_they_are_repeated(intake):
    assert intake.spans(a_request(a_span(1), a_span(2))) == 0
    assert intake.spans(a_request(a_span(2), a_span(1))) == 0
    assert intake.spans(replace(a_request(), spans=())) == 0


def test_spans_beyond_the_limits_of_their_trace_are_counted(intake):
    assert intake.spans(a_request(*map(a_span, range(1, 4)))) == 0
    assert intake.spans(a_request(a_span(4), a_span(5), a_span(1, trace="b" * 32))) == 2
    assert intake.spans(a_request(a_span(1))) == 0, "what was kept before counts as kept"


def test_unreadable_events_come_back_with_their_problem_and_the_others_are_kept(intake):
    unreadable = a_message(1, b'{"id": "2", "question": 7, "answer": "a", "retrieved_documents": []}')
    (letter,) = intake.events([a_message(0, EVENT), unreadable, a_message(2, EVENT)], app="support-bot")
    assert letter.message.position.offset == 1
    assert (letter.path, letter.problem) == ("question", "must be a string, got a number")


def test_no_events_are_no_trouble(intake):
    assert not intake.events([])
