"""What is exported comes in again as it went out."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st

from monitor.core.assessment_json import encode
from monitor.core.model import Document, SupportingDocument, TokenUsage
from monitor.ingest.decode import Decoder
from monitor.review.export import group_of, labelled_json, native_event
from monitor.review.label import consensus
from tests.factories.answers import NOON, a_message, an_interaction
from tests.factories.review.labels import S, an_opinion

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=20)
NAME = TEXT.filter(bool)
OPTIONAL = st.none() | NAME
COUNT = st.integers(0, 2**31 - 1)
FLOAT = st.floats(allow_nan=False, allow_infinity=False)
PIECE = st.builds(SupportingDocument, text=TEXT, document_id=OPTIONAL) | st.builds(
    lambda text, start, length: SupportingDocument(text=text, start=start, end=start + length),
    TEXT,
    st.integers(0, 1000),
    st.integers(0, 1000),
)
INTERACTION = st.builds(
    an_interaction,
    id=NAME,
    app=NAME,
    environment=NAME,
    question=TEXT,
    answer=TEXT,
    conversation_id=OPTIONAL,
    occurred_at=st.timedeltas(timedelta(days=-3000), timedelta()).map(lambda ago: NOON + ago),
    turn=st.none() | COUNT,
    retrieved_documents=st.lists(
        st.builds(
            Document,
            id=NAME,
            text=TEXT,
            score=st.none() | FLOAT,
            source=OPTIONAL,
            metadata=st.dictionaries(TEXT, st.none() | TEXT | st.booleans() | st.integers(-9, 9), max_size=2),
        ),
        max_size=3,
    ).map(tuple),
    supporting_documents=st.none() | st.lists(PIECE, max_size=2).map(tuple),
    reference_answer=st.none() | TEXT,
    model=OPTIONAL,
    prompt_version=OPTIONAL,
    tags=st.dictionaries(TEXT, TEXT, max_size=3),
    trace_id=OPTIONAL,
    latency_ms=st.none() | st.floats(0, 1e9),
    usage=st.none() | st.builds(TokenUsage, input=COUNT, output=st.none() | COUNT),
)


def decoded(event):
    line = encode(event).encode()
    return Decoder(dialect="native").decode(a_message(line, received_at=NOON))


@given(INTERACTION)
def test_the_native_dialect_reads_the_interaction_that_was_exported(interaction):
    read = decoded(labelled_json(interaction, consensus([an_opinion()])[0]))
    assert replace(read, position=None) == interaction


def test_the_label_stands_beside_the_event_with_how_it_came_about():
    said = consensus([an_opinion(label=S, by="bob", number=1), an_opinion(label=S, by="ann", number=2)])[0]
    line = json.loads(encode(labelled_json(an_interaction(), said)))
    assert {name: line[name] for name in ("label", "drawn", "labelled_by", "labelled_at")} == {
        "label": "self_generated",
        "drawn": "random",
        "labelled_by": ["ann", "bob"],
        "labelled_at": "2025-11-21T12:00:00Z",
    }


def test_what_the_event_did_not_say_is_not_said():
    assert set(native_event(an_interaction())) == {
        "id",
        "app",
        "environment",
        "occurred_at",
        "question",
        "retrieved_documents",
        "answer",
    }
    assert native_event(an_interaction(supporting_documents=()))["supporting_documents"] == []


def test_the_same_question_is_the_same_group():
    same = {group_of(text) for text in ("How long?", " how\n LONG? ", "ＨＯＷ long?")}
    assert len(same) == 1
    assert group_of("How short?") not in same
