"""Scripted receivers of verdicts: a collector, Phoenix and Langfuse, each strict about what its API documents.

A receiver keeps what it takes under the key by which the real one tells repetitions.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, NamedTuple

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tests.servers.webhook import Answer, HttpServer, Request, http_server

LOGIN = "Basic cGstdGVzdDpzay10ZXN0"  # pk-test:sk-test


class Taken(NamedTuple):
    """An evaluation that a receiver holds; trace and span are those that it is attached to."""

    interaction: str
    name: str
    value: float | str | None
    label: str | None
    trace_id: str | None
    span_id: str | None


@dataclass
class Receiver:
    """What a scripted receiver holds. `refused`: interactions of which it takes nothing; `unknown`: not yet."""

    server: HttpServer = field(init=False)
    taken: dict[str, Taken] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    unknown: set[str] = field(default_factory=set)  # spans
    problems: list[str] = field(default_factory=list)

    def verdicts(self) -> dict[str, str | float | None]:
        """The verdict by interaction."""
        return {t.interaction: t.label or t.value for t in self.taken.values() if t.name == "monitor.verdict"}


class Otlp(Receiver):
    def answer(self, request: Request) -> Answer:
        assert request.path == "/v1/logs"
        assert request.headers["content-type"] == "application/x-protobuf"
        assert request.headers["x-team"] == "rag ops"
        found = {}
        for resource in ExportLogsServiceRequest.FromString(request.body).resource_logs:
            for scope in resource.scope_logs:
                for record in scope.log_records:
                    assert record.event_name == "gen_ai.evaluation.result"
                    assert record.time_unix_nano > 0
                    a = {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in record.attributes}
                    assert len(record.trace_id) in {0, 16}
                    assert len(record.span_id) in {0, 8}
                    found[a["log.record.uid"]] = Taken(
                        a["monitor.interaction.id"],
                        a["gen_ai.evaluation.name"],
                        a.get("gen_ai.evaluation.score.value"),
                        a.get("gen_ai.evaluation.score.label"),
                        record.trace_id.hex() or None,
                        record.span_id.hex() or None,
                    )
        if self.refused & {one.interaction for one in found.values()}:
            return Answer(status=400, body="malformed record")
        self.taken |= found
        return Answer(body=ExportLogsServiceResponse().SerializeToString())


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Result(_Strict):
    label: str | None = None
    score: float | None = None
    explanation: str | None = None


class _Annotation(_Strict):
    name: str
    annotator_kind: Literal["LLM", "CODE", "HUMAN"]
    result: _Result
    metadata: dict[str, Any]
    identifier: str
    span_id: str | None = Field(None, pattern="^[0-9a-f]{16}$")
    trace_id: str | None = Field(None, pattern="^[0-9a-f]{32}$")


class _Annotations(_Strict):
    data: list[_Annotation]


class Phoenix(Receiver):
    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != "Bearer px-test":
            return Answer(status=401)
        if request.path.startswith("/v1/projects"):
            return Answer(body='{"data": []}')
        path, _, query = request.path.partition("?")
        assert (path, query) in {("/v1/span_annotations", "sync=true"), ("/v1/trace_annotations", "sync=true")}
        try:
            sent = _Annotations.model_validate_json(request.body).data
        except ValidationError as error:
            self.problems.append(str(error))
            return Answer(status=422, body=str(error))
        assert all((one.span_id is not None) == path.endswith("span_annotations") for one in sent)
        if self.refused & {one.metadata["interaction"] for one in sent}:
            return Answer(status=422, body="not an annotation")
        if missing := self.unknown & {one.span_id for one in sent}:
            return Answer(status=404, body=f"Spans with IDs {', '.join(sorted(missing))} do not exist.")
        for one in sent:
            key = f"{one.span_id or one.trace_id}/{one.name}/{one.identifier}"
            its = (one.metadata["interaction"], one.name, one.result.score, one.result.label)
            self.taken[key] = Taken(*its, one.trace_id, one.span_id)
        return Answer(body=json.dumps({"data": [{"id": "x"} for _ in sent]}))


class _Score(_Strict):
    id: str
    traceId: Annotated[str, Field(min_length=1)]  # noqa: N815  Langfuse's names
    observationId: str | None = None  # noqa: N815
    name: str
    value: float | str
    dataType: Literal["NUMERIC", "CATEGORICAL"]  # noqa: N815
    comment: str | None = None
    metadata: dict[str, Any] | None = None


class _Event(_Strict):
    id: str
    type: Literal["score-create"]
    timestamp: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")]
    body: _Score


class Langfuse(Receiver):
    def answer(self, request: Request) -> Answer:
        if request.headers.get("authorization") != LOGIN:
            return Answer(status=401)
        if request.path == "/api/public/projects":
            return Answer(body='{"data": [{"id": "p"}]}')
        assert request.path == "/api/public/ingestion"
        assert len(request.body) < 3_500_000
        successes, errors = [], []
        for raw in request.json["batch"]:
            problem = self._take(raw)
            if problem is None:
                successes.append({"id": raw["id"], "status": 201})
            else:
                errors.append({"id": raw["id"], "status": 400, "message": "Invalid request data", "error": problem})
        return Answer(status=207, body=json.dumps({"successes": successes, "errors": errors}))

    def _take(self, raw: Mapping[str, Any]) -> str | None:
        try:
            score = _Event.model_validate(raw).body
        except ValidationError as error:
            self.problems.append(str(error))
            return str(error)
        its = score.metadata["interaction"]
        if its in self.refused:
            return "not a score"
        label = score.value if score.dataType == "CATEGORICAL" else None
        self.taken[score.id] = Taken(its, score.name, score.value, label, score.traceId, score.observationId)
        return None


@contextmanager
def receiving(receiver: Receiver) -> Iterator[Receiver]:
    """Runs the receiver's server for the block."""
    with http_server(receiver.answer) as server:
        receiver.server = server
        yield receiver
