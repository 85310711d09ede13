"""What a span is, whichever convention names it; they are asked in a fixed order, the most telling first."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from monitor.core.model import Json
from monitor.core.trace import Span


class Kind(StrEnum):
    """The kinds that matter for a turn; everything else is a chain: it may hold texts, but does nothing itself."""

    MODEL = "model"
    RETRIEVER = "retriever"
    RERANKER = "reranker"
    TOOL = "tool"
    EMBEDDING = "embedding"
    CHAIN = "chain"


_NAMES = {
    "llm": Kind.MODEL, "chat_model": Kind.MODEL, "generation": Kind.MODEL, "completion": Kind.MODEL,
    "chat": Kind.MODEL, "text_completion": Kind.MODEL, "generate_content": Kind.MODEL,
    "chat.completions": Kind.MODEL, "text.completions": Kind.MODEL, "responses": Kind.MODEL,
    "retriever": Kind.RETRIEVER, "retrieval": Kind.RETRIEVER, "retrieve": Kind.RETRIEVER,
    "vector_db_retrieve": Kind.RETRIEVER,
    "reranker": Kind.RERANKER, "rerank": Kind.RERANKER,
    "tool": Kind.TOOL, "execute_tool": Kind.TOOL, "mcp": Kind.TOOL,
    "embedding": Kind.EMBEDDING, "embeddings": Kind.EMBEDDING,
}  # fmt: skip
_CHECKS = frozenset({"guardrail", "evaluator"})
_ATTRIBUTES = ("openinference.span.kind", "langsmith.span.kind", "langfuse.observation.type", "mlflow.spanType")
_OPERATIONS = ("gen_ai.operation.name", "llm.request.type", "traceloop.span.kind", "db.operation")
_VERCEL = {
    "ai.toolCall": Kind.TOOL,
    "ai.embed": Kind.EMBEDDING,
    "ai.embedMany": Kind.EMBEDDING,
    "ai.rerank": Kind.RERANKER,
}
_HAYSTACK_AGENT = {"haystack.agent.step.llm": Kind.MODEL, "haystack.agent.step.tool": Kind.TOOL}
_COMPONENTS = (
    (re.compile(r"Ranker|Rerank|DocumentJoiner"), Kind.RERANKER),
    (re.compile(r"Retriever"), Kind.RETRIEVER),
    (re.compile(r"Embedder"), Kind.EMBEDDING),
    (re.compile(r"Generator|ChatModel"), Kind.MODEL),
    (re.compile(r"ToolInvoker|WebSearch"), Kind.TOOL),
)
_RERANKS = re.compile(r"re-?rank|postprocess|document_?joiner", re.IGNORECASE)
_RETRIEVES = re.compile(
    r"(?:^|[\W_])retrieve(?:$|[\W_])|retriev(?:er|al)(?:$|\W)|similarity_search|vector_?search|search_documents",
    re.IGNORECASE,
)


def kind_of(span: Span) -> Kind:
    """The kind of a span by its attributes; chain where they say no more than chain, task or nothing."""
    a = span.attributes
    for name in _ATTRIBUTES:
        if (given := a.get(name)) is not None:
            return _NAMES.get(_plain(given), Kind.CHAIN)
    component = a.get("haystack.component.type")
    if isinstance(component, str):
        return next((kind for form, kind in _COMPONENTS if form.search(component)), Kind.CHAIN)
    for name in _OPERATIONS:
        kind = _NAMES.get(str(a.get(name, "")).lower(), Kind.CHAIN)
        if kind is not Kind.CHAIN:
            return kind
    return _otherwise(span, a)


def is_check(span: Span) -> bool:
    """Whether a span only checks what was asked or answered: a model within it does not speak to the user."""
    return any(_plain(span.attributes.get(name)) in _CHECKS for name in _ATTRIBUTES)


def kind_by_name(name: str) -> Kind:
    """Rerankers and retrievers that only their name tells from a chain."""
    if _RERANKS.search(name):
        return Kind.RERANKER
    return Kind.RETRIEVER if _RETRIEVES.search(name) else Kind.CHAIN


def _plain(given: Json) -> str:
    """A kind in lower case; `mlflow.spanType` is JSON, so it has quotes."""
    return str(given).strip('"').lower()


def _otherwise(span: Span, a: Mapping[str, Json]) -> Kind:
    if span.name in _HAYSTACK_AGENT:
        return _HAYSTACK_AGENT[span.name]
    operation = a.get("ai.operationId")
    if isinstance(operation, str):
        return Kind.MODEL if ".do" in operation and "Embed" not in operation else _vercel(operation)
    if a.get("spring.ai.kind") == "vector_store" or a.get("db.vector.query.content"):
        return Kind.RETRIEVER
    if "db.system" in a and any(event.name == "db.query.result" for event in span.events):
        return Kind.RETRIEVER
    named = any(name in a for name in ("gen_ai.operation.name", "traceloop.span.kind"))
    if not named and "gen_ai.request.model" in a and ("gen_ai.system" in a or "gen_ai.provider.name" in a):
        return Kind.MODEL
    return Kind.TOOL if "gen_ai.tool.name" in a and not named else Kind.CHAIN


def _vercel(operation: str) -> Kind:
    return _VERCEL.get(operation.removesuffix(".doEmbed"), Kind.CHAIN)
