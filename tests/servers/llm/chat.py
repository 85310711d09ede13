"""POST /v1/chat/completions: requests, the refusals of OpenAI, and the form of an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import ceil
from time import monotonic, time
from typing import Any

from tests.servers.llm.schemas import not_strict

CHAT_MODEL = "gpt-test"

_ROLES = {"system", "developer", "user", "assistant", "tool"}
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRequest:
    """A chat request as received. `received_at` is on the monotonic clock; `custom_id` is set in a batch."""

    body: dict[str, Any]
    received_at: float = field(default_factory=monotonic)
    custom_id: str | None = None

    @property
    def model(self) -> str:
        return str(self.body["model"])

    @property
    def messages(self) -> list[dict[str, Any]]:
        messages: list[dict[str, Any]] = self.body["messages"]
        return messages

    @property
    def system(self) -> str:
        return self._text_of("system", "developer")

    @property
    def user(self) -> str:
        return self._text_of("user")

    @property
    def text(self) -> str:
        """The text of all messages."""
        return self._text_of(*_ROLES, between="")

    @property
    def response_format(self) -> str | None:
        """`json_schema`, `json_object`, or None for plain text."""
        kind = (self.body.get("response_format") or {}).get("type")
        return None if kind == "text" else kind

    @property
    def schema(self) -> dict[str, Any] | None:
        return self._json_schema.get("schema")

    @property
    def schema_name(self) -> str | None:
        return self._json_schema.get("name")

    @property
    def max_tokens(self) -> int | None:
        return self.body.get("max_completion_tokens", self.body.get("max_tokens"))

    @property
    def prompt_tokens(self) -> int:
        """The tokens billed for the messages and the schema: one for each four characters, rounded up."""
        schema = json.dumps(self.schema, ensure_ascii=False) if self.schema else ""
        return tokens(self.text + schema)

    @property
    def _json_schema(self) -> dict[str, Any]:
        return (self.body.get("response_format") or {}).get("json_schema") or {}

    def _text_of(self, *roles: str, between: str = "\n") -> str:
        return between.join(_text(message) for message in self.messages if message["role"] in roles)


def tokens(text: str) -> int:
    return ceil(len(text) / 4)


def readable(body: Mapping[str, Any]) -> bool:
    """Whether the body names a model and has messages, each with a known role."""
    messages = body.get("messages")
    return (
        isinstance(body.get("model"), str)
        and isinstance(messages, list)
        and bool(messages)
        and all(isinstance(message, dict) and message.get("role") in _ROLES for message in messages)
    )


def completion(request: ChatRequest, message: Mapping[str, Any], finish_reason: str, number: int) -> dict[str, Any]:
    prompt_tokens, completion_tokens = request.prompt_tokens, tokens(message["content"] or message["refusal"] or "")
    return {
        "id": f"chatcmpl-{number}",
        "object": "chat.completion",
        "created": int(time()),
        "model": request.model,
        "choices": [{"index": 0, "message": message, "finish_reason": finish_reason, "logprobs": None}],
        "usage": {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion_tokens,
            "total_tokens": prompt_tokens + completion_tokens,
        },
    }


def format_problem(request: ChatRequest, structured: str) -> str | None:
    """What is wrong with `response_format` for a server that accepts formats up to `structured`."""
    kind = request.response_format
    taken = {"json_schema": {"json_schema", "json_object"}, "json_object": {"json_object"}, "text": set()}[structured]
    if kind is None:
        return None
    if kind not in taken:
        return f"Invalid parameter: 'response_format' of type '{kind}' is not supported with this model."
    if kind == "json_object":
        named = "json" in request.text.lower()
        return None if named else "'messages' must contain the word 'json' in some form, to use 'json_object'."
    if not isinstance(request.schema, dict) or not _NAME.fullmatch(request.schema_name or ""):
        return "Invalid 'response_format.json_schema': it needs a 'schema' and a 'name' of letters, digits, _ and -."
    strict = request.body["response_format"]["json_schema"].get("strict")
    wrong = next(not_strict(request.schema), None) if strict else None
    return f"Invalid schema for response_format '{request.schema_name}': {wrong}" if wrong else None


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
