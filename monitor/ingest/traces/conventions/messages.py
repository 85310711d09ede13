"""Messages of a chat, in the forms in which packages write them.

Read are those of OpenAI (chat completions and responses), Anthropic, the GenAI conventions (`parts`), LangChain
(serialised, dumped, plain), Haystack, LlamaIndex (also as Python shows them) and Google.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from pydantic_core import to_json

from monitor.core.model import Json
from monitor.ingest.traces.conventions.values import MAX_DEPTH, is_cut, understood

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
_LISTS = (
    "messages",
    "replies",
    "tool_messages",
    "choices",
    "generations",
    "output",
    "input",
    "candidates",
    "contents",
    "prompt",
)
_GIVEN = ("input", "prompt")
_HOLDERS = ("message", "delta", "data", "kwargs", "update", "content")
_CONTENTS = ("content", "parts", "_content", "contents", "blocks", "text", "output", "message")
_MOST_SHOWN = 50_000  # characters of messages as Python shows them
_SHOWN_ROLE = re.compile(r"role=<\w+\.(\w+): '\w+'>|tool_call_id='")
_SHOWN_TEXT = re.compile(r"\b(?:text|content|result)=('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")
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
    found: list[ChatMessage] = []
    if depth > MAX_DEPTH:
        return found
    if isinstance(value, str):
        found = _of_text(value, role, depth)
    elif isinstance(value, list):
        for item in value:
            found += messages_of(item, role, depth + 1)
    elif isinstance(value, dict):
        found = _message(value, depth) or _within(value, role, depth)
    return found


def _within(value: dict[str, Json], role: str, depth: int) -> list[ChatMessage]:
    """The messages of the first member of an object that has some."""
    for name in _HOLDERS:
        inner = value.get(name)
        if isinstance(inner, dict) and (found := messages_of(inner, role, depth + 1)):
            return found
    for name in _LISTS:
        inner = understood(value.get(name))
        said = "" if name in _GIVEN else role  # a reply is not looked for in what was given
        if isinstance(inner, list | dict) and (found := messages_of(inner, said, depth + 1)):
            return found
    return []


def last_of(messages: Sequence[ChatMessage], role: str) -> ChatMessage | None:
    return next((m for m in reversed(messages) if m.role == role), None)


def results_of_turn(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """The results of tools after the last message of the user; earlier ones are past turns'."""
    last = max((i for i, message in enumerate(messages) if message.role == "user"), default=-1)
    return [message for message in messages[last + 1 :] if message.role == "tool"]


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


def _message(value: dict[str, Json], depth: int) -> list[ChatMessage]:
    """The message that an object is, or the results of tools that stand in its parts; nothing if it is none."""
    role = _role(value)
    if role is None:
        return []
    content = next((value[name] for name in _CONTENTS if value.get(name) is not None), None)
    inner = value.get("data") or value.get("kwargs")
    if isinstance(inner, dict) and content is None:
        read = messages_of({"role": role, **inner}, role, depth + 1)
        return [replace(m, role=role) if m.role != "tool" else m for m in read]
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    results = [_result(part) for part in parts if _is_result(part)]
    if results:
        others: list[Json] = [part for part in parts if not _is_result(part)]
        text = text_of(others)
        return [*results, ChatMessage(role, text)] if text and role != "tool" else results
    extra = value.get("additional_kwargs")
    calls = any(value.get(name) for name in ("tool_calls", "function_call", "toolCalls", "invalid_tool_calls"))
    calls = calls or (isinstance(extra, dict) and bool(extra.get("tool_calls"))) or any(map(_is_call, parts))
    given = value.get("name")
    name = given if isinstance(given, str) else ""
    text = text_of(content)
    if role == "tool":
        return [ChatMessage(role, text or _as_text(content), calls, name, content)]
    return [ChatMessage(role, text, calls, name)]


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
    return ChatMessage("tool", text_of(raw) or _as_text(raw), raw=raw)


def _as_text(value: Json) -> str:
    """A value as a text: itself, or as JSON."""
    return value if isinstance(value, str) else "" if value is None else to_json(value).decode()


def _of_text(text: str, role: str, depth: int) -> list[ChatMessage]:
    read = understood(text)
    if not isinstance(read, str):
        return messages_of(read, role, depth + 1)
    shown = _shown(text)
    if shown or is_cut(text):
        return shown
    spoken = _SPOKEN.match(text) if role == "assistant" else None
    if spoken and spoken[1].lower() == role:
        return [ChatMessage(role, text[spoken.end() :])]
    return [ChatMessage(role, text)] if role else []


def _shown(text: str) -> list[ChatMessage]:
    """Messages as Python shows them: `ChatMessage(role=<MessageRole.USER: 'user'>, …, text='…')`."""
    text = text[:_MOST_SHOWN]
    roles = list(_SHOWN_ROLE.finditer(text)) if "role=<" in text else []
    found = []
    for role, after in zip_longest(roles, roles[1:]):
        if role[1] is None:
            continue
        within = text[role.end() : after.start() if after else len(text)]
        texts = [_unquoted(match[1]) for match in _SHOWN_TEXT.finditer(within)]
        name = _ROLES.get(role[1].lower())
        if name:
            found.append(ChatMessage(name, "\n".join(texts), "ToolCall" in within or "tool_calls" in within))
    return found


def _unquoted(literal: str) -> str:
    try:
        return str(literal_eval(literal))
    except (ValueError, SyntaxError):
        return literal[1:-1]
