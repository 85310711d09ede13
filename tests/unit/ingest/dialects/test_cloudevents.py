from __future__ import annotations

import base64
from datetime import UTC, datetime

import pytest

from monitor.core.model import Mark
from tests.factories.events import decode, native, raw, refusal

TIME = datetime(2026, 5, 4, 9, 12, 33, tzinfo=UTC)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
TRACEPARENT = f"00-{TRACE}-00f067aa0ba902b7-01"
RAGAS = {"user_input": "When?", "retrieved_contexts": ["At nine."], "response": "Nine."}


def structured(**fields):
    event = {
        "specversion": "1.0",
        "type": "com.example.answer",
        "source": "/bots/support",
        "id": "e-1",
        "time": "2026-05-04T09:12:33Z",
        "datacontenttype": "application/json",
        "data": native(id=...),
    }
    return {name: value for name, value in (event | fields).items() if value is not ...}


def binary(prefix="ce_", **attributes):
    named = {"specversion": "1.0", "type": "t", "source": "/bots/support", "id": "e-1", "time": "2026-05-04T09:12:33Z"}
    headers = [(prefix + name, value.encode()) for name, value in (named | attributes).items() if value is not ...]
    return (*headers, ("content-type", b"application/json"))


BOTH_MODES = pytest.mark.parametrize(
    ("event", "headers"),
    [
        (structured(), ()),
        (structured(), (("content-type", b"Application/CloudEvents+json; charset=UTF-8"),)),
        (structured(), binary(id="other")),  # a structured event may repeat its attributes as headers
        (structured(data=..., data_base64=base64.b64encode(raw(native(id=...))).decode()), ()),
        (native(id=...), binary()),
        (native(id=...), binary("ce-")),
        (native(id=...), binary("CE-")),
        (native(id=...), (("ce_id", b"an earlier one"), *binary())),
    ],
)


@BOTH_MODES
def test_the_envelope_fills_what_the_event_lacks(event, headers):
    interaction = decode(event, headers=headers)
    assert interaction.id == "e-1"
    assert interaction.occurred_at == TIME
    assert interaction.tags == {"ce_source": "/bots/support"}
    assert interaction.app == "default"
    assert interaction.marks == frozenset()
    assert interaction.answer == "At nine."


def test_the_event_s_own_fields_win():
    own = native(
        id="own", app="shop", occurred_at="2026-05-01T00:00:00Z", trace_id="t", tags={"ce_source": "s", "a": "b"}
    )
    for interaction in (
        decode(structured(data=own, traceparent=TRACEPARENT)),
        decode(own, headers=binary(traceparent=TRACEPARENT)),
    ):
        assert (interaction.id, interaction.app, interaction.trace_id) == ("own", "shop", "t")
        assert interaction.occurred_at == datetime(2026, 5, 1, tzinfo=UTC)
        assert interaction.tags == {"ce_source": "s", "a": "b"}


@pytest.mark.parametrize(
    ("traceparent", "trace_id"),
    [
        (TRACEPARENT, TRACE),
        (TRACEPARENT.replace("00-", "01-", 1) + "-more", TRACE),
        ("00-" + "0" * 32 + "-00f067aa0ba902b7-01", None),
        ("nonsense", None),
        ("", None),
    ],
)
def test_the_trace_comes_from_traceparent_and_a_bad_one_is_ignored(traceparent, trace_id):
    assert decode(structured(traceparent=traceparent)).trace_id == trace_id
    assert decode(native(), headers=binary(traceparent=traceparent)).trace_id == trace_id


def test_what_an_interaction_does_not_need_may_be_missing():
    interaction = decode(structured(type=..., source=None, id=..., time=None, data=native(id="own")))
    assert (interaction.id, interaction.tags) == ("own", {})
    assert interaction.marks == {Mark.TIME_DEFAULTED}


def test_a_ragas_sample_may_be_the_data():
    for interaction in (decode(structured(data=RAGAS)), decode(RAGAS, headers=binary())):
        assert (interaction.id, interaction.question, interaction.occurred_at) == ("e-1", "When?", TIME)
        assert interaction.tags == {"ce_source": "/bots/support"}
    assert decode(structured(id=..., data=RAGAS)).id.startswith("sha256:")


@pytest.mark.parametrize("version", ["1", "1.0", "1.1", "1.0.2"])
def test_versions_of_the_first_generation_are_read(version):
    assert decode(structured(specversion=version)).id == "e-1"


@pytest.mark.parametrize(
    ("fields", "path", "problem"),
    [
        ({"specversion": "0.3"}, "specversion", 'must be 1.x, got "0.3"'),
        ({"specversion": "10.0"}, "specversion", 'must be 1.x, got "10.0"'),
        ({"specversion": 1.0}, "specversion", "must be a string, got a number"),
        ({"specversion": None}, "specversion", "must be a string, got null"),
        ({"id": {}}, "id", "must be a string or a whole number, got an object"),
        ({"id": "x" * 600}, "id", "has 600 characters; the limit is 512"),
        ({"id": ...}, "data.id", "is missing"),
        ({"source": 1}, "source", "must be a string, got a number"),
        ({"source": "/" * 2000}, "source", "has 2,000 characters; the limit is 1,024"),
        ({"time": "noon"}, "time", 'must be an RFC 3339 time as 2026-05-04T09:12:33Z, got "noon"'),
        ({"data": ...}, "data", "is missing"),
        ({"data": None}, "data", "is missing"),
        ({"data": "{}"}, "data", "must be an object, got a string"),
        ({"data": [native()]}, "data", "must be an object, got a list"),
        ({"data": native(answer=...)}, "data.answer", "is missing"),
        ({"data": native(retrieved_documents=["", {}])}, "data.retrieved_documents[1].text", "is missing"),
        ({"data": {"user_input": []}}, "data.user_input", None),
        ({"data": {"hello": 1}}, "data", None),
        ({"data": structured()}, "data", None),  # no envelope within an envelope
        ({"data_base64": "e30="}, "data_base64", "stands beside data: an event has one of them"),
        ({"data": ..., "data_base64": {}}, "data_base64", "must be a string, got an object"),
        ({"data": ..., "data_base64": "%%%"}, "data_base64", "is not base64"),
        ({"data": ..., "data_base64": "é"}, "data_base64", "is not base64"),
        ({"data": ..., "data_base64": "W10="}, "data_base64", "must be a JSON object, got a list"),
        ({"data": ..., "data_base64": "/w=="}, "data_base64", "is not UTF-8: bad byte at offset 0"),
        ({"data": ..., "data_base64": "eyJhIjogTmFOfQ=="}, "data_base64.a", "must be a finite number: NaN is not JSON"),
    ],
)
def test_a_wrong_structured_event_is_refused_with_its_path(fields, path, problem):
    found = refusal(structured(**fields))
    assert found[0] == path
    assert problem in {found[1], None}


@pytest.mark.parametrize(
    ("event", "headers", "path"),
    [
        (native(), binary(specversion="2.0"), "ce_specversion"),
        (native(), binary("ce-", specversion="2.0"), "ce-specversion"),
        (native(), binary(time="noon"), "ce_time"),
        (native(), (*binary(), ("ce_id", b"\xff")), "ce_id"),
        (native(), (("ce_specversion", b""),), "ce_specversion"),
        (native(answer=None), binary(), "data.answer"),
        (native(id=...), binary(id=...), "data.id"),
        ({"hello": 1}, binary(), "data"),
        (b"", binary(), "$"),
        (b"[]", binary(), "$"),
        (native(), (("content-type", b"application/cloudevents+json"),), "specversion"),
    ],
)
def test_a_wrong_binary_event_is_refused_with_its_path(event, headers, path):
    assert refusal(event, headers=headers)[0] == path


def test_what_cannot_be_stored_is_replaced_and_marked_in_headers_and_encoded_data_too():
    by_header = decode(native(id=...), headers=binary(id="a\x00b"))
    assert by_header.id == "a\ufffdb"
    assert by_header.marks == {Mark.TEXT_REPLACED}
    encoded = base64.b64encode(raw(native(answer="\ud800"))).decode()
    by_data = decode(structured(data=..., data_base64=encoded))
    assert by_data.answer == "\ufffd"
    assert by_data.marks == {Mark.TEXT_REPLACED}
    in_both = decode(structured(id="\x00", data=..., data_base64=encoded))
    assert in_both.marks == {Mark.TEXT_REPLACED}


def test_other_headers_do_not_make_a_cloudevent():
    headers = (("content-type", b"application/json"), ("ce_id", b"e-1"), ("traceparent", b"x"))
    assert refusal(native(id=...), headers=headers) == ("id", "is missing")
