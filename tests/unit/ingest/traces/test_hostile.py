"""Traces that nobody's package writes: they cost no more than n log n, and give the same turn for every order."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.trace import Span, SpanEvent
from monitor.ingest.parse import parse_object
from monitor.ingest.traces.assembly import retrieved
from monitor.ingest.traces.assembly import steps as assembly_steps
from monitor.ingest.traces.assembly.steps import Steps
from monitor.ingest.traces.conventions import documents as conventions
from monitor.ingest.traces.conventions.documents import documents_of
from monitor.ingest.traces.conventions.messages import messages_of
from monitor.ingest.traces.conventions.values import MAX_VALUES, understood, walk
from monitor.ingest.traces.event import native_event
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import Turn
from monitor.ingest.traces.turns import turns
from tests.rig.ingest.spans import read, span

KINDS = ("CHAIN", "LLM", "RETRIEVER", "TOOL", "RERANKER", "EMBEDDING", "AGENT")


def answering(number: int, **fields: object) -> Span:
    return span(
        number, openinference__span__kind="LLM", llm__output_messages__0__message__content="Yes.",
        llm__input_messages__0__message__content="Is it?", **fields,
    )  # fmt: skip


def test_cycles_of_parents_are_cut_where_the_first_span_started() -> None:
    spans = [span(1, parent=3, at=1), span(2, parent=1, at=2), span(3, parent=2, at=3), answering(4, parent=2, at=4)]
    trace = Trace(spans)
    assert trace.parent_of[spans[0].span_id] is None
    assert sorted(trace.depth_of.values()) == [0, 1, 2, 2]
    assert read(*spans).answer == "Yes."
    alone = replace(answering(7), parent_id=f"{7:016x}")
    assert Trace([alone]).parent_of == {alone.span_id: None}


def test_of_spans_that_share_an_id_one_counts_in_every_order() -> None:
    long, short = answering(1, lasts=3), replace(answering(1, lasts=1), name="other")
    twin = replace(long, attributes={**long.attributes, "more": 1})
    for spans in ([long, short, twin], [twin, long, short], [short, twin, long]):
        assert list(Trace(spans).by_id.values()) == [twin]


def test_a_chain_of_five_thousand_spans_is_walked_without_recursion_and_each_span_once() -> None:
    spans = [answering(n, parent=n - 1 or None, at=n) for n in range(1, 5_001)]
    random.Random(1).shuffle(spans)
    steps = Steps(Trace(spans))
    assert max(steps.trace.depth_of.values()) == 4_999
    assert len(steps.below({f"{1:016x}"})) == 4_999
    assert read(*spans).answer == "Yes."


class Counted(dict[str, str | None]):
    """Parents that count how often they are asked for."""

    asked = 0

    def get(self, key: str, default: str | None = None) -> str | None:  # type: ignore[override]
        Counted.asked += 1
        return super().get(key, default)


def work(number: int) -> int:
    """How many parents are looked up for a chain of calls, each within the one before."""
    spans = [answering(n, parent=n - 1 or None, at=n, llm__token_count__prompt=1) for n in range(1, number + 1)]
    trace = Trace(spans)
    trace.__dict__["parent_of"] = Counted(trace.parent_of)
    Counted.asked = 0
    turns([trace])
    return Counted.asked


def test_twice_the_spans_cost_twice_the_work() -> None:
    assert work(800) <= 2.2 * work(400)


def gone_through(kind: str, number: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """How many documents are merged, completed or compared for a trace with so many steps of one kind."""
    seen = 0

    def counting(name: str) -> Callable[..., Any]:
        own = getattr(conventions, name)

        def counted(first: Iterable[Any], *rest: Any) -> Any:
            nonlocal seen
            first = [list(one) for one in first] if name == "merged" else list(first)
            seen += sum(map(len, first)) if name == "merged" else len(first)
            return own(first, *rest)

        return counted

    def squeezed(text: str) -> str:
        nonlocal seen
        seen += 1
        return conventions.squeezed(text)

    for module in (retrieved, assembly_steps):
        for name in ("merged", "completed"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, counting(name))
        monkeypatch.setattr(module, "squeezed", squeezed)
    pages = json.dumps({"context": [{"id": f"kb-{n}", "text": f"Page {n}."} for n in range(number)]})
    found = [json.dumps([{"id": f"kb-{n}", "text": f"Page {n}."}]) for n in range(number)]
    spans = [
        span(n + 1, openinference__span__kind=kind, output__value=found[n], at=n, dropped=1) for n in range(number)
    ]
    chain = span(number + 1, openinference__span__kind="CHAIN", input__value=pages)
    read(chain, *spans, answering(number + 2, at=number))
    monkeypatch.undo()
    return seen


@pytest.mark.parametrize("kind", ["RERANKER", "RETRIEVER", "TOOL"])
def test_twice_the_steps_with_documents_cost_twice_the_work(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gone_through(kind, 600, monkeypatch) <= 2.2 * gone_through(kind, 300, monkeypatch)


def test_many_traces_with_the_same_answer_are_compared_by_their_times_alone() -> None:
    found = turns([Trace([answering(1, trace_id=f"{n:032x}", at=n)]) for n in range(1, 1_000)])
    assert all(isinstance(one, Turn) for one in found)


@pytest.mark.parametrize("started", [0, 1, 2**63, 2**64 - 1])
def test_times_from_1970_to_2554_are_read(started: int) -> None:
    turn = read(replace(answering(1), started=started, ended=started))
    assert turn.started.year in {1970, 2262, 2554}
    assert json.loads(native_event(turn, app="a"))["latency_ms"] == 0


@pytest.mark.parametrize(("started", "ended"), [(0, 10**18), (0, 0)])
def test_a_trace_of_which_no_span_says_when_it_started_has_no_duration(started: int, ended: int) -> None:
    turn = read(replace(answering(1), started=started, ended=ended))
    assert json.loads(native_event(turn, app="a"))["latency_ms"] == 0


def test_a_span_that_ends_before_it_starts_has_no_negative_duration() -> None:
    turn = read(replace(answering(1), ended=5))
    assert json.loads(native_event(turn, app="a"))["latency_ms"] >= 0


@pytest.mark.parametrize(
    "bomb",
    [
        "[" * 200_000,
        '{"a":' * 100_000 + "1" + "}" * 100_000,
        "[" * 90 + "]" * 90,
        "{'a': " * 5_000 + "1" + "}" * 5_000,
        json.dumps([{"id": str(n), "text": "t"} for n in range(5_000)]),
        "NodeWithScore(" + "id=a " * 50_000 + "score",
        "Document(" + "id=" * 16_000,
        "ChatMessage(role=<R.USER: 'user'>, " + 'text="' * 20_000,
        "[[ ## answer ## ]]" + " " * 100_000,
        "query:" + " " * 100_000,
        "<doc>" * 50_000,
        "Context:\n" * 20_000,
        '"' + "\\u0000" * 1_000 + '"',
        "{'a': '\\ud800'}",
        "nul \x00 and \ufffd",
    ],
)
def test_bombs_in_attributes_end_as_text_or_nothing(bomb: str) -> None:
    places = (
        "input.value",
        "output.value",
        "llm.prompt_template.variables",
        "metadata",
        "retrieval.documents.0.document.content",
    )
    spans = [
        span(1, openinference__span__kind="CHAIN", **dict.fromkeys(places, bomb)),
        span(2, parent=1, openinference__span__kind="RETRIEVER", **dict.fromkeys(places, bomb)),
        span(3, parent=1, openinference__span__kind="TOOL", **dict.fromkeys(places, bomb)),
        answering(4, parent=1, **dict.fromkeys(places, bomb)),
        span(5, parent=1, gen_ai__operation__name="retrieval", gen_ai__retrieval__documents='[{"id":"a"},{"id":"b"}]'),
    ]
    assert isinstance(json.loads(native_event(read(*spans), app="a")), dict)


@pytest.mark.parametrize(
    "odd",
    [
        json.dumps({"type": ["object", "null"], "properties": {"page": 1}}),
        "{'type': ('object', ['null']), 'content': 'Nine.'}",
        "{'role': 'tool', 'content': {'times': [9, ...]}}",
        "{'role': 'tool', 'content': {'raw': b'\\xff'}}",
        "{'role': 'tool', 'content': {'half': '\\ud800'}}",
        '[{"page_content": "Nine.", "metadata": {"page": NaN, "size": Infinity}}]',
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_values_that_json_or_documents_do_not_have_cost_no_trace_its_turn(kind: str, odd: str) -> None:
    turn = read(span(1, openinference__span__kind=kind, input__value=odd, output__value=odd), answering(2, at=9))
    parse_object(native_event(turn, app="a"))


def test_events_of_any_name_cost_no_trace_its_turn() -> None:
    events = [SpanEvent(name=name, at=1) for name in ("", "gen_ai", "gen_ai.", "gen_ai.user", "gen_ai.user.")]
    model = span(1, openinference__span__kind="LLM", input__value="Is it?", output__value="Yes.", events=events)
    assert read(model).answer == "Yes."


def test_literals_of_python_become_what_json_has() -> None:
    assert understood("{'a': (1, [True, None]), 'b': ..., 'c': {1.5}}") == {
        "a": [1, [True, None]],
        "b": "Ellipsis",
        "c": [1.5],
    }
    assert understood("{'a': {1: 2}}") == "{'a': {1: 2}}"


def test_no_more_than_a_bounded_number_of_values_is_looked_through() -> None:
    wide = [0] * (3 * MAX_VALUES)
    assert sum(1 for _ in walk(wide)) == MAX_VALUES
    assert documents_of(wide) is None
    assert messages_of(understood(json.dumps({"messages": wide}))) == []


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["messages", "content", "role", "id", "text", "kwargs", "data", "output"]), inner
        )
    ),
    max_leaves=8,
)
contents = st.text(max_size=40) | json_values.map(json.dumps)


@st.composite
def traces(draw: st.DrawFn) -> list[Span]:
    number = draw(st.integers(1, 8))
    spans = []
    for n in range(1, number + 1):
        parent = draw(st.none() | st.integers(1, number + 2))
        fields = {"input__value": draw(contents), "output__value": draw(contents)}
        if draw(st.booleans()):
            fields["llm__output_messages__0__message__content"] = draw(contents)
        kind = draw(st.sampled_from(KINDS))
        spans.append(
            span(n, parent=parent, at=draw(st.integers(0, 5)), failed=draw(st.booleans()),
                 openinference__span__kind=kind, **fields)
        )  # fmt: skip
    return spans


@given(traces(), st.randoms(use_true_random=False))
def test_any_trace_shuffled_and_repeated_gives_the_same_turn_or_none(
    spans: Sequence[Span], chance: random.Random
) -> None:
    [found] = turns([Trace(spans)])
    mixed = [*spans, *chance.sample(spans, len(spans) // 2)]
    chance.shuffle(mixed)
    assert turns([Trace(mixed)]) == [found]
    if isinstance(found, Turn):
        known = found.question is not None and found.answer is not None and found.documents is not None
        assert known or found.unscored is not None
        json.loads(native_event(found, app="a"))
