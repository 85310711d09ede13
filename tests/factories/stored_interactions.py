"""Interactions as Postgres can store them, drawn by hypothesis."""

from __future__ import annotations

from datetime import UTC, datetime

from hypothesis import strategies as st

from monitor.core.model import (
    Document,
    Mark,
    SupportingDocument,
    TokenUsage,
)

storable = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
names = storable.filter(bool)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | storable,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(storable, inner, max_size=3),
    max_leaves=5,
)
pieces = st.builds(
    SupportingDocument,
    text=storable,
    document_id=st.none() | names,
    start=st.none() | st.integers(0, 9),
    end=st.none() | st.integers(0, 9),
)
stored_interactions = st.fixed_dictionaries(
    {
        "app": names,
        "question": storable,
        "answer": storable,
        "retrieved_documents": st.lists(
            st.builds(
                Document,
                id=names,
                text=storable,
                score=st.none() | st.floats(-10, 10),
                source=st.none() | names,
                metadata=st.dictionaries(storable, json_values, max_size=3),
            ),
            max_size=3,
        ).map(tuple),
        "supporting_documents": st.none() | st.lists(pieces, max_size=2).map(tuple),
        "environment": names,
        "conversation_id": st.none() | names,
        "turn": st.none() | st.integers(0, 2**31 - 1),
        "reference_answer": st.none() | storable,
        "model": st.none() | names,
        "prompt_version": st.none() | names,
        "tags": st.dictionaries(storable, storable, max_size=3),
        "trace_id": st.none() | names,
        "latency_ms": st.none() | st.floats(0, 1e9),
        "usage": st.none() | st.builds(TokenUsage, input=st.none() | st.integers(0, 2**31 - 1), output=st.just(7)),
        "marks": st.frozensets(st.sampled_from(Mark)),
        "occurred_at": st.datetimes(
            datetime(1, 1, 1),
            datetime(9999, 12, 31),
            timezones=st.just(UTC),
        ),
    }
)
