"""OTLP request bodies like those of a chatbot: whole turns, each of seven spans, in batches of one export."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from random import Random

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from benchmarks.traffic import interactions
from monitor.core.model import Interaction

SPANS = 7  # of a turn
EXPORT = 512  # spans, the default of OpenTelemetry's batch processor
_START = 1_790_000_000_000_000_000  # nanoseconds since 1970
_OPENINFERENCE = "openinference.span.kind"


def bodies(turns: int, random: Random) -> Iterator[bytes]:
    """Requests of `EXPORT` spans; every trace is whole within two of them."""
    spans = (span for number, it in enumerate(_repeated(turns)) for span in _turn(it, number, random))
    while batch := list(islice(spans, EXPORT)):
        yield body(batch)


def lone_spans(traces: int, random: Random) -> bytes:
    """A request of as many traces, of one small span each."""
    return body([_span("CHAIN", "step", random.randbytes(16), random, {}) for _ in range(traces)])


def body(spans: list[Span]) -> bytes:
    """A request with these spans, of one process."""
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    resource.resource.attributes.append(_attribute("service.name", "support-bot"))
    resource.scope_spans.add().spans.extend(spans)
    return request.SerializeToString()


def _repeated(turns: int) -> Iterator[Interaction]:
    stock = interactions(min(turns, 1_000))
    return (stock[number % len(stock)] for number in range(turns))


def _turn(it: Interaction, number: int, random: Random) -> list[Span]:
    """A chain as LangChain's instrumentation writes it, children first."""
    trace, at = random.randbytes(16), number * 1_000_000
    texts = [document.text for document in it.retrieved_documents]
    prompt = "Answer from these documents:\n" + "\n\n".join(texts) + f"\n\nQuestion: {it.question}"
    documents = {f"retrieval.documents.{n}.document.content": text for n, text in enumerate(texts)}
    ids = {f"retrieval.documents.{n}.document.id": d.id for n, d in enumerate(it.retrieved_documents)}
    said = {"input.value": it.question, "output.value": it.answer}
    root = _span("CHAIN", "RunnableSequence", trace, random, said, at=at)
    inner = [
        ("RETRIEVER", "VectorStoreRetriever", {"input.value": it.question, **documents, **ids}),
        ("CHAIN", "format_documents", {"output.value": "\n\n".join(texts)}),
        ("CHAIN", "RunnableParallel", {"input.value": it.question}),
        ("CHAIN", "ChatPromptTemplate", {"output.value": prompt}),
        (
            "LLM",
            "ChatOpenAI",
            {
                "llm.model_name": "gpt-4o-mini",
                "llm.input_messages.0.message.role": "user",
                "llm.input_messages.0.message.content": prompt,
                "llm.output_messages.0.message.role": "assistant",
                "llm.output_messages.0.message.content": it.answer,
                "llm.invocation_parameters": json.dumps({"temperature": 0.0}),
            },
        ),
        ("CHAIN", "StrOutputParser", {"output.value": it.answer}),
    ]
    children = [
        _span(kind, name, trace, random, attributes, at=at + 1_000 * (place + 1), parent=root.span_id)
        for place, (kind, name, attributes) in enumerate(inner)
    ]
    return [*children, root]


def _span(
    kind: str,
    name: str,
    trace: bytes,
    random: Random,
    attributes: dict[str, str],
    *,
    at: int = 0,
    parent: bytes = b"",
) -> Span:
    return Span(
        trace_id=trace,
        span_id=random.randbytes(8),
        parent_span_id=parent,
        name=name,
        start_time_unix_nano=_START + at,
        end_time_unix_nano=_START + at + (900_000_000 if not parent else 500_000_000),
        attributes=[_attribute(_OPENINFERENCE, kind), *(_attribute(n, value) for n, value in attributes.items())],
    )


def _attribute(name: str, value: str) -> KeyValue:
    return KeyValue(key=name, value=AnyValue(string_value=value))
