"""Inhibition of many alerts by many: when a thousand apps fail at once, the pages must not wait for comparisons."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from monitor.alert.silence import Inhibition, all_match
from monitor.alert.state import Alert


class Inhibited:
    """Says of an alert whether another one that fires inhibits it, as `Inhibition.holds` says of two alerts.

    Those that fire are looked up by their values of the `equal` labels, so that an alert is compared with few of them.
    """

    def __init__(self, inhibitions: Sequence[Inhibition], firing: Sequence[Alert]) -> None:
        labelled = [(alert.fingerprint, alert.matched) for alert in firing] if inhibitions else []
        self._all = [_sources(inhibition, labelled) for inhibition in inhibitions]

    def __call__(self, alert: Alert) -> bool:
        labels = alert.matched if self._all else {}
        return any(sources.inhibit(alert.fingerprint, labels) for sources in self._all)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """A firing alert that an inhibition's `source` matches; `is_target`: its `target` does so too."""

    fingerprint: str
    labels: Mapping[str, str]
    is_target: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sources:
    """The sources of an inhibition; `by_values` has those with all `equal` labels, `lacking` the others."""

    inhibition: Inhibition
    every: list[_Source] = field(default_factory=list)
    by_values: dict[tuple[str, ...], list[_Source]] = field(default_factory=lambda: defaultdict(list))
    lacking: list[_Source] = field(default_factory=list)

    def inhibit(self, fingerprint: str, labels: Mapping[str, str]) -> bool:
        equal = self.inhibition.equal
        if not self.every or not all_match(self.inhibition.target, labels):
            return False
        is_source = all_match(self.inhibition.source, labels)
        near = self.every
        if all(name in labels for name in equal):
            near = [*self.by_values.get(tuple(labels[name] for name in equal), ()), *self.lacking]
        return any(
            source.fingerprint != fingerprint
            and not (is_source and source.is_target)
            and all(source.labels.get(name, labels[name]) == labels[name] for name in equal if name in labels)
            for source in near
        )


def _sources(inhibition: Inhibition, firing: Sequence[tuple[str, Mapping[str, str]]]) -> _Sources:
    found = _Sources(inhibition=inhibition)
    for fingerprint, labels in firing:
        if all_match(inhibition.source, labels):
            is_target = all_match(inhibition.target, labels)
            source = _Source(fingerprint=fingerprint, labels=labels, is_target=is_target)
            found.every.append(source)
            if all(name in labels for name in inhibition.equal):
                found.by_values[tuple(labels[name] for name in inhibition.equal)].append(source)
            else:
                found.lacking.append(source)
    return found
