"""The proof of the leaves about one interaction or act: one file of JSON that `verify.py` checks."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.audit.export import ConsistencyProof, ExportedRecord, Stored
from monitor.audit.merkle import leaf_hash, verify_inclusion
from monitor.audit.note import Checkpoint, NotProved, opened, signed_at
from monitor.audit.record import portable
from monitor.audit.stamp import Stamp
from monitor.audit.verifier.terms import PROOF_FORMAT
from monitor.core.model import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectProof:
    """The leaves about a subject, under the last checkpoint that `key` signed.

    `notes` are, in the order of their sizes, the first checkpoint that holds each leaf, the first that an authority has
    stamped since, and the last one. `steps` prove that each grew into the next, and `stamps` are theirs. Where no key
    is at hand it is None, and the last checkpoint is the only one.
    """

    subject: str
    key: str | None
    records: Sequence[ExportedRecord]
    notes: Sequence[str]
    steps: Sequence[ConsistencyProof]
    stamps: Sequence[Stamp]

    @property
    def checkpoint(self) -> Checkpoint:
        """The last checkpoint. Raises NotProved if the key has not signed it."""
        if self.key is None:
            raise NotProved("there is no key to check the checkpoint with")
        return opened(self.notes[-1], self.key)

    def proves(self, record: ExportedRecord) -> bool:
        """Whether the last checkpoint holds the leaf."""
        last = self.checkpoint
        return verify_inclusion(record.index, last.size, leaf_hash(record.body.encode()), last.root, record.proof)

    @property
    def stored(self) -> Stored | None:
        """The state of the newest leaf's row, or `differs` if any row differs; None if no row is stored."""
        states = [record.stored for record in self.records if record.stored]
        return Stored.DIFFERS if Stored.DIFFERS in states else states[-1] if states else None

    def known_by(self, record: ExportedRecord) -> dict[str, Json]:
        """The times of a leaf: what it says, when the first checkpoint with it was signed, and its time stamps."""
        signed: datetime | None = None
        if self.key is not None:
            holding = (note for note in self.notes if opened(note, self.key).size > record.index)
            signed = signed_at(next(holding), self.key)
        stamps: list[Json] = [
            {"at": portable(stamp.stamped_at), "by": stamp.witness, "size": stamp.size}
            for stamp in self.stamps
            if stamp.size > record.index
        ]
        return {**times(record.body), "signed_at": portable(signed), "stamped": stamps}

    def trail(self) -> dict[str, Json]:
        """What a proof holds beside its leaves: the checkpoints, how they grew, and their time stamps."""
        steps: list[Json] = [
            {"from": step.old, "to": step.new, "proof": [b64encode(node).decode() for node in step.proof]}
            for step in self.steps
        ]
        return {
            "format": PROOF_FORMAT,
            "checkpoints": list(self.notes),
            "consistency": steps,
            "stamps": [stamp.json() for stamp in self.stamps],
        }

    def json(self) -> dict[str, Json]:
        """The file of the proof."""
        return {
            "id": self.subject,
            "proved": all(map(self.proves, self.records)),
            "stored": self.stored,
            "checkpoint": self.notes[-1],
            "size": self.checkpoint.size,
            "key": self.key,
            "records": [
                {**self.known_by(record), "proved": self.proves(record), **record_json(record)}
                for record in self.records
            ],
            **self.trail(),
        }


def record_json(record: ExportedRecord) -> dict[str, Json]:
    """A leaf of a proof."""
    opening: Json = None
    if record.disclosed is not None:
        opening = {name: dict(of) for name, of in record.disclosed.items()}
    return {
        "index": record.index,
        "body": record.body,
        "proof": [b64encode(node).decode() for node in record.proof],
        "disclosed": opening,
        "stored": record.stored,
        "differs": list(record.differs),
    }


def times(body: str) -> Mapping[str, Json]:
    """When the leaf's interaction occurred and when the leaf was sealed, as its body says; None where it says none.

    Somebody may have put anything into the body, which then proves nothing.
    """
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    found = said if isinstance(said, dict) else {}
    return {name: _time(found.get(name)) for name in ("occurred_at", "sealed_at")}


def _time(value: object) -> str | None:
    if not isinstance(value, str):
        return None
    try:
        datetime.fromisoformat(value)
    except ValueError:
        return None
    return value
