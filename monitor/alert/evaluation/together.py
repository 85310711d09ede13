"""Counts of many single labels without a query for each: an outage of all apps must not make the pages late."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from monitor.alert.ports import CountReader
from monitor.alert.rule import Rule
from monitor.alert.signal import Signal
from monitor.alert.window import Counts, Span

FEW = 10  # queries for single labels; from then on one query reads all labels of the rule
_Spans: TypeAlias = tuple[Span, ...]


class Together:
    """Reads the counts of one combination of a rule's labels at a time, within one round.

    Once `FEW` combinations have asked for the same spans, those of all combinations are read and kept. Percentiles are
    not: with a histogram for each span, all combinations would take too much memory.
    """

    def __init__(self, rule: Rule, signals: CountReader) -> None:
        self._rule = rule
        self._signals = signals
        self._asked: Counter[_Spans] = Counter()
        self._known: dict[_Spans, dict[tuple[str, ...], Counts]] = {}

    def counts(
        self, signal: Signal, selector: Mapping[str, tuple[str, ...]], by: Sequence[str], spans: Sequence[Span]
    ) -> list[Counts]:
        """As the port says; `selector` is the rule's, with one value for each of the labels `by`, the rule's."""
        same = tuple(spans)
        self._asked[same] += 1
        if self._asked[same] <= FEW or signal.percentile is not None:
            return self._signals.counts(signal, selector, by, spans)
        if same not in self._known:
            found = self._signals.counts(signal, self._rule.selector, by, spans)
            self._known[same] = {tuple(counts.labels[label] for label in by): counts for counts in found}
        counts = self._known[same].get(tuple(selector[label][0] for label in by))
        return [] if counts is None else [counts]
