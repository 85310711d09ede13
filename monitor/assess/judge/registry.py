"""The judged metrics by name. A new metric takes one function and one line here, or an entry point of a package.

docs/develop/extend.md shows the latter.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from monitor.assess.judge.metric import Metric
from monitor.assess.judge.metrics.answer_relevance import answer_relevance
from monitor.assess.judge.metrics.chunk_relevance import chunk_relevance
from monitor.assess.judge.metrics.context_entity_recall import context_entity_recall
from monitor.assess.judge.metrics.context_precision import context_precision, context_utilization
from monitor.assess.judge.metrics.context_recall import context_recall
from monitor.assess.judge.metrics.context_relevance import context_relevance
from monitor.assess.judge.metrics.faithfulness import faithfulness
from monitor.assess.judge.metrics.summarization import summarization_score
from monitor.core.installed import plugins

METRICS: Final[Mapping[str, Metric]] = {
    "faithfulness": faithfulness,
    "answer_relevance": answer_relevance,
    "context_relevance": context_relevance,
    "context_recall": context_recall,
    "context_precision": context_precision,
    "context_utilization": context_utilization,
    "context_entity_recall": context_entity_recall,
    "summarization_score": summarization_score,
    "chunk_relevance": chunk_relevance,
}


def metrics() -> dict[str, Metric]:
    """Ours, and after them those that installed packages add, by name.

    Raises:
        WrongSettings: a package's metric cannot be used.
    """
    return plugins.with_plugins(plugins.METRICS, METRICS, problem=plugins.function_of("a case"))
