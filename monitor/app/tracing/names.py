"""The names of spans and attributes, by OpenTelemetry's semantic conventions where they have one.

Only what stands here becomes an attribute: a stage cannot put a chatbot's text, a URL or a secret into a trace by
mistake. Sources: https://opentelemetry.io/docs/specs/semconv/ (messaging/kafka, db/postgresql, gen-ai).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from opentelemetry.trace import SpanKind

from monitor.core.model import Verdict
from monitor.core.stage import StageName


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """How a stage becomes a span: its name, which the value of the attribute `of` follows, and what is always true."""

    name: str
    of: str | None = None
    kind: SpanKind = SpanKind.INTERNAL
    always: Mapping[str, str] = field(default_factory=dict)


KINDS: Mapping[StageName, Kind] = {  # the others are called as the stage is
    "process": Kind(
        name="process",
        of="topic",
        kind=SpanKind.CONSUMER,
        always={"messaging.operation.name": "process", "messaging.operation.type": "process"},
    ),
    "store": Kind(
        name="store", kind=SpanKind.CLIENT, always={"db.system.name": "postgresql", "db.operation.name": "store"}
    ),
    "chat": Kind(
        name="chat",
        of="model",
        kind=SpanKind.CLIENT,
        always={"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai"},  # whose API it is
    ),
    "embed": Kind(
        name="embeddings",
        of="model",
        kind=SpanKind.CLIENT,
        always={"gen_ai.operation.name": "embeddings", "gen_ai.provider.name": "openai"},
    ),
    "evaluate": Kind(name="evaluate alert rules"),
    "rule": Kind(name="evaluate", of="rule"),
    "notify": Kind(name="notify", of="receiver", kind=SpanKind.CLIENT),
    "report": Kind(name="report", of="app"),
    "probe": Kind(name="probe", of="probe"),
}

ATTRIBUTES: Mapping[str, str] = {
    "broker": "messaging.system",
    "topic": "messaging.destination.name",
    "partition": "messaging.destination.partition.id",
    "offset": "monitor.first_offset",
    "messages": "messaging.batch.message_count",
    "model": "gen_ai.request.model",
    "input_tokens": "gen_ai.usage.input_tokens",
    "output_tokens": "gen_ai.usage.output_tokens",
    "server": "server.address",
    "purpose": "monitor.llm.purpose",
    "texts": "monitor.texts",
    "interactions": "monitor.interactions",
    "interaction_ids": "monitor.interaction.ids",
    "app": "monitor.app",
    "apps": "monitor.apps",
    **{verdict.value: f"monitor.verdict.{verdict.value}" for verdict in Verdict},
    "assessed": "monitor.ledger.assessed",
    "duplicate": "monitor.ledger.duplicate",
    "dead": "monitor.ledger.dead",
    "pending": "monitor.ledger.pending",
    "unscored": "monitor.ledger.unscored",
    "leaves": "monitor.audit.leaves",
    "rule": "monitor.alert.rule",
    "transitions": "monitor.alert.transitions",
    "receiver": "monitor.alert.receiver",
    "news": "monitor.alert.news",
    "week": "monitor.report.week",
    "probe": "monitor.probe.name",
    "run": "monitor.probe.run",
    "items": "monitor.probe.items",
    "state": "monitor.probe.state",
}
AS_TEXT = frozenset({"partition"})  # numbers that the conventions want as text
