"""Whatever stands in an export, it is read or refused with a path; what is read can be stored."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.ingest.decode import Decoder
from monitor.ingest.mapping import EventMap
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turns import turns
from tests.factories.events import a_message, raw

FIELDS = {
    "langfuse": "id traceId trace timestamp observations data parentObservationId startTime type input output model "
    "usageDetails level sessionId name modelParameters",
    "langsmith": "id trace_id parent_run_id dotted_order run_type inputs outputs child_runs runs extra metadata error "
    "start_time usage_metadata prompt_tokens name",
    "phoenix": "id context trace_id span_id context.trace_id context.span_id attributes attributes.input.value data "
    "span_kind parent_id events timestamp start_time status_code name llm retrieval documents",
    "ragas": "user_input content type role reference",
    "map": "question answer retrieved_documents supporting_documents tags usage turn latency_ms text id score metadata",
}
VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-(10**20), 10**20)
    | st.text(max_size=8)
    | st.sampled_from(
        ["a" * 32, "b" * 16, "2026-05-04T09:00:00Z", '{"id": [1]}', "['a']", "human", "ai", "tool", "LLM"]
    )
)


def events(names):
    fields = st.sampled_from(names.split())
    return st.recursive(
        st.dictionaries(fields, VALUES, max_size=6),
        lambda inner: st.dictionaries(fields, inner | VALUES | st.lists(inner, max_size=3), max_size=6),
        max_leaves=12,
    )


@pytest.mark.parametrize("dialect", FIELDS)
def test_it_is_read_or_refused(dialect):
    settings = {"event_map": EventMap({"question": "question"})} if dialect == "map" else {"dialect": dialect}
    decoder = Decoder(**settings)

    @given(events(FIELDS[dialect]))
    def read_or_refused(event):
        _, dead, collected = decoder.decode_batch([a_message(raw(event))])
        assert all(len(letter.path) < 600 and len(letter.problem) < 300 for letter in dead)
        for read in collected:
            for span in read.spans:
                assert (len(span.trace_id), len(span.span_id)) == (32, 16)
                json.dumps(dict(span.attributes), allow_nan=False)
            turns([Trace([span]) for span in read.spans])
            assert not Decoder().decode_batch(map(a_message, read.events)).dead_letters

    read_or_refused()
