"""A frozen reference as it is stored, with the digest that proves its content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from monitor.assess.reference import Reference
from monitor.audit.canonical import canonical
from monitor.audit.record import portable
from monitor.core.model import Json
from monitor.store.audit_queue import Act, Kind

HASH_DIGITS = 16  # of the SHA-256, as in the hash of a profile


@dataclass(frozen=True, slots=True, kw_only=True)
class FrozenReference:
    """What is frozen of one app, model and topic; names as in the table `reference`.

    `scores` are ascending, each as the shortest digits that give the REAL back.
    """

    app: str
    model: str
    version: int
    topic: str
    since: datetime
    until: datetime
    frozen_at: datetime
    frozen_by: str
    profile_hash: str
    embedding_model: str
    answers: int
    drawn: int
    labelled: int
    repeated: int
    other_profile: int
    scores: tuple[float, ...]

    @property
    def sha256(self) -> str:
        """SHA-256 over `content` in canonical JSON (RFC 8785), in hex."""
        return hashlib.sha256(canonical(self.content())).hexdigest()

    @property
    def hash(self) -> str:
        """The first digits of `sha256`, by which an assessment names its reference."""
        return self.sha256[:HASH_DIGITS]

    def content(self) -> dict[str, Json]:
        """Everything that is frozen; `from` and `to` bound the period, the end excluded."""
        return {**self.facts(), "scores": portable(self.scores)}

    def facts(self) -> dict[str, Json]:
        """The content without the scores."""
        return {
            "app": self.app,
            "model": self.model or None,
            "topic": self.topic or None,
            "version": self.version,
            "from": portable(self.since),
            "to": portable(self.until),
            "frozen_at": portable(self.frozen_at),
            "frozen_by": self.frozen_by,
            "profile": self.profile_hash,
            "embedding_model": self.embedding_model,
            "answers": self.answers,
            "drawn": self.drawn,
            "labelled": self.labelled,
            "repeated": self.repeated,
            "other_profile": self.other_profile,
            "size": len(self.scores),
        }

    def row(self) -> dict[str, Any]:
        """The columns of the table `reference`, with the hash and the SHA-256 of what is frozen."""
        own = {name: getattr(self, name) for name in self.__slots__}
        digest = self.sha256
        return {**own, "scores": list(self.scores), "sha256": digest, "hash": digest[:HASH_DIGITS]}

    def reference(self, stored_as: str) -> Reference:
        """What ranks are taken in; `stored_as` is its hash, which has been checked."""
        return Reference(
            hash=stored_as,
            app=self.app,
            model=self.model,
            topic=self.topic,
            profile_hash=self.profile_hash,
            embedding_model=self.embedding_model,
            scores=np.asarray(self.scores, dtype=np.float32),
        )

    def act(self, stored_as: str) -> Act:
        """The act to seal, with the hash of the row as its subject; its body proves the scores by their digest."""
        facts = {name: value for name, value in self.facts().items() if name not in {"app", "frozen_at", "frozen_by"}}
        return Act(
            kind=Kind.REFERENCE,
            by=self.frozen_by,
            at=self.frozen_at,
            app=self.app,
            subject=stored_as,
            body={**facts, "sha256": self.sha256},
        )


def shortest(score: float) -> float:
    """The number with the fewest digits that a REAL holds as `score`."""
    return float(str(np.float32(score)))


def frozen_of(row: Mapping[str, Any]) -> FrozenReference:
    """The reference in a row. Its digest is computed from the row: another `hash` there means that it was changed."""
    names = FrozenReference.__slots__
    times = {name: row[name].astimezone(UTC) for name in ("since", "until", "frozen_at")}
    scores = tuple(map(shortest, row["scores"]))
    return FrozenReference(**{**{name: row[name] for name in names}, **times, "scores": scores})
