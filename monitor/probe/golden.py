"""Golden sets: questions with reference answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenItem:
    """A question with its reference answer; `source` is the interaction `APP/ID` that it was made of, if any."""

    id: str  # unique in its set
    question: str
    reference: str
    tags: Mapping[str, str] = field(default_factory=dict)
    source: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldenSet:
    """The items of one version of a set, in their order, with different ids."""

    name: str
    items: tuple[GoldenItem, ...]
    version: int = 0  # 1, 2, 3, … as stored; 0: not stored

    @property
    def hash(self) -> str:
        """The SHA-256 of the items by id, in hex: the same items in another order have the same hash."""
        items = sorted(self.items, key=lambda item: item.id)
        content = [[i.id, i.question, i.reference, dict(sorted(i.tags.items())), i.source] for i in items]
        text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
