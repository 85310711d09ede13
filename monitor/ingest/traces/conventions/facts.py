"""Conversation, user, tokens and id of the response, under whichever names packages give them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from monitor.core.model import Json, TokenUsage
from monitor.core.trace import LogRecord, Span
from monitor.ingest.traces.conventions.values import first_text, is_redacted, understood, walk

_CONVERSATIONS = (
    "session.id", "gen_ai.conversation.id", "langfuse.session.id", "langfuse.trace.session_id",
    "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.conversationId", "mlflow.trace.session",
    "conversation.id", "conversation_id", "session_id", "chat_id", "thread_id", "thread.id",
)  # fmt: skip
_USERS = (
    "user.id", "enduser.id", "langfuse.user.id", "langfuse.trace.user_id", "ai.telemetry.metadata.userId",
    "mlflow.trace.user", "user_id",
)  # fmt: skip
_WITHIN = ("traceloop.association.properties.", "langsmith.metadata.", "langfuse.trace.metadata.", "metadata.")
_CONVERSATION_KEYS = (
    "session_id",
    "sessionId",
    "conversation_id",
    "conversationId",
    "chat_id",
    "chatId",
    "thread_id",
    "threadId",
)
_USER_KEYS = ("user_id", "userId", "ls_user_id", "enduser_id")
_JSON_METADATA = ("metadata", "langfuse.observation.metadata", "mlflow.trace.metadata")
_GIVEN = ("gen_ai.usage.input_tokens", "llm.token_count.prompt", "gen_ai.usage.prompt_tokens", "ai.usage.promptTokens")
_MADE = (
    "gen_ai.usage.output_tokens", "llm.token_count.completion", "gen_ai.usage.completion_tokens",
    "ai.usage.completionTokens",
)  # fmt: skip
_JSON_USAGE = ("langfuse.observation.usage_details", "mlflow.chat.tokenUsage", "langsmith.metadata.usage_metadata")
_GIVEN_KEYS = ("input_tokens", "prompt_tokens", "input", "promptTokens", "inputTokens")
_MADE_KEYS = ("output_tokens", "completion_tokens", "output", "completionTokens", "outputTokens")
_USAGE_KEYS = frozenset({"usage", "token_usage", "usage_metadata"})
_COUNT_DIGITS = 12
_MOST = 2**31 - 1


def conversation_of(span: Span | LogRecord) -> str | None:
    """The conversation that a span or log names; names that a convention defines come before those of metadata."""
    return _named(span.attributes, _CONVERSATIONS, _CONVERSATION_KEYS)


def user_of(span: Span | LogRecord) -> str | None:
    return _named(span.attributes, _USERS, _USER_KEYS)


def usage_of(span: Span) -> TokenUsage | None:
    """The tokens that the span counts; None where it counts none."""
    a = span.attributes
    counted = _usage(a, _GIVEN, _MADE)
    return counted or next((usage for fields in _json(a, _JSON_USAGE) if (usage := _usage(fields))), None)


def usage_within(output: Json) -> TokenUsage | None:
    """The tokens that a model's output counts by itself, for spans that count none."""
    for key, fields in walk(understood(output)):
        if key in _USAGE_KEYS and isinstance(fields, dict) and (usage := _usage(fields)):
            return usage
    return None


def response_id_of(span: Span) -> str | None:
    """The id that a model's provider gave its response."""
    given = span.attributes.get("gen_ai.response.id")
    return given if isinstance(given, str) and given else None


def _usage(
    fields: Mapping[str, Json], given_names: Sequence[str] = _GIVEN_KEYS, made_names: Sequence[str] = _MADE_KEYS
) -> TokenUsage | None:
    given = next((c for name in given_names if (c := _count(fields.get(name))) is not None), None)
    made = next((c for name in made_names if (c := _count(fields.get(name))) is not None), None)
    return None if given is None and made is None else TokenUsage(input=given, output=made)


def _named(a: Mapping[str, Json], names: tuple[str, ...], keys: tuple[str, ...]) -> str | None:
    candidates = [a.get(name) for name in names]
    candidates += [a.get(prefix + key) for key in keys for prefix in _WITHIN]
    for fields in _json(a, _JSON_METADATA):
        candidates += [fields.get(key) for key in keys]
    return first_text(*[_unquoted(c) for c in candidates if not is_redacted(c)])


def _json(a: Mapping[str, Json], names: tuple[str, ...]) -> Iterator[Mapping[str, Json]]:
    for name in names:
        if isinstance(fields := understood(a.get(name)), dict):
            yield fields


def _unquoted(value: Json) -> Json:
    return value.strip('"') if isinstance(value, str) and value.startswith('"') and value.endswith('"') else value


def _count(value: Json) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < _COUNT_DIGITS:
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST else None
