"""What the row of an open trace remembers of each span, without reading the rest of the trace."""

from __future__ import annotations

from monitor.core.trace import Span
from monitor.ingest.traces.conventions.kinds import Kind, kind_of
from monitor.ingest.traces.conventions.step import Step


def is_root(span: Span) -> bool:
    """Whether the span has no parent."""
    return span.parent_id is None


def shows_answer(span: Span) -> bool:
    """Whether the span is a model call that gave a text and asked for no tool, or that failed.

    A root with a failed status counts too: nothing more comes. Of calls whose texts come as log records, or are not
    captured, the reason for which they finished tells.
    """
    if span.failed and span.parent_id is None:
        return True
    kind = kind_of(span)
    if kind is not Kind.MODEL:
        return False
    step = Step(span, kind)
    if step.failed:
        return True
    return not step.calls_tools and (step.text is not None or _counts(span))


def _counts(span: Span) -> bool:
    """Whether a call without text says that it has been answered: it counts tokens, or names the response."""
    return any(name in span.attributes for name in ("gen_ai.response.id", "gen_ai.usage.output_tokens"))
