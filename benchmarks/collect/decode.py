"""Prints how many spans a second one core decodes and assembles to turns.

Run: `python benchmarks/collect/decode.py [FOLDER]`. Without a folder of recorded requests (`*.pb`), traces of a chain
with a retriever and a model call are made up.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from monitor.core.trace import Span
from monitor.ingest.traces.otlp import read_protobuf
from monitor.ingest.traces.trace import Trace
from monitor.ingest.traces.turn import Turn
from monitor.ingest.traces.turns import turns

MADE_UP = 2_000  # traces of three spans
ROUNDS = 5
TEXT = "The ferry leaves at nine on weekdays and at ten on Sundays. " * 8


def made_up() -> list[bytes]:
    """Requests of 100 traces each."""
    documents = [{"id": f"d-{n}", "text": TEXT, "score": 1 / (n + 1)} for n in range(5)]
    steps = (
        {"openinference.span.kind": "CHAIN", "input.value": "When does it leave?", "output.value": TEXT},
        {"openinference.span.kind": "RETRIEVER", "output.value": json.dumps(documents)},
        {"openinference.span.kind": "LLM", "llm.output_messages.0.message.content": TEXT},
    )
    bodies = []
    for begin in range(0, MADE_UP, 100):
        request = ExportTraceServiceRequest()
        scoped = request.resource_spans.add().scope_spans.add()
        for number in range(begin, begin + 100):
            for place, attributes in enumerate(steps, start=1):
                span = scoped.spans.add(
                    trace_id=(number + 1).to_bytes(16, "big"),
                    span_id=place.to_bytes(8, "big"),
                    parent_span_id=b"" if place == 1 else (1).to_bytes(8, "big"),
                    start_time_unix_nano=10**18 + number * 10**9 + place,
                    end_time_unix_nano=10**18 + number * 10**9 + 10**8,
                )
                for name, value in attributes.items():
                    span.attributes.add(key=name).value.string_value = value
        bodies.append(request.SerializeToString())
    return bodies


def main() -> None:
    """Prints the best of a few rounds."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else None
    bodies = made_up() if folder is None else [path.read_bytes() for path in sorted(folder.glob("*.pb"))]
    best = {"decode": float("inf"), "assemble": float("inf")}
    spans: list[Span] = []
    found = 0
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        spans = [span for body in bodies for span in read_protobuf(body).spans]
        decoded = time.perf_counter()
        by_trace: dict[str, list[Span]] = {}
        for span in spans:
            by_trace.setdefault(span.trace_id, []).append(span)
        found = sum(isinstance(one, Turn) for one in turns([Trace(parts) for parts in by_trace.values()]))
        best["decode"] = min(best["decode"], decoded - begin)
        best["assemble"] = min(best["assemble"], time.perf_counter() - decoded)
    print(f"{len(spans):,} spans, {found:,} turns")
    for what, seconds in best.items():
        print(f"{what}: {len(spans) / seconds:,.0f} spans/s")


if __name__ == "__main__":
    main()
