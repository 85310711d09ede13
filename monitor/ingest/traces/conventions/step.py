"""A span as a step of a turn: what it was given and gave back, whichever attributes, events or logs hold it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from monitor.core.model import Json
from monitor.core.trace import LogRecord, Span
from monitor.ingest.traces.conventions.documents import completed, documents_of, merged
from monitor.ingest.traces.conventions.facts import usage_of
from monitor.ingest.traces.conventions.indexed import indexed_documents, indexed_inputs, indexed_outputs
from monitor.ingest.traces.conventions.kinds import Kind
from monitor.ingest.traces.conventions.messages import ChatMessage, messages_of, text_of
from monitor.ingest.traces.conventions.values import first_text, is_cut, is_redacted, rescued, understood, walk
from monitor.ingest.traces.turn import TurnDocument

_INPUTS = (
    "input.value", "langfuse.observation.input", "mlflow.spanInputs", "haystack.component.input",
    "haystack.pipeline.input_data", "haystack.agent.input", "haystack.agent.step.llm.input",
    "haystack.agent.step.tool.input", "traceloop.entity.input", "gen_ai.tool.call.arguments",
    "tool_arguments", "ai.prompt", "ai.toolCall.args", "gen_ai.retrieval.query.text", "gen_ai.retrieval.query",
    "db.vector.query.content", "gen_ai.prompt", "langfuse.trace.input", "gen_ai.task.input", "input",
)  # fmt: skip
_OUTPUTS = (
    "output.value", "langfuse.observation.output", "mlflow.spanOutputs", "haystack.component.output",
    "haystack.pipeline.output_data", "haystack.agent.output", "haystack.agent.step.llm.output",
    "haystack.agent.step.tool.output", "traceloop.entity.output",
    "gen_ai.retrieval.documents", "gen_ai.tool.call.result", "tool_response", "gcp.vertex.agent.tool_response",
    "ai.response.text", "ai.toolCall.result", "ai.response.object", "db.vector.query.response.documents",
    "gen_ai.completion", "langfuse.trace.output", "final_result", "gen_ai.task.output", "output",
)  # fmt: skip
_IN_MESSAGES = (
    "gen_ai.input.messages", "ai.prompt.messages", "gen_ai.prompt", "gcp.vertex.agent.llm_request",
    "pydantic_ai.all_messages",
)  # fmt: skip
_OUT_MESSAGES = ("gen_ai.output.messages", "gen_ai.completion", "gcp.vertex.agent.llm_response")
_MODEL_NAMES = (
    "gen_ai.response.model", "llm.model_name", "langfuse.observation.model.name", "mlflow.llm.model",
    "ai.response.model", "langsmith.metadata.ls_model_name", "gen_ai.request.model", "ai.model.id",
    "langfuse.observation.model", "llm.request.model",
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """A span, read. Everything is read when it is first asked for, and once."""

    span: Span
    kind: Kind
    logs: Sequence[LogRecord] = ()

    @cached_property
    def input(self) -> Json:
        """What the step was given, as it is written; None if that was not captured."""
        return self._first(_INPUTS)

    @cached_property
    def output(self) -> Json:
        return self._first(_OUTPUTS)

    @cached_property
    def input_messages(self) -> Sequence[ChatMessage]:
        """The messages that a model was given, in order."""
        found = indexed_inputs(self.span) or self._messages(_IN_MESSAGES) or self._event_messages("in")
        if any(m.role == "tool" and not m.text for m in found):  # listed without what the tool gave back
            whole = messages_of(understood(self.input))
            found = whole if [m.role for m in whole] == [m.role for m in found] else found
        if not found and self.input is not None:
            given = understood(self.input)
            prompt = given.get("prompt") if isinstance(given, dict) else given
            found = messages_of(given) or (messages_of(prompt, "user") if isinstance(prompt, str) else [])
        system = self.span.attributes.get("gen_ai.system_instructions")
        if system is not None and not any(m.role == "system" for m in found):
            text = text_of(understood(system))
            found = [ChatMessage("system", text), *found] if text else found
        return found

    @cached_property
    def prompt_is_cut(self) -> bool:
        """Whether a limit on the length of attributes cut the messages that a model was given."""
        given = [self.span.attributes.get(name) for name in _IN_MESSAGES]
        return any(is_cut(value) for value in (*given, self.input))

    @cached_property
    def output_messages(self) -> Sequence[ChatMessage]:
        """What a model replied: messages of the assistant."""
        found = indexed_outputs(self.span) or self._messages(_OUT_MESSAGES, "assistant") or self._event_messages("out")
        if not found and self.output is not None:
            found = messages_of(rescued(self.output), "assistant")
            found = found[-1:] if found and found[-1].role == "assistant" else []
        if self.span.attributes.get("ai.response.toolCalls"):
            found = [*found, ChatMessage("assistant", "", calls=True)]
        return [m for m in found if m.role == "assistant"]

    @cached_property
    def calls_tools(self) -> bool:
        """Whether the model asked for tools, by its reply or by the reason for which it finished."""
        reasons = [self.span.attributes.get(n) for n in ("gen_ai.response.finish_reasons", "llm.finish_reason")]
        asked = any(message.calls for message in self.output_messages)
        return asked or any("tool_call" in str(r) or "tool_use" in str(r) for r in reasons)

    @cached_property
    def is_empty(self) -> bool:
        """Whether a model's span shows nothing of a call: no message, no tokens, no model, no failure.

        Haystack's own tracer shows nothing else either where content is not traced; its components are the calls.
        """
        if "haystack.component.type" in self.span.attributes or self.span.name.startswith("haystack.agent.step"):
            return False
        speaks = self.input_messages or self.output_messages or self.output is not None
        return not (speaks or self.model or usage_of(self.span) or self.failed)

    @cached_property
    def is_completion(self) -> bool:
        """Whether the step gave back the reply of a model as its provider sent it, so that it must have called one."""
        if not isinstance(self.output, str) or '"choices"' not in self.output:
            return False
        given = understood(self.output)
        raw = given.get("raw") if isinstance(given, dict) and ("text" in given or "message" in given) else None
        return isinstance(raw, dict) and isinstance(raw.get("choices"), list)

    @cached_property
    def text(self) -> str | None:
        """The text that a model replied; None where it is unknown, redacted or empty."""
        texts = [m.text for m in self.output_messages if m.text.strip() and not is_redacted(m.text)]
        return texts[-1] if texts else None

    @cached_property
    def documents(self) -> Sequence[TurnDocument] | None:
        """The documents that a retriever or reranker gave back; None where they are unknown."""
        listed = list(indexed_documents(self.span))
        output = None if is_redacted(self.output) else documents_of(self.output, bare=True)
        named = documents_of(self.span.attributes.get("gen_ai.retrieval.documents"), bare=True)
        events = list(self._found_by_database())
        if listed or named:
            return completed(listed or named or [], output or [])
        return events or output

    @cached_property
    def loses_documents(self) -> bool:
        """Whether a limit on attributes took documents: on their number, or on the length of the output."""
        listed = any(name.startswith("retrieval.documents.") for name in self.span.attributes)
        return bool(self.span.dropped_attributes) or (not listed and is_cut(self.output))

    @cached_property
    def redacts(self) -> tuple[bool, bool]:
        """Whether the step's input, and whether its output, says that it was redacted."""
        shown_in = is_redacted(self.input) or any(is_redacted(m.text) for m in self.input_messages if m.role == "user")
        shown_out = is_redacted(self.output) or any(is_redacted(m.text) for m in self.output_messages)
        return shown_in, shown_out

    @cached_property
    def model(self) -> str | None:
        a = self.span.attributes
        named = [a.get(name) for name in _MODEL_NAMES]
        if self.kind is Kind.MODEL and not any(named):
            told = [self.output, a.get("llm.invocation_parameters")]
            named = [v for one in told for key, v in walk(understood(one)) if key in {"model", "model_name"}]
            asked = understood(self.input)
            named += [asked.get("model")] if isinstance(asked, dict) else []
        return first_text(*[n.strip('"') for n in named if isinstance(n, str) and n != "unknown"])

    @cached_property
    def failed(self) -> bool:
        """Whether the step failed, by its status or what its package says instead."""
        a = self.span.attributes
        return self.span.failed or a.get("langfuse.observation.level") == "ERROR" or bool(a.get("error.type"))

    @cached_property
    def hides_documents(self) -> bool:
        """Whether the text of a document was redacted."""
        return any(
            is_redacted(value) and name.startswith(("retrieval.documents.", "reranker."))
            for name, value in self.span.attributes.items()
        )

    def _first(self, names: Sequence[str]) -> Json:
        a = self.span.attributes
        return next((a[name] for name in names if a.get(name) is not None), None)

    def _messages(self, names: Sequence[str], role: str = "") -> list[ChatMessage]:
        for source in (self.span.attributes, *(log.attributes for log in self.logs), *self._event_attributes()):
            for name in names:
                if (value := source.get(name)) is not None and (found := messages_of(understood(value), role)):
                    return found
        return []

    def _event_attributes(self) -> Iterator[Mapping[str, Json]]:
        return (event.attributes for event in self.span.events)

    def _event_messages(self, way: str) -> list[ChatMessage]:
        """Messages that events or log records of the span hold, one each: `gen_ai.user.message`, `gen_ai.choice`."""
        found = []
        records = [(log.name, log.body, log.attributes) for log in self.logs]
        records += [(event.name, None, event.attributes) for event in self.span.events]
        listed = understood(self.span.attributes.get("events"))
        for one in listed if isinstance(listed, list) else ():
            if isinstance(one, dict):
                records.append((str(one.get("event.name", "")), one, {}))
        for name, body, attributes in records:
            package, _, rest = name.partition(".")
            if package != "gen_ai" or (rest == "choice") is (way == "in"):
                continue
            role = "assistant" if way == "out" else rest.split(".")[0]
            if role in {"user", "system", "assistant", "tool"}:
                found += _event_message(role, body, attributes)
        return found

    def _found_by_database(self) -> Iterator[TurnDocument]:
        for event in self.span.events:
            if event.name == "db.query.result":
                a = {name.removeprefix("db.query.result."): value for name, value in event.attributes.items()}
                yield from merged([documents_of({**a, "metadata": understood(a.get("metadata"))}) or []])


def _event_message(role: str, body: Json, attributes: Mapping[str, Json]) -> list[ChatMessage]:
    """The message of one event; its fields stand in its body, or in its attributes."""
    fields: Mapping[str, Json] = dict(attributes)
    if body is not None:
        fields = body if isinstance(body, dict) else {"content": body}
    if "gen_ai.event.content" in attributes:
        inner = understood(attributes["gen_ai.event.content"])
        fields = inner if isinstance(inner, dict) else {"content": inner}
    if isinstance(inner := understood(fields.get("message")), dict):
        fields = inner
    elif isinstance(inner, str | list):
        fields = {**fields, "content": inner}
    return messages_of({**fields, "content": understood(fields.get("content")), "role": fields.get("role") or role})
