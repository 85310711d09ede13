"""Personal data is removed from spans before they are kept; JSON stays JSON, and traces stay whole."""

from __future__ import annotations

import json

import pytest

from monitor.core.text.personal_data import PersonalData
from monitor.privacy.redaction.redactor import redactor
from monitor.privacy.redaction.traces import TraceRedactor
from tests.rig.ingest.spans import log, span
from tests.rig.store.traces import collected

MAIL, CARD = "jane@example.com", 4111111111111111


def redacted(**attributes):
    [found] = (
        TraceRedactor(redactor([PersonalData.E_MAIL, PersonalData.CARD]))
        .collected(collected(span(1, name=f"to {MAIL}", **attributes)))
        .spans
    )
    return found


def test_ids_and_times_stay():
    before = span(1, name=f"to {MAIL}", session__id=MAIL, user__id=MAIL)
    after = redacted(session__id=MAIL, user__id=MAIL)
    assert (after.trace_id, after.span_id, after.started, after.ended) == (
        before.trace_id,
        before.span_id,
        before.started,
        before.ended,
    )
    assert after.name == "to [e-mail]"
    assert after.attributes == {"session.id": MAIL, "user.id": "[e-mail]"}


@pytest.mark.parametrize("levels", [0, 1, 3])
def test_json_within_strings_stays_json(levels):
    value = {"to": MAIL, "card": CARD, MAIL: [1.5, None, True]}
    for _ in range(levels):
        value = {"inner": json.dumps(value)}
    after = json.loads(redacted(value=json.dumps(value)).attributes["value"])
    for _ in range(levels):
        after = json.loads(after["inner"])
    assert after == {"to": "[e-mail]", "card": "[card]", "[e-mail]": [1.5, None, True]}


@pytest.mark.parametrize("text", ['{"to": "jane@example.com", "cut', "[" * 5_000 + MAIL])
def test_what_only_looks_like_json_is_a_text(text):
    after = redacted(value=text).attributes["value"]
    assert MAIL not in after
    assert after.startswith(text[:5])


def test_numbers_lists_and_log_records_are_looked_at_too():
    assert redacted(paid_with=CARD, many=[MAIL, 2]).attributes == {"paid_with": "[card]", "many": ["[e-mail]", 2]}
    given = collected()
    given = type(given)(received_at=given.received_at, logs=(log(1, "said", {"text": MAIL}),))
    [after] = TraceRedactor(redactor([PersonalData.E_MAIL])).collected(given).logs
    assert after.body == {"text": "[e-mail]"}


def test_an_event_keeps_its_id():
    event = json.dumps({"data": {"id": str(CARD)}, "id": str(CARD), "answer": f"{MAIL} {CARD}"}).encode()
    [after] = (
        TraceRedactor(redactor([PersonalData.E_MAIL, PersonalData.CARD])).collected(collected(events=[event])).events
    )
    assert json.loads(after) == {"data": {"id": str(CARD)}, "id": str(CARD), "answer": "[e-mail] [card]"}
