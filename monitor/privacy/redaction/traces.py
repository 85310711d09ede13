"""Removes personal data from spans and log records before they are kept. Ids stay, so that traces stay whole."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

from monitor.core.model import Json
from monitor.core.trace import Collected, LogRecord, Span
from monitor.privacy.redaction.redactor import Redactor

# `session.id` and `retrieval.documents.0.document.id` are left alone like the ids of any event; a user's is not
_ID = re.compile(r"(?:^|\.)(?<!user\.)id$")
_NAMES = frozenset(
    {"id", "app", "environment", "conversation_id", "trace_id", "model", "prompt_version", "occurred_at"}
)
_MOST_NESTED = 16


class TraceRedactor:
    """Replaces what `redactor` finds. Threads may share it.

    JSON within strings stays JSON: its strings are redacted one by one, and a number in which something is found
    becomes a string. A text that is cut, or nested too deeply, is redacted as a text.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._text = redactor.text
        self._feedback = redactor.feedback

    def collected(self, collected: Collected) -> Collected:
        """The spans, log records and events without personal data."""
        return replace(
            collected,
            spans=tuple(map(self._span, collected.spans)),
            logs=tuple(map(self._log, collected.logs)),
            events=tuple(map(self.event, collected.events)),
            feedback=self._feedback(collected.feedback),
        )

    def event(self, event: bytes) -> bytes:
        """A JSON object without personal data; the ids and names of the event, or of a CloudEvent's data, stay."""
        text = event.decode("utf-8-sig")
        if self._text(text) == text:
            return event
        return json.dumps(self._named(json.loads(text)), ensure_ascii=False).encode()

    def _named(self, fields: dict[str, Json]) -> dict[str, Json]:
        redacted: dict[str, Json] = {}
        for name, value in fields.items():
            if name == "data" and isinstance(value, dict):
                redacted[name] = self._named(value)
            else:
                redacted[name] = value if name in _NAMES else self._value(value, 0)
        return redacted

    def _span(self, span: Span) -> Span:
        return replace(
            span,
            name=self._text(span.name),
            problem=self._text(span.problem),
            attributes=self._attributes(span.attributes),
            events=tuple(
                replace(event, name=self._text(event.name), attributes=self._attributes(event.attributes))
                for event in span.events
            ),
            resource=self._attributes(span.resource),
        )

    def _log(self, record: LogRecord) -> LogRecord:
        return replace(
            record,
            body=self._value(record.body, 0),
            attributes=self._attributes(record.attributes),
            resource=self._attributes(record.resource),
        )

    def _attributes(self, attributes: Mapping[str, Json]) -> dict[str, Json]:
        return {name: value if _ID.search(name) else self._value(value, 0) for name, value in attributes.items()}

    def _value(self, value: Json, depth: int) -> Json:
        if isinstance(value, str):
            return self._string(value, depth)
        if isinstance(value, list):
            return [self._value(item, depth) for item in value]
        if isinstance(value, dict):
            return {self._text(name): self._value(item, depth) for name, item in value.items()}
        if isinstance(value, bool) or value is None:
            return value
        text = str(value)
        redacted = self._text(text)
        return value if redacted == text else redacted

    def _string(self, text: str, depth: int) -> str:
        redacted = self._text(text)
        if redacted == text or depth == _MOST_NESTED or text.lstrip()[:1] not in ("{", "["):
            return redacted
        try:
            inner = json.loads(text)
        except (ValueError, RecursionError):
            return redacted
        within = json.dumps(self._value(inner, depth + 1), ensure_ascii=False)
        # what is only found across the strings goes all the same
        return within if self._text(within) == within else redacted
