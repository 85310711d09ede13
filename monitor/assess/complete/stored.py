"""Gives interactions the supporting documents that they were first assessed with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from typing_extensions import override

from monitor.assess.ports import Completer
from monitor.core.model import Interaction, Support


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredSupport(Completer):
    """Knows the support of each interaction, by app and id, so that two profiles judge the same texts."""

    supports: Mapping[tuple[str, str], Support]

    @override
    def complete(self, interactions: Sequence[Interaction]) -> list[Support]:
        return [self.supports[it.app, it.id] for it in interactions]
