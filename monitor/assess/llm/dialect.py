"""Writes requests in the form that a server accepts, and learns which parameters it does not accept."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from monitor.assess.llm.exchange import Request
from monitor.core.assessment_json import storable

ChatMessage: TypeAlias = dict[str, str]


class Structure(StrEnum):
    """The ways to ask for the form of an answer, the strictest first."""

    SCHEMA = "json_schema"  # the server enforces the schema (OpenAI, vLLM, llama.cpp, Ollama)
    OBJECT = "json_object"  # the server enforces JSON, and the prompt holds the schema
    TEXT = "text"  # only the prompt holds the schema


_WEAKER = {Structure.SCHEMA: Structure.OBJECT, Structure.OBJECT: Structure.TEXT}
_STRUCTURE_WORDS = ("response_format", "json_schema", "json_object", "structured output", "guided")


class Dialect:
    """Writes requests. All threads share what it learns."""

    def __init__(self, *, structure: Structure, max_output_tokens: int) -> None:
        self._structure = structure
        self._max_output_tokens = max_output_tokens
        self._limit = "max_tokens"
        self._temperature = True

    def messages(self, request: Request[Any]) -> list[ChatMessage]:
        """The prompt as the system message and the data as the user message, without characters that cannot be sent."""
        data = storable(request.data)
        return [{"role": "system", "content": request.prompt.text}, {"role": "user", "content": data}]

    def body(
        self, model: str, request: Request[Any], messages: Sequence[ChatMessage], *, factor: int = 1
    ) -> dict[str, Any]:
        """The JSON of a chat completion request, with `factor` times the usual room for the answer."""
        body: dict[str, Any] = {
            "model": model,
            "messages": list(messages),
            self._limit: factor * self._max_output_tokens,
        }
        if self._temperature:
            body["temperature"] = 0
        prompt, structure = request.prompt, self._structure
        if structure is Structure.SCHEMA:
            form = {"name": prompt.name.replace(".", "_"), "schema": prompt.schema, "strict": True}
            body["response_format"] = {"type": "json_schema", "json_schema": form}
            return body
        if structure is Structure.OBJECT:
            body["response_format"] = {"type": "json_object"}
        instructions = f"{prompt.text}\nThe form is this JSON Schema:\n{json.dumps(prompt.schema)}"
        body["messages"] = [{"role": "system", "content": instructions}, *messages[1:]]
        return body

    def room(self, body: Mapping[str, Any]) -> int:
        """The tokens that the answer to a request may have."""
        room: int = body.get("max_tokens") or body["max_completion_tokens"]
        return room

    def learned(self, sent: dict[str, Any], refusal: str) -> bool:
        """Whether the refusal of the body `sent` names a parameter that the next body leaves out or writes differently.

        Several threads may learn the same thing at the same time.
        """
        message = refusal.lower()
        if "max_completion_tokens" in message and "max_tokens" in sent:
            self._limit = "max_completion_tokens"
        elif "temperature" in message and "temperature" in sent:
            self._temperature = False
        elif "response_format" in sent and any(word in message for word in _STRUCTURE_WORDS):
            refused = Structure(sent["response_format"]["type"])
            if self._structure is refused:  # otherwise another thread has learned more in the meantime
                self._structure = _WEAKER[refused]
        else:
            return False
        return True
