"""The check of a proof."""

from __future__ import annotations

from base64 import b64encode

from monitor.audit.verifier.log import LogVerifier
from monitor.audit.verifier.terms import RECORDS, Fault


class ProofVerifier(LogVerifier):
    """Checks one proof: the file that `monitor audit prove` writes, or what the API answers."""

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
        self.faults += self.revisions.faults()

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
