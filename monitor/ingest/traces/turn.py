"""What a trace says: one turn of a chatbot, or why it holds none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from monitor.core.model import Json, TokenUsage, Unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDocument:
    """A retrieved document; `text` is None where the trace has its id only.

    `in_prompt` is the text that the prompt of the model call seems to hold for it, for when no look-up knows better.
    """

    id: str | None
    text: str | None
    score: float | None = None
    in_prompt: str | None = None
    source: str | None = None
    metadata: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """A question with its answer, as a trace shows it; None where the trace does not say, or says it redacted.

    `documents` is None where it is unknown whether there are any. Times are timezone-aware UTC. `service` and
    `environment` come from the resource. `span_id` is the span that verdicts belong to: the outermost with the answer.
    """

    trace_id: str
    span_id: str
    question: str | None
    documents: tuple[TurnDocument, ...] | None
    answer: str | None
    started: datetime
    ended: datetime
    model: str | None = None
    conversation_id: str | None = None
    user: str | None = None
    service: str | None = None
    environment: str | None = None
    failed: bool = False
    usage: TokenUsage | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    unscored: Unscored | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NoTurn:
    """A trace without a turn, and the reason in words: it calls no model, or repeats the call of another trace."""

    trace_id: str
    because: str
