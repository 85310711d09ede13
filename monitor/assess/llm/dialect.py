"""How requests are written for a server, and what was learned of the parameters that it does not take."""

from __future__ import annotations

import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, TypeAlias

from monitor.assess.llm.exchange import Request
from monitor.core.assessment_json import storable

ChatMessage: TypeAlias = dict[str, str]


class Structure(StrEnum):
    """How the form of an answer is asked for, the strictest first."""

    SCHEMA = "json_schema"  # the server sees to it (OpenAI, vLLM, llama.cpp, Ollama)
    OBJECT = "json_object"  # the server sees to it that it is JSON, the prompt says what kind
    TEXT = "text"  # the prompt alone says it


_WEAKER = {Structure.SCHEMA: Structure.OBJECT, Structure.OBJECT: Structure.TEXT}
_STRUCTURE_WORDS = ("response_format", "json_schema", "json_object", "structured output", "guided")


class Dialect:
    """Writes requests. What it learns is the same for every thread, and learned at most once each."""

    def __init__(self, *, structure: Structure, max_output_tokens: int) -> None:
        self._structure = structure
        self._max_output_tokens = max_output_tokens
        self._limit = "max_tokens"
        self._temperature = True

    def messages(self, request: Request[Any]) -> list[ChatMessage]:
        """The prompt as instructions, the data as the user's message, in characters that can be sent."""
        data = storable(request.data)
        return [{"role": "system", "content": request.prompt.text}, {"role": "user", "content": data}]

    def body(
        self, model: str, request: Request[Any], messages: Sequence[ChatMessage], *, factor: int = 1
    ) -> dict[str, Any]:
        """The JSON of a chat completion request; `factor` times the usual room for the answer."""
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
        told = f"{prompt.text}\nThe form is this JSON Schema:\n{json.dumps(prompt.schema)}"
        body["messages"] = [{"role": "system", "content": told}, *messages[1:]]
        return body

    def learned(self, sent: dict[str, Any], refusal: str) -> bool:
        """Whether the refusal of that body names a parameter that can be left out or written otherwise.

        The next body does so; several threads may learn the same at a time.
        """
        said = refusal.lower()
        if "max_completion_tokens" in said and "max_tokens" in sent:
            self._limit = "max_completion_tokens"
        elif "temperature" in said and "temperature" in sent:
            self._temperature = False
        elif "response_format" in sent and any(word in said for word in _STRUCTURE_WORDS):
            refused = Structure(sent["response_format"]["type"])
            if self._structure is refused:  # else another thread has gone further meanwhile
                self._structure = _WEAKER[refused]
        else:
            return False
        return True
