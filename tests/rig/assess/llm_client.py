"""Asks the scripted LLM server through the vendor's client."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from tests.servers.llm import (
    CHAT_MODEL,
)

SYSTEM = {"role": "system", "content": "Answer in JSON."}
USER = {"role": "user", "content": "Is it said?"}


class Verdict(BaseModel):
    model_config = ConfigDict(extra="forbid")

    supported: bool
    reason: str


def ask(client, **over) -> Any:
    return client.chat.completions.create(**{"model": CHAT_MODEL, "messages": [SYSTEM, USER], **over})


def content(answer) -> str:
    return answer.choices[0].message.content


def json_schema(schema, *, name="verdict", strict=True) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}}


JSON_OBJECT = {"type": "json_object"}
JSON_SCHEMA = json_schema(Verdict.model_json_schema())
