"""Messages and documents whose fields stand in attributes of their own, as `llm.input_messages.0.message.content`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from monitor.core.model import Json
from monitor.core.trace import Span
from monitor.ingest.traces.conventions.documents import documents_of
from monitor.ingest.traces.conventions.messages import ChatMessage, messages_of, text_of
from monitor.ingest.traces.conventions.values import first_text, understood
from monitor.ingest.traces.turn import TurnDocument

# what stands before the number of an item, and after it
_INPUTS = (("llm.input_messages.", "message."), ("gen_ai.prompt.", ""), ("llm.prompts.", ""))
_OUTPUTS = (("llm.output_messages.", "message."), ("gen_ai.completion.", ""), ("llm.completions.", ""))
_DOCUMENTS = (("retrieval.documents.", "document."), ("reranker.output_documents.", "document."))
_NUMBERED = re.compile(r"(\d{1,6})\.(.+)")


def indexed_inputs(span: Span) -> list[ChatMessage]:
    """The messages that a model was given."""
    # a limit on the number of attributes drops the first ones, so roles may be missing
    return _messages(span, _INPUTS, "" if span.dropped_attributes else "user")


def indexed_outputs(span: Span) -> list[ChatMessage]:
    """The messages that a model replied."""
    return _messages(span, _OUTPUTS, "assistant")


def indexed_documents(span: Span) -> Iterator[TurnDocument]:
    """The documents that a retriever or reranker gave back."""
    for prefix, within in _DOCUMENTS:
        for fields in _items(span, prefix, within):
            content, metadata = fields.get("content"), understood(fields.get("metadata"))
            read = documents_of(
                {
                    "content": content if isinstance(content, str) else "",
                    "id": fields.get("id"),
                    "score": fields.get("score"),
                    "metadata": metadata if isinstance(metadata, dict) else {"": ""},
                }
            )
            if read or fields.get("id") is not None:
                yield from read or [TurnDocument(id=first_text(fields.get("id")), text=None)]


def _messages(span: Span, places: tuple[tuple[str, str], ...], role: str) -> list[ChatMessage]:
    """The messages under the first prefix that the span has; `role` is that of messages without one."""
    listed = next((items for prefix, within in places if (items := _items(span, prefix, within))), [])
    return [message for fields in listed for message in _message(fields, role)]


def _items(span: Span, prefix: str, within: str) -> list[dict[str, Json]]:
    """The fields of each item, in the order of their numbers."""
    found: dict[int, dict[str, Json]] = {}
    for name, value in span.attributes.items():
        if name.startswith(prefix) and (match := _NUMBERED.fullmatch(name, len(prefix))):
            found.setdefault(int(match[1]), {})[match[2].removeprefix(within)] = value
    return [found[number] for number in sorted(found)]


def _message(fields: Mapping[str, Json], role: str) -> list[ChatMessage]:
    given = "tool" if "tool_call_id" in fields else first_text(fields.get("role")) or role
    if not given:
        return []
    content = fields.get("content")
    if content is None:
        texts = [value for name, value in fields.items() if name.endswith(".text")]
        content = "\n".join(text for text in texts if isinstance(text, str))
    calls = any(name.startswith(("tool_calls.", "function_call")) for name in fields)
    if isinstance(content, str) and given != "tool":
        content = _parts(content)
    found = messages_of({"role": given, "content": content, "tool_calls": calls, "name": fields.get("name")})
    return found or [ChatMessage(role or "user", text_of(content), calls)]


def _parts(text: str) -> Json:
    """The parts of a message that are written as JSON; other JSON is what was said."""
    read = understood(text)
    if isinstance(read, list) and read and all(isinstance(p, dict) and "type" in p for p in read):
        return read
    return text
