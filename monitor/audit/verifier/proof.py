"""The check of a proof."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from monitor.audit.verifier.archive import Proof
from monitor.audit.verifier.canonical_json import read_json
from monitor.audit.verifier.log import LogVerifier
from monitor.audit.verifier.notes import Key
from monitor.audit.verifier.terms import RECORDS, TIMESTAMP, Fault
from monitor.audit.verifier.times import when
from monitor.audit.verifier.tokens import stamped


class ProofVerifier(LogVerifier):
    """Checks one proof: the file that `monitor audit prove` writes, or what the API answers."""

    def __init__(self, proof: Proof, key: Key, authority: Path | None = None) -> None:
        super().__init__(proof, key, authority)
        self.proof = proof

    def run(self) -> None:
        """Checks everything; what cannot be read is a fault too. Stops early without a checkpoint."""
        with self.about("the proof"):
            self._check_checkpoints()
        if not self.heads:
            return
        with self.about("the proof"):
            self._check_growth()
        self._check_stamps()
        with self.about("the proof"), self.files.open(RECORDS) as lines:
            for at, line in enumerate(lines, start=1):
                with self.about(f"record {at}"):
                    self._check_record(line)
            if not self.seen["records"]:
                raise Fault("has no record")
        with self.about("the proof"):
            for fault in self._contradictions():
                self.faults.append(fault)
        self.faults += self.revisions.faults()

    def _contradictions(self) -> Iterator[str]:
        """What the file says beside its leaves, for people to read, and the leaves and checkpoints do not.

        What a release before said of checkpoints that its file does not hold is left out.
        """
        file, (size, _) = self.proof.content, self.heads[-1]
        last = self.times.statements[size].decode().removesuffix(f"\n{self.key.text}\n")
        for name, it in (("size", size), ("key", self.key.text), ("checkpoint", last)):
            if file.get(name, it) != it:
                yield f"the proof: its {name} is another than that of the last checkpoint"
        said = [(its, read_json(its["body"])) for its in self.proof.records]
        if "id" in file and file["id"] not in [record["id"] for _, record in said]:
            yield f"the proof: it says that it is about {file['id']!r}, and no leaf is"
        for its, record in said:
            index = its["index"]
            for name, at in self._times(index, record).items():
                if name in its and when(its[name]) != at:
                    yield f"leaf {index}: its {name} is not {its[name]}"
            known = set(self._stamps(index))
            for one in its.get("stamped", ()) if "stamps" in file else ():
                if (one["size"], one["by"], when(one["at"])) not in known:
                    yield f"leaf {index}: no time stamp here is the one by {one['by']} at {one['at']}"

    def _times(self, index: int, record: Any) -> dict[str, Any]:
        times = {name: when(record.get(name)) for name in ("occurred_at", "sealed_at")}
        if "checkpoints" in self.proof.content:
            times["signed_at"] = self.times.signed.get(next((size for size, _ in self.heads if size > index), 0))
        return times

    def _stamps(self, index: int) -> Iterator[tuple[int, str, Any]]:
        for size, kind, by, token in self.times.stamps:
            if size > index:
                yield size, by, None
                if kind == TIMESTAMP:
                    yield size, by, stamped(token)[2]

    def summary(self) -> list[str]:
        """What was proved, and what was not, in lines."""
        size, root = self.heads[-1]
        return [
            f"proved: {self.seen['records']} leaves of the log {self.key.name}",
            f"        at {size} leaves, root {b64encode(root).decode()}",
            *(f"        {line}" for line in (*self.times.details, *self.witnessed)),
            *(f"        {line}" for line in (*self.times.proved(), *self.revisions.proved())),
            "not proved: that no other leaf is about this; what the database holds now",
            *(f"        {line}" for line in (*self.revisions.open(), *self.times.open())),
            *(f"note: {note}" for note in (*self.notes, *self.recoveries, *self.times.clocks())),
        ]
