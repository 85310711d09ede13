"""An observer that keeps what it is told of stages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from monitor.core.stage import Observation, StageName, Value


@dataclass(eq=False)
class Seen:
    name: StageName
    attributes: dict[str, Value]
    parent: str | None
    log_fields: Mapping[str, str]
    ended: bool = False
    error: BaseException | None = None

    def add(self, attributes: Mapping[str, Value]) -> None:
        self.attributes.update(attributes)

    def end(self, error: BaseException | None) -> None:
        self.ended, self.error = True, error


@dataclass(eq=False)
class Recorder:
    seen: list[Seen] = field(default_factory=list)

    def begin(self, name: StageName, attributes: Mapping[str, Value], parent: Observation | None) -> Seen:
        above = parent.name if isinstance(parent, Seen) else None
        self.seen.append(Seen(name, dict(attributes), above, {"span_id": str(len(self.seen))}))
        return self.seen[-1]
