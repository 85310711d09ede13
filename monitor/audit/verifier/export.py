"""The check of an export: its files, its records, and what it says of them."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from monitor.audit.verifier.archive import Files
from monitor.audit.verifier.canonical_json import canonical, read_json
from monitor.audit.verifier.log import LogVerifier
from monitor.audit.verifier.notes import Key
from monitor.audit.verifier.page import index_page
from monitor.audit.verifier.terms import (
    CHECKPOINTS,
    FIRST_FORMAT,
    FORMAT,
    KEY,
    MANIFEST,
    PAGE,
    PROFILES,
    RECORDS,
    RULES,
    Fault,
)

BLOCK = 1 << 20  # bytes


class ExportVerifier(LogVerifier):
    """Checks one export."""

    def __init__(self, files: Files, key: Key, authority: Path | None = None) -> None:
        super().__init__(files, key, authority)
        self.manifest: dict[str, Any] = {}

    def run(self) -> None:
        """Checks everything; what cannot be read is a fault too. Stops early without a checkpoint."""
        for check in (self._read_manifest, self._check_files, self._check_checkpoints):
            with self.about("the export"):
                check()
        if not self.heads:
            return
        with self.about("the export"):
            self._check_growth()
        self._check_stamps()
        with self.about(RECORDS), self.files.open(RECORDS) as lines:
            for at, line in enumerate(lines, start=1):
                with self.about(f"{RECORDS} line {at}"):
                    self._check_record(line)
        for check in (self._check_profiles, self._check_rules, self._check_counts, self._check_page):
            with self.about("the export"):
                check()
        self.faults += self.revisions.faults()
        with self.about("the export"):
            for fault in self.statements.faults(self.manifest["about"]):
                self.faults.append(fault)  # one by one: those before one that cannot be read count too

    def _read_manifest(self) -> None:
        self.manifest = read_json(self.files.text(MANIFEST))
        if self.manifest["format"] not in (FORMAT, FIRST_FORMAT):
            raise Fault(f"{MANIFEST} has the format {self.manifest['format']}; this program reads {FORMAT} and earlier")
        self.app = self.manifest["about"]["app"]

    def _check_files(self) -> None:
        if self.files.has_more:
            self.faults.append("the ZIP has bytes beside its files: another program may show other files")
        listed = self.manifest["files"]
        for name, times in Counter(self.files.names).items():
            if times > 1:
                self.faults.append(f"{name}: is in the export {times} times")
            if name not in listed and name != MANIFEST:
                self.faults.append(f"{name}: the manifest does not name it")
        for name, entry in listed.items():
            with self.about(name):
                if name not in self.files.names:
                    raise Fault("is missing")
                digest, length = hashlib.sha256(), 0
                with self.files.open(name) as file:
                    while block := file.read(BLOCK):
                        digest.update(block)
                        length += len(block)
                if entry != {"bytes": length, "sha256": digest.hexdigest()}:
                    raise Fault("is not the file that the manifest names: its SHA-256 or its length differs")

    def _check_profiles(self) -> None:
        for name, profile in read_json(self.files.text(PROFILES)).items():
            digest = hashlib.sha256(canonical(profile["definition"]).encode()).hexdigest()
            if name not in self.definitions:
                self.seen["unproved profiles"] += 1
            elif digest not in self.definitions[name]:
                self.faults.append(f"{PROFILES}: the definition of {name} is not the one in the log")

    def _check_rules(self) -> None:
        for at, line in enumerate(self.files.text(RULES).splitlines(), start=1):
            with self.about(f"{RULES} line {at}"):
                rules = read_json(line)
                if hashlib.sha256(rules["source"].encode()).hexdigest() != rules["digest"]:
                    raise Fault("the rules do not have their digest")
                self.seen["unproved rules"] += rules["digest"] not in self.rules

    def _check_counts(self) -> None:
        counted = {
            "records": self.seen["records"],
            "kinds": dict(self.kinds),
            "disclosed": self.seen["disclosed"],
            "partly": self.seen["partly"],
            "withheld": self.seen["withheld"],
            "checkpoints": len(self.heads),
        }
        for entry in self.manifest["differs"]:
            if not {"index", "kind", "id", "how"} <= set(entry):
                raise Fault(f"{MANIFEST}: an entry under `differs` is malformed")
        if self.manifest["counts"] != counted:
            self.faults.append(f"{MANIFEST}: it counts {self.manifest['counts']}, the files hold {counted}")
        size, root = self.heads[-1] if self.heads else (0, b"")
        if self.manifest["checkpoint"] != {"size": size, "root": b64encode(root).decode()}:
            self.faults.append(f"{MANIFEST}: its checkpoint is not the last entry of {CHECKPOINTS}")

    def _check_page(self) -> None:
        if self.files.text(PAGE) != index_page(self.manifest, self.key.text, self.verdicts, self.first):
            raise Fault(
                f"not proved: {PAGE} is not the page that the proved records give: do not believe what it shows"
            )
        if self.files.text(KEY).strip() != self.key.text:
            raise Fault(f"not proved: {KEY} holds another key than the given one")

    def summary(self) -> list[str]:
        """What was proved, and what was not, in lines."""
        size, root = self.heads[-1]
        kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(self.kinds.items()))
        seen, about = self.seen, self.manifest["about"]
        texts = (
            f"{seen['disclosed']} disclosed in full, {seen['partly']} in part, {seen['withheld']} withheld or erased"
        )
        return [
            f"proved: {seen['records']} records ({kinds or 'none'}) of {self.app or 'every app'}{self._only()}",
            f"        as leaves of the log {self.key.name} at {size} leaves, root {b64encode(root).decode()}",
            f"        {texts}",
            f"        {len(self.heads)} checkpoints, each grown out of the one before",
            f"        {PAGE} shows these records, and nothing else",
            *(f"        {line}" for line in (*self.witnessed, *self.times.proved())),
            *(f"        {line}" for line in self.revisions.proved()),
            *self.statements.summary(),
            f"not proved: {self.statements.left_out()}; who asked for the export and when; what the database holds now",
            f"        what was asked for: answers from {about['from']} to {about['to']}, says the export",
            f"        {seen['unproved profiles']} profiles and {seen['unproved rules']} rule sets without a record",
            *(f"        {line}" for line in (*self.revisions.open(), *self.times.open())),
            *([] if seen["records"] else ["note: this export holds no record, so it says nothing of any answer"]),
            *(f"note: {note}" for note in (*self.notes, *self.statements.notes)),
            *(f"note: {note}" for note in self._differing()),
            *(f"note: {note}" for note in self.recoveries),
            *(f"note: {note}" for note in self.times.clocks()),
        ]

    def _only(self) -> str:
        """By which values the answers were chosen, where they were."""
        only = self.manifest["about"].get("only")
        return f", only with {only}" if only else ""

    def _differing(self) -> Iterator[str]:
        """What the export itself says about rows that were changed after they were sealed."""
        for entry in self.manifest["differs"]:
            of = f"leaf {entry['index']} ({entry['kind']} {entry['id']!r})"
            yield f"{of}: the database does not hold what was sealed: {'; '.join(entry['how'])}"
