"""Messages of a chat, in the forms in which packages write them.

Read are those of OpenAI (chat completions and responses), Anthropic, the GenAI conventions (`parts`), LangChain
(serialised, dumped, plain), Haystack, LlamaIndex (also as Python shows them) and Google.
"""

from __future__ import annotations

import re
from ast import literal_eval
from dataclasses import dataclass, replace
from itertools import zip_longest

from pydantic_core import to_json

from monitor.core.model import Json
from monitor.ingest.traces.reading.values import MAX_DEPTH, understood

_ROLES = {
    "system": "system", "developer": "system", "systemmessage": "system", "systemmessagechunk": "system",
    "user": "user", "human": "user", "humanmessage": "user", "humanmessagechunk": "user",
    "assistant": "assistant", "ai": "assistant", "aimessage": "assistant", "aimessagechunk": "assistant",
    "model": "assistant", "chatbot": "assistant", "bot": "assistant",
    "tool": "tool", "function": "tool", "toolmessage": "tool", "functionmessage": "tool", "ipython": "tool",
    "function_call_output": "tool", "tool_result": "tool", "tool-result": "tool",
}  # fmt: skip
_CALLS = frozenset({"tool_call", "tool_use", "function_call", "tool-call", "toolcall", "tool_calls", "functioncall"})
_RESULTS = frozenset({"tool_call_response", "tool_result", "tool-result", "function_call_output", "function_response"})
_THOUGHTS = frozenset({"reasoning", "thinking", "redacted_thinking", "thought"})
_LISTS = ("messages", "replies", "choices", "generations", "output", "input", "candidates", "contents", "prompt")
_SHOWN_ROLE = re.compile(r"role=<\w+\.(\w+): '\w+'>|tool_call_id='")
_SHOWN_TEXT = re.compile(r"\b(?:text|content)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
_SPOKEN = re.compile(r"(assistant|user|system|tool): ?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message: `role` is system, user, assistant or tool; `calls` if it asks for tools; `name` is the tool's."""

    role: str
    text: str
    calls: bool = False
    name: str = ""
    raw: Json = None  # of a tool's result, before it was made text


def messages_of(value: Json, role: str = "", depth: int = 0) -> list[ChatMessage]:
    """The messages that a value holds, in order; none if it is no chat. `role` is that of texts without one."""
    if depth > MAX_DEPTH:
        return []
    if isinstance(value, str):
        return _of_text(value, role, depth)
    if isinstance(value, list):
        found = []
        for item in value:
            found += messages_of(item, role, depth + 1)
        return found
    if not isinstance(value, dict):
        return []
    one = _message(value, depth)
    if one:
        return one
    for name in ("message", "delta", "data", "kwargs", "update", "content"):
        inner = value.get(name)
        if isinstance(inner, dict) and (found := messages_of(inner, role, depth + 1)):
            return found
    for name in _LISTS:
        if isinstance(inner := understood(value.get(name)), list | dict) and (
            found := messages_of(inner, "" if name in {"input", "prompt"} else role, depth + 1)
        ):
            return found
    return []


def last_of(messages: list[ChatMessage], role: str) -> ChatMessage | None:
    return next((m for m in reversed(messages) if m.role == role), None)


def text_of(content: Json, depth: int = 0) -> str:
    """The text of a message's content: a string, or parts of which the texts count."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list) or depth > MAX_DEPTH:
        return ""
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict) and str(part.get("type", "")).lower() not in _THOUGHTS | _CALLS:
            for name in ("text", "content", "response", "output", "message_content"):
                if isinstance(inner := part.get(name), str | list | dict):
                    texts.append(text_of(inner, depth + 1))
                    break
    return "\n".join(text for text in texts if text) if len(texts) > 1 else "".join(texts)


def as_text(value: Json) -> str:
    """A value as a text: itself, or as JSON."""
    return value if isinstance(value, str) else "" if value is None else to_json(value).decode()


def _message(value: dict[str, Json], depth: int) -> list[ChatMessage]:
    role = _role(value)
    if role is None:
        return []
    content = value.get("content")
    for name in ("parts", "_content", "contents", "blocks", "text", "output", "message"):
        if content is None:
            content = value.get(name)
    if isinstance(inner := value.get("data") or value.get("kwargs"), dict) and content is None:
        read = messages_of({"role": role, **inner}, role, depth + 1)
        return [replace(m, role=role) if m.role != "tool" else m for m in read]
    calls = any(value.get(name) for name in ("tool_calls", "function_call", "toolCalls")) or any(
        value.get(name) for name in ("invalid_tool_calls",)
    )
    extra = value.get("additional_kwargs")
    calls = calls or (isinstance(extra, dict) and bool(extra.get("tool_calls")))
    name = value.get("name")
    parts = content if isinstance(content, list) else []
    results = [part for part in parts if isinstance(part, dict) and _is_result(part)]
    if results:
        return [_result(part) for part in results] + [
            ChatMessage(role, text)
            for text in [text_of([part for part in parts if part not in results])]
            if text and role != "tool"
        ]
    calls = calls or any(isinstance(part, dict) and _is_call(part) for part in parts)
    raw = content if role == "tool" else None
    text = text_of(content) or (as_text(content) if role == "tool" and content else "")
    return [ChatMessage(role, text, calls, name if isinstance(name, str) else "", raw)]


def _role(value: dict[str, Json]) -> str | None:
    """The role of a message; None if the value is none."""
    for name in ("role", "_role", "type"):
        given = value.get(name)
        if isinstance(given, str) and (role := _ROLES.get(given.lower())):
            return role
    kind = value.get("id")
    if value.get("lc") and isinstance(kind, list) and kind and isinstance(kind[-1], str):
        return _ROLES.get(kind[-1].lower())
    event = value.get("event.name")
    if isinstance(event, str) and event.startswith("gen_ai.") and "content" in value:
        return _ROLES.get(event.split(".")[1])
    return None


def _is_call(part: dict[str, Json]) -> bool:
    return str(part.get("type", "")).lower() in _CALLS or bool(
        part.get("tool_call") or part.get("functionCall") or part.get("toolUse") or part.get("function_call")
    )


def _is_result(part: dict[str, Json]) -> bool:
    return str(part.get("type", "")).lower() in _RESULTS or any(
        part.get(name) for name in ("tool_call_result", "functionResponse", "toolResult", "function_response")
    )


def _result(part: dict[str, Json]) -> ChatMessage:
    """A tool's result that stands in a part of a message, whichever role the message has."""
    inner: Json = part
    for name in ("tool_call_result", "functionResponse", "toolResult", "function_response"):
        inner = part.get(name) or inner
    raw: Json = inner
    for name in ("response", "result", "content", "output"):
        if isinstance(inner, dict) and inner.get(name) is not None:
            raw = inner[name]
            break
    return ChatMessage("tool", text_of(raw) or as_text(raw), raw=raw)


def _of_text(text: str, role: str, depth: int) -> list[ChatMessage]:
    read = understood(text)
    if not isinstance(read, str):
        return messages_of(read, role, depth + 1)
    shown = _shown(text)
    if shown:
        return shown
    spoken = _SPOKEN.match(text) if role == "assistant" else None
    if spoken and spoken[1].lower() == role:
        return [ChatMessage(role, text[spoken.end() :])]
    return [ChatMessage(role, text)] if role else []


def _shown(text: str) -> list[ChatMessage]:
    """Messages as Python shows them: `ChatMessage(role=<MessageRole.USER: 'user'>, …, text='…')`."""
    roles = list(_SHOWN_ROLE.finditer(text)) if "role=<" in text else []
    found = []
    for role, after in zip_longest(roles, roles[1:]):
        if role[1] is None:
            continue
        within = text[role.end() : after.start() if after else len(text)]
        texts = [str(literal_eval(match[1])) for match in _SHOWN_TEXT.finditer(within) if "\x00" not in match[1]]
        name = _ROLES.get(role[1].lower())
        if name:
            found.append(ChatMessage(name, "\n".join(texts), "ToolCall" in within or "tool_calls" in within))
    return found
