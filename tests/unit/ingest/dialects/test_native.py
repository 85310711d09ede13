from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.errors import InvalidMessage
from monitor.core.message import Position
from monitor.core.model import Document, Interaction, Mark, SupportingDocument, TokenUsage, Unscored
from tests.factories.events import decode, native, raw, refusal

FULL = {
    "id": "3f1c2d7e",
    "app": "support-bot",
    "environment": "staging",
    "occurred_at": "2026-05-04T11:12:33.512+02:00",
    "conversation_id": "c-88",
    "turn": 3,
    "question": "How do I change my address?",
    "retrieved_documents": [
        "Addresses are under Settings.",
        {
            "id": "kb-2",
            "text": "Ask us.",
            "score": 0.83,
            "source": "https://kb/2",
            "metadata": {"page": [1, {"a": None}]},
        },
        {"id": 7, "text": "", "score": None},
    ],
    "answer": "Under Settings.",
    "supporting_documents": [
        "Addresses",
        {"text": "Ask us.", "document_id": "kb-2", "start": 0, "end": 7},
        {"text": "", "document_id": 7},
    ],
    "reference_answer": "In the settings.",
    "model": "gpt-x-mini",
    "prompt_version": 12,
    "tags": {"topic": "billing", "beta": True, "shard": 4, "ratio": 0.5, "none": None},
    "trace_id": "4bf92f3577b34da6a3ce929d0e0e4736",
    "span_id": "00f067aa0ba902b7",
    "latency_ms": 812,
    "usage": {"input": 1234, "output": 87},
    "label": "grounded",
}


def test_every_field_arrives():
    assert decode(FULL) == Interaction(
        id="3f1c2d7e",
        app="support-bot",
        environment="staging",
        occurred_at=datetime(2026, 5, 4, 9, 12, 33, 512_000, tzinfo=UTC),
        conversation_id="c-88",
        turn=3,
        question="How do I change my address?",
        retrieved_documents=(
            Document(
                id="sha256:" + hashlib.sha256(b"Addresses are under Settings.").hexdigest()[:16],
                text="Addresses are under Settings.",
            ),
            Document(id="kb-2", text="Ask us.", score=0.83, source="https://kb/2", metadata={"page": [1, {"a": None}]}),
            Document(id="7", text=""),
        ),
        answer="Under Settings.",
        supporting_documents=(
            SupportingDocument(text="Addresses"),
            SupportingDocument(text="Ask us.", document_id="kb-2", start=0, end=7),
            SupportingDocument(text="", document_id="7"),
        ),
        reference_answer="In the settings.",
        model="gpt-x-mini",
        prompt_version="12",
        tags={"topic": "billing", "beta": "true", "shard": "4", "ratio": "0.5"},
        trace_id="4bf92f3577b34da6a3ce929d0e0e4736",
        span_id="00f067aa0ba902b7",
        latency_ms=812.0,
        usage=TokenUsage(input=1234, output=87),
        position=Position(topic="answers", partition=0, offset=7),
    )


def test_the_smallest_event():
    interaction = decode(native(id=17, retrieved_documents=[], question="", answer=""))
    assert interaction.id == "17"
    assert interaction.retrieved_documents == ()
    assert interaction.supporting_documents is None
    assert (interaction.app, interaction.environment, interaction.tags) == ("default", "production", {})
    assert interaction.usage is None


def test_not_asked_for_support_differs_from_none_said():
    assert decode(native(supporting_documents=None)).supporting_documents is None
    assert decode(native(supporting_documents=[])).supporting_documents == ()


NULLABLE = set(FULL) - {"id", "question", "answer", "retrieved_documents"}


def test_null_means_absent_where_a_field_is_optional():
    assert decode(native(**dict.fromkeys(NULLABLE))) == decode(native())
    document = {"text": "x", "id": None, "score": None, "source": None, "metadata": None}
    assert decode(native(retrieved_documents=[document])) == decode(native(retrieved_documents=["x"]))


def test_an_empty_name_means_absent():
    names = ("app", "environment", "conversation_id", "model", "prompt_version", "trace_id")
    assert decode(native(**dict.fromkeys(names, ""))) == decode(native())
    assert decode(native(retrieved_documents=[{"text": "x", "id": "", "source": ""}])) == decode(
        native(retrieved_documents=["x"])
    )


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7}, TokenUsage(input=3, output=4)),
        ({"input_tokens": 3, "output_tokens": 4}, TokenUsage(input=3, output=4)),
        ({"input": 0, "input_tokens": 9}, TokenUsage(input=0)),
        ({"output": None, "completion_tokens": 2}, TokenUsage(output=2)),
        ({}, None),
    ],
)
def test_usage_under_the_names_of_client_libraries(usage, expected):
    assert decode(native(usage=usage)).usage == expected


LONG = "x" * 5000


@pytest.mark.parametrize(
    ("fields", "path", "problem"),
    [
        ({"id": ...}, "id", "is missing"),
        ({"id": None}, "id", "is missing"),
        ({"id": ""}, "id", "must not be empty"),
        ({"id": 1.5}, "id", "must be a string or a whole number, got a number"),
        ({"id": True}, "id", "must be a string or a whole number, got a boolean"),
        ({"id": LONG}, "id", "has 5,000 characters; the limit is 512"),
        ({"id": 10**600}, "id", "has 601 characters; the limit is 512"),
        ({"app": 1}, "app", "must be a string, got a number"),
        ({"app": LONG}, "app", "has 5,000 characters; the limit is 128"),
        ({"environment": LONG}, "environment", "has 5,000 characters; the limit is 128"),
        ({"conversation_id": {}}, "conversation_id", "must be a string or a whole number, got an object"),
        ({"conversation_id": LONG}, "conversation_id", "has 5,000 characters; the limit is 512"),
        ({"turn": -1}, "turn", "must be at least 0, got -1"),
        ({"turn": 1.5}, "turn", "must be a whole number, got a number"),
        ({"turn": True}, "turn", "must be a whole number, got a boolean"),
        ({"turn": "1"}, "turn", "must be a whole number, got a string"),
        ({"turn": 2**31}, "turn", "must be at most 2,147,483,647, got 2147483648"),
        ({"question": None}, "question", "must be a string, got null"),
        ({"answer": ["x"]}, "answer", "must be a string, got a list"),
        ({"retrieved_documents": ...}, "retrieved_documents", "is missing"),
        ({"retrieved_documents": None}, "retrieved_documents", "must be a list, got null"),
        ({"retrieved_documents": "x"}, "retrieved_documents", "must be a list, got a string"),
        ({"retrieved_documents": {"text": "x"}}, "retrieved_documents", "must be a list, got an object"),
        (
            {"retrieved_documents": ["x", 1]},
            "retrieved_documents[1]",
            "must be a string or an object, got a number",
        ),
        ({"retrieved_documents": ["x", "y", {}]}, "retrieved_documents[2].text", "is missing"),
        ({"retrieved_documents": [{"text": 1}]}, "retrieved_documents[0].text", "must be a string, got a number"),
        (
            {"retrieved_documents": [{"text": "", "id": [1]}]},
            "retrieved_documents[0].id",
            "must be a string or a whole number, got a list",
        ),
        (
            {"retrieved_documents": [{"text": "", "id": LONG}]},
            "retrieved_documents[0].id",
            "has 5,000 characters; the limit is 2,048",
        ),
        (
            {"retrieved_documents": [{"text": "", "score": "1"}]},
            "retrieved_documents[0].score",
            "must be a number, got a string",
        ),
        (
            {"retrieved_documents": [{"text": "", "metadata": [1]}]},
            "retrieved_documents[0].metadata",
            "must be an object, got a list",
        ),
        ({"supporting_documents": "x"}, "supporting_documents", "must be a list, got a string"),
        (
            {"supporting_documents": [None]},
            "supporting_documents[0]",
            "must be a string or an object, got null",
        ),
        (
            {"supporting_documents": [{"text": "", "start": -1, "end": 2}]},
            "supporting_documents[0].start",
            "must be at least 0, got -1",
        ),
        (
            {"supporting_documents": [{"text": "", "start": 1}]},
            "supporting_documents[0].end",
            "is missing: start and end come together",
        ),
        (
            {"supporting_documents": [{"text": "", "end": 1}]},
            "supporting_documents[0].start",
            "is missing: start and end come together",
        ),
        (
            {"supporting_documents": ["", {"text": "", "start": 2, "end": 1}]},
            "supporting_documents[1].end",
            "must be at least start, 2; got 1",
        ),
        ({"reference_answer": 1}, "reference_answer", "must be a string, got a number"),
        ({"model": LONG}, "model", "has 5,000 characters; the limit is 256"),
        ({"trace_id": LONG}, "trace_id", "has 5,000 characters; the limit is 2,048"),
        ({"trace_id": "é" * 1_025}, "trace_id", "has 2,050 bytes in UTF-8; the limit is 2,048"),
        ({"latency_ms": -0.5}, "latency_ms", "must be at least 0, got -0.5"),
        ({"latency_ms": "12"}, "latency_ms", "must be a number, got a string"),
        ({"latency_ms": 10**400}, "latency_ms", "is beyond what a double holds"),
        ({"usage": 3}, "usage", "must be an object, got a number"),
        ({"usage": {"completion_tokens": -1}}, "usage.completion_tokens", "must be at least 0, got -1"),
        ({"tags": ["a"]}, "tags", "must be an object, got a list"),
        ({"tags": {"a b": {}}}, 'tags["a b"]', "must be a string, number or boolean, got an object"),
        ({"tags": {"a": LONG}}, "tags.a", "has 5,000 characters; the limit is 1,024"),
        ({"tags": {str(i): i for i in range(65)}}, "tags", "has 65 items; the limit is 64"),
        ({"occurred_at": "soon"}, "occurred_at", 'must be an RFC 3339 time as 2026-05-04T09:12:33Z, got "soon"'),
    ],
)
def test_what_does_not_fit_is_refused_with_its_path(fields, path, problem):
    assert refusal(native(**fields)) == (path, problem)


def test_a_tag_with_an_over_long_name_is_refused():
    path, problem = refusal(native(tags={"x" * 10_000: "1"}))
    assert path.startswith('tags["xxx')
    assert len(path) < 100
    assert problem == "is a name of over 128 characters"


@pytest.mark.parametrize("literal", ["1e999", "-1e999", "NaN", "Infinity"])
@pytest.mark.parametrize(
    ("before", "path"),
    [
        (b'"latency_ms": ', "latency_ms"),
        (b'"tags": {"a": ', "tags.a"),
        (b'"usage": {"input": ', "usage.input"),
        (b'"retrieved_documents": [{"text": "", "score": ', "retrieved_documents[0].score"),
        (b'"retrieved_documents": [{"text": "", "metadata": {"v": [0, ', "retrieved_documents[0].metadata.v[1]"),
    ],
)
def test_numbers_that_are_not_finite_are_refused(before, path, literal):
    closing = {"{": "}", "[": "]"}
    after = "".join(closing[chr(c)] for c in reversed(before) if chr(c) in closing)
    event = raw(native(retrieved_documents=...))[:-1] + b", " + before + literal.encode() + after.encode() + b"}"
    assert refusal(event)[0] == path


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"question": "x" * 11}, "question"),
        ({"answer": "x" * 11}, "answer"),
        ({"reference_answer": "x" * 11}, "reference_answer"),
        ({"retrieved_documents": ["x", "x" * 11]}, "retrieved_documents[1]"),
        ({"retrieved_documents": ["x", {"text": "x" * 11}]}, "retrieved_documents[1].text"),
        ({"supporting_documents": ["x" * 11]}, "supporting_documents[0]"),
        ({"supporting_documents": [{"text": "x" * 11}]}, "supporting_documents[0].text"),
    ],
)
def test_over_long_texts_are_refused(fields, path):
    event = native(answer="", retrieved_documents=[]) | fields
    assert refusal(event, max_text_chars=10) == (path, "has 11 characters; the limit is 10")
    assert decode(event, max_text_chars=11)


@pytest.mark.parametrize("field", ["retrieved_documents", "supporting_documents"])
def test_too_many_documents_are_refused(field):
    assert refusal(native(**{field: [""] * 4}), max_documents=3) == (field, "has 4 items; the limit is 3")
    assert len(getattr(decode(native(**{field: [""] * 3}), max_documents=3), field)) == 3


def test_metadata_that_nests_too_deeply_is_refused():
    def nested(levels):
        value = {}
        for _ in range(levels - 1):
            value = {"a": value}
        return native(retrieved_documents=["", {"text": "", "metadata": value}])

    assert decode(nested(32))
    assert refusal(nested(33)) == (
        "retrieved_documents[1].metadata",
        "is nested too deeply; the limit is 32 levels",
    )


def test_what_cannot_be_stored_is_replaced_everywhere_and_marked():
    bad = "a\x00\ud800b"
    good = "a\ufffd\ufffdb"
    interaction = decode(
        native(
            id=bad,
            app=bad,
            environment=bad,
            conversation_id=bad,
            question=bad,
            answer=bad,
            model=bad,
            trace_id=bad,
            reference_answer=bad,
            tags={bad: bad},
            retrieved_documents=[bad, {"id": bad, "text": bad, "source": bad, "metadata": {bad: [bad]}}],
            supporting_documents=[bad, {"text": bad, "document_id": bad, "start": 0, "end": 4}],
        )
    )
    assert Mark.TEXT_REPLACED in interaction.marks
    assert (interaction.id, interaction.app, interaction.tags) == (good, good, {good: good})
    assert interaction.retrieved_documents[1] == Document(id=good, text=good, source=good, metadata={good: [good]})
    assert interaction.supporting_documents is not None
    assert interaction.supporting_documents[1].text == good
    assert bad not in repr(interaction)


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), min_size=1, max_size=30)
TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=50)
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
JSON = st.recursive(st.none() | st.booleans() | st.integers() | FLOATS | TEXTS, lambda x: st.lists(x, max_size=3))


def optional(**fields):
    return st.fixed_dictionaries({}, optional=fields)


DOCUMENTS = st.builds(
    lambda text, rest: {"text": text, **rest},
    TEXTS,
    optional(id=NAMES, score=FLOATS, source=NAMES, metadata=st.dictionaries(NAMES, JSON, max_size=3)),
)
SPANS = st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda p: {"start": min(p), "end": max(p)})
SUPPORT = st.builds(
    lambda text, span, rest: {"text": text, **span, **rest},
    TEXTS,
    SPANS | st.just({}),
    optional(document_id=NAMES),
)
EVENTS = st.builds(
    dict.__or__,
    st.fixed_dictionaries(
        {"id": NAMES, "question": TEXTS, "answer": TEXTS, "retrieved_documents": st.lists(DOCUMENTS, max_size=3)}
    ),
    optional(
        app=NAMES,
        environment=NAMES,
        conversation_id=NAMES,
        turn=st.integers(0, 2**31 - 1),
        supporting_documents=st.none() | st.lists(SUPPORT, max_size=3),
        reference_answer=TEXTS,
        model=NAMES,
        prompt_version=NAMES,
        tags=st.dictionaries(NAMES, TEXTS, max_size=3),
        trace_id=NAMES,
        latency_ms=st.floats(0, 1e9),
        usage=optional(input=st.integers(0, 10**6), output=st.integers(0, 10**6)).filter(bool),
    ),
)


@given(EVENTS, st.booleans())
def test_a_valid_event_decodes_to_the_same_values(event, ascii_only):
    interaction = decode(json.dumps(event, ensure_ascii=ascii_only).encode())
    plain = {"app": "default", "environment": "production", "tags": {}}
    for field in ("conversation_id", "turn", "reference_answer", "model", "prompt_version", "trace_id", "latency_ms"):
        assert getattr(interaction, field) == event.get(field)
    for field in ("id", "question", "answer", "app", "environment", "tags"):
        assert getattr(interaction, field) == event.get(field, plain.get(field))
    for document, given_document in zip(interaction.retrieved_documents, event["retrieved_documents"], strict=True):
        expected = {"id": document.id, "score": None, "source": None, "metadata": {}} | given_document
        assert {name: getattr(document, name) for name in expected} == expected
    support = event.get("supporting_documents")
    assert (interaction.supporting_documents is None) == (support is None)
    for piece, given_piece in zip(interaction.supporting_documents or (), support or (), strict=True):
        expected = {"document_id": None, "start": None, "end": None} | given_piece
        assert {name: getattr(piece, name) for name in expected} == expected
    assert interaction.usage == (TokenUsage(**event["usage"]) if "usage" in event else None)
    assert interaction.marks == {Mark.TIME_DEFAULTED}


@pytest.mark.parametrize("reason", [reason for reason in Unscored if reason.lacking])
def test_a_turn_that_cannot_be_scored_may_lack_its_texts(reason):
    it = decode({"id": "1", "unscored": reason.value, "question": None, "answer": None, "retrieved_documents": None})
    assert (it.unscored, it.question, it.answer, it.retrieved_documents) == (reason, "", "", ())
    assert decode({"id": "1", "unscored": reason.value, "question": "why?"}) == replace(it, question="why?")


def test_documents_known_by_id_keep_id_and_score():
    documents = [{"id": "d-1", "text": None, "score": 0.5}, {"id": 7}, {"id": "d-3", "text": "known"}, "text alone"]
    event = {"id": "1", "question": "q", "answer": "a", "retrieved_documents": documents}
    it = decode({**event, "unscored": "no_document_text"})
    assert [(d.id, d.text, d.score) for d in it.retrieved_documents][:3] == [
        ("d-1", "", 0.5),
        ("7", "", None),
        ("d-3", "known", None),
    ]
    with pytest.raises(InvalidMessage, match="text"):
        decode(event)


@pytest.mark.parametrize("wrong", ["nothing", "probe", "", 7, True, ["call_failed"], {"reason": "call_failed"}])
def test_an_unknown_reason_is_named_with_the_known_ones(wrong):
    with pytest.raises(InvalidMessage, match=r"unscored: must be one of call_failed, .*no_document_text; got"):
        decode({"id": "1", "unscored": wrong, "question": "q", "answer": "a", "retrieved_documents": []})


def test_without_a_reason_texts_are_required():
    with pytest.raises(InvalidMessage, match="question"):
        decode({"id": "1", "unscored": None, "question": None, "answer": "a", "retrieved_documents": []})


@pytest.mark.parametrize("field", ["revises", "Revises", "revised_at"])
def test_a_producer_cannot_revise_what_is_stored(field):
    it = decode({"id": "1", "question": "q", "answer": "a", "retrieved_documents": [], field: True})
    assert not it.revises
