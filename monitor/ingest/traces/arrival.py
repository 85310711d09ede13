"""What the row of an open trace remembers of each span, without reading the rest of the trace."""

from __future__ import annotations

from monitor.core.trace import Span


def is_root(span: Span) -> bool:
    """Whether the span has no parent."""
    return span.parent_id is None


def shows_answer(span: Span) -> bool:
    """Whether the span holds the last text of a model, or says that the call failed."""
    return span.failed
