from __future__ import annotations

import dataclasses
import json
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from monitor.core.errors import InvalidMessage, WrongSettings
from monitor.core.figures.prices import ModelPrice, Price, PriceTable
from monitor.core.message import DeadLetter
from monitor.core.model import Interaction, Mark
from monitor.core.settings.sections import IngestSettings
from monitor.ingest.decode import Decoder, TopicDecoder
from monitor.ingest.dialects import DIALECTS
from tests.factories.events import RECEIVED, a_message, decode, native, raw, refusal
from tests.unit.ingest.test_parse import JSON_VALUES


def test_a_message_over_the_limit_is_refused_whether_it_was_cut_or_not():
    value = raw(native())
    limit = len(value) - 1
    assert refusal(value, max_message_bytes=limit) == ("$", f"is {limit + 1} bytes long; the limit is {limit}")
    with pytest.raises(InvalidMessage, match=r"is 9,000,000 bytes long"):
        Decoder().decode(a_message(value, size=9_000_000))
    assert decode(value, max_message_bytes=len(value)).id == "i-1"


def test_a_message_that_was_cut_below_the_limit_is_refused():
    with pytest.raises(InvalidMessage, match=r"was cut: only 2 of its 9 bytes arrived"):
        Decoder().decode(a_message(b"{}", size=9))


def test_the_settings_have_the_decoder_s_limits_and_dialects():
    ingest = IngestSettings()
    Decoder(
        dialect=ingest.dialect,
        app=ingest.app,
        environment=ingest.environment,
        max_message_bytes=ingest.max_message_bytes,
        max_text_chars=ingest.max_text_chars,
        max_documents=ingest.max_documents,
    )
    for dialect in DIALECTS:
        IngestSettings(dialect=dialect.name)


@pytest.mark.parametrize(
    ("fields", "cost"),
    [
        ({"model": "kestrel-mini-3", "usage": {"input": 1_000, "output": 500}}, 0.006),
        ({"model": "kestrel-mini-3", "usage": {"input": 1_000}}, None),
        ({"model": "other", "usage": {"input": 1_000, "output": 500}}, None),
        ({"usage": {"input": 1_000, "output": 500}}, None),
    ],
)
def test_an_interaction_gets_its_cost_by_the_prices(fields, cost):
    prices = PriceTable(currency="USD", models=(ModelPrice(model="kestrel-mini*", price=Price(input=2.0, output=8.0)),))
    decoder = TopicDecoder(Decoder(), {}, prices=prices)
    (read,) = decoder.decode_batch([a_message(raw(native(**fields)))]).interactions
    assert read.cost == (None if cost is None else pytest.approx(cost))


def test_an_unknown_dialect_is_a_wrong_setting():
    with pytest.raises(WrongSettings, match="unknown dialect 'avro'; known are auto, cloudevents, native, ragas"):
        Decoder(dialect="avro")


@pytest.mark.parametrize(
    ("event", "path"),
    [
        ({}, "$"),
        ({"hello": "world"}, "$"),
        (native(answer=...), "answer"),
        (native(question=...), "question"),
        ({"user_input": "When?"}, "retrieved_contexts"),
        ({"specversion": "1.0"}, "data"),
    ],
)
def test_the_nearest_dialect_says_what_is_missing(event, path):
    assert refusal(event)[0] == path


def test_an_event_of_no_dialect_is_told_what_there_is():
    _, problem = refusal({})
    assert "native: answer, question" in problem
    assert "ragas: user_input" in problem


def test_native_fields_win_over_a_stray_ragas_field():
    assert decode(native(user_input="something else")).question == "When?"


def test_a_configured_dialect_is_not_guessed():
    assert refusal(native(), dialect="ragas") == ("user_input", "is missing")
    assert refusal(native(), dialect="cloudevents") == ("specversion", "is missing")
    ce = (("ce_specversion", b"1.0"), ("ce_id", b"e-9"))
    assert refusal(native(id=...), dialect="native", headers=ce) == ("id", "is missing")


def test_defaults_come_from_the_settings():
    interaction = decode(native(), app="shop", environment="staging")
    assert (interaction.app, interaction.environment) == ("shop", "staging")


def test_a_missing_time_is_that_of_receipt_in_utc_and_marked():
    local = RECEIVED.astimezone(timezone(timedelta(hours=2)))
    interaction = Decoder().decode(a_message(raw(native()), received_at=local))
    assert interaction.occurred_at == RECEIVED
    assert interaction.occurred_at.utcoffset() == timedelta(0)
    assert interaction.marks == {Mark.TIME_DEFAULTED}


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2027-01-01T00:00:00Z", 0])
def test_times_far_from_receipt_are_kept_and_marked(time):
    interaction = decode(native(occurred_at=time))
    assert interaction.marks == {Mark.TIME_OUT_OF_RANGE}


def test_a_time_that_leaves_the_calendar_in_utc_is_refused():
    assert refusal(native(occurred_at="0001-01-01T00:00+14:00"))[0] == "occurred_at"
    assert refusal(native(occurred_at=[2026]))[0] == "occurred_at"


def test_a_batch_is_parted_and_keeps_its_order():
    messages = [
        a_message(raw(native(id="a"))),
        a_message(b"{"),
        a_message(raw(native(id="b"))),
        a_message(raw(native(answer=None))),
    ]
    interactions, dead, _ = Decoder().decode_batch(messages)
    assert [interaction.id for interaction in interactions] == ["a", "b"]
    assert dead == [
        DeadLetter(
            message=messages[1],
            path="$",
            problem="is not JSON: Expecting property name enclosed in double quotes at character 1",
        ),
        DeadLetter(message=messages[3], path="answer", problem="must be a string, got null"),
    ]


def test_nesting_just_within_the_stack_is_no_other_error():
    for depth in range(300, 1100, 25):
        deep = b"[" * depth + rb'"\u0000"' + b"]" * depth
        for field in (b"ignored", b"tags", b"usage", b"id", b"retrieved_documents", b"occurred_at"):
            event = raw(native(**{field.decode(): ...}))[:-1] + b', "%s": %s}' % (field, deep)
            either_or_invalid(event)


FIELDS = [
    *(f.name for f in dataclasses.fields(Interaction)),
    *("user_input", "response", "retrieved_contexts", "retrieved_context_ids", "reference"),
    *("specversion", "data", "data_base64", "source", "time", "traceparent", "text", "document_id", "start", "end"),
]
ANY_FIELDS = st.dictionaries(st.sampled_from(FIELDS), JSON_VALUES | st.floats())
NESTED_FIELDS = st.recursive(
    ANY_FIELDS | JSON_VALUES | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(FIELDS), inner, max_size=4),
    max_leaves=12,
)
HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["ce_specversion", "ce-specversion", "ce_id", "ce_time", "ce_traceparent", "content-type"]),
        st.binary(max_size=20) | st.sampled_from([b"1.0", b"2026-05-04T12:00:00Z", b"application/cloudevents+json"]),
    ),
    max_size=4,
).map(tuple)


def either_or_invalid(value, headers=(), dialect="auto"):
    """Decodes, and checks that all text of what came out can be stored. Any other exception is a failure."""
    interactions, dead, collected = Decoder(dialect=dialect).decode_batch([a_message(value, headers=headers)])
    for letter in dead:
        (letter.path + letter.problem).encode()
        assert "\x00" not in letter.path + letter.problem
        assert len(letter.path) < 600
        assert len(letter.problem) < 300
        return None
    if collected:
        return None
    (interaction,) = interactions
    text = json.dumps(dataclasses.asdict(interaction), default=str, ensure_ascii=False, allow_nan=False)
    text.encode()
    assert "\\u0000" not in text
    assert interaction.id
    assert interaction.app
    assert interaction.environment
    assert interaction.occurred_at.utcoffset() == timedelta(0)
    return interaction


@given(st.binary(), HEADERS)
def test_any_bytes_give_an_interaction_or_invalid_message(value, headers):
    either_or_invalid(value, headers)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(NESTED_FIELDS, HEADERS, st.sampled_from(["auto", "native", "cloudevents", "ragas"]))
def test_any_json_gives_an_interaction_or_invalid_message(value, headers, dialect):
    either_or_invalid(json.dumps(value).encode(), headers, dialect)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(NESTED_FIELDS, st.sampled_from(FIELDS), st.sampled_from(["native", "ragas", "cloudevents"]))
@example(float("inf"), "latency_ms", "native")
@example(10**400, "latency_ms", "native")
@example(10**400, "occurred_at", "native")
@example("x" * 5000, "id", "cloudevents")
def test_any_value_in_any_field_gives_an_interaction_or_invalid_message(value, field, dialect):
    event = {
        "native": native(**{field: value}),
        "ragas": {"user_input": "q", "response": "a", "retrieved_contexts": [], field: value},
        "cloudevents": {"specversion": "1.0", "id": "e", "source": "/s", "data": native(), field: value},
    }[dialect]
    either_or_invalid(json.dumps(event).encode())


@given(st.text(st.characters(), min_size=1, max_size=20), st.text(st.characters(), max_size=20))
@example("\x00", "\ud800")
def test_text_from_everywhere_in_an_event_can_be_stored(one, other):
    event = native(
        id=one,
        app=one,
        question=other,
        tags={one: other},
        retrieved_documents=[{"id": one, "text": other, "metadata": {one: [other, {other: one}]}}],
        supporting_documents=[one, {"text": other, "document_id": one}],
    )
    interaction = either_or_invalid(raw(event))
    assert interaction is not None
    unstorable = any(c == "\x00" or "\ud800" <= c <= "\udfff" for c in json.loads(raw([one, other]))[0] + other)
    assert (Mark.TEXT_REPLACED in interaction.marks) == unstorable
    assert len(interaction.id) == len(json.loads(raw(one)))


def test_a_time_of_receipt_without_a_mark_when_the_event_has_one():
    interaction = decode(native(occurred_at="2026-05-04T09:29:00Z"))
    assert interaction.marks == frozenset()
    assert interaction.occurred_at == datetime.fromisoformat("2026-05-04T09:29:00Z")
