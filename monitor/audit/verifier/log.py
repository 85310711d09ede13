"""The check of records against the log: what an export and a proof have in common."""

from __future__ import annotations

import hashlib
import hmac
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from monitor.audit.verifier.archive import Files
from monitor.audit.verifier.canonical_json import canonical, read_json
from monitor.audit.verifier.merkle_tree import grew, hashes, included
from monitor.audit.verifier.notes import Key, noted, opened, time_of, witnessed
from monitor.audit.verifier.revisions import Revisions
from monitor.audit.verifier.statements import Statements
from monitor.audit.verifier.terms import (
    CHECKPOINTS,
    CONSISTENCY,
    MALFORMED,
    SHOWN,
    STAMPS,
    UNREADABLE,
    Fault,
    Shown,
    WrongKey,
)
from monitor.audit.verifier.times import Times

LARGEST_ROOT = b"\xff" * 33


class LogVerifier:
    """Checks records and checkpoints. `faults` says what is wrong, `notes` what stays open, `seen` what was counted.

    `authority` is the file of the certificates of time stamp authorities, None where none is trusted.
    """

    def __init__(self, files: Files, key: Key, authority: Path | None = None) -> None:
        self.files, self.key, self.times = files, key, Times(key, authority)
        self.app: str | None = None  # whose records they are, None for those of every app
        self.faults: list[str] = []
        self.notes: list[str] = []
        self.kinds: Counter[str] = Counter()
        self.seen: Counter[str] = Counter()
        self.heads: list[tuple[int, bytes]] = []
        self.definitions: dict[str, set[str]] = {}  # of profiles, from the log
        self.rules: set[str] = set()  # the digests of rule sets, from the log
        self.verdicts: Counter[str] = Counter()
        self.first: list[Shown] = []  # the records that the page shows
        self.recoveries: list[str] = []
        self.witnessed: list[str] = []  # what a comparison with witnesses has shown
        self.behind: Counter[int] = Counter()  # the records behind each checkpoint and before the next, by its size
        self.statements, self.revisions = Statements(), Revisions()
        self.last = -1

    @contextmanager
    def about(self, what: str) -> Iterator[None]:
        """Records an exception in the block as a fault."""
        try:
            yield
        except Fault as fault:
            self.faults.append(f"{what}: {fault}")
        except MALFORMED + UNREADABLE as error:
            self.faults.append(f"{what}: cannot be read ({type(error).__name__}: {error})")

    def _check_checkpoints(self) -> None:
        notes = noted(self.files.text(CHECKPOINTS))
        before, others = len(self.faults), []
        for at, (text, lines) in enumerate(notes, start=1):
            with self.about(f"{CHECKPOINTS} checkpoint {at}"):
                try:
                    head = opened(text, lines, self.key)
                except WrongKey as other:
                    others.append(other)
                    raise
                if self.heads and head[0] <= self.heads[-1][0]:
                    raise Fault("is not larger than the checkpoint before it")
                self.heads.append(head)
                self.times.sign(head[0], f"{text}\n{lines}\n", time_of(text, lines, self.key))
        if others and len(others) == len(notes):
            del self.faults[before:]  # one fault is enough
            raise others[0]
        if not self.heads:
            raise Fault("no checkpoint is proved, so no record can be proved")

    def _check_growth(self) -> None:
        proofs = {(step["from"], step["to"]): step["proof"] for step in read_json(self.files.text(CONSISTENCY))}
        steps = [(self.heads[at], self.heads[at + 1]) for at in range(len(self.heads) - 1)]
        if len(proofs) != len(steps):
            self.faults.append(f"{CONSISTENCY}: {len(proofs)} proofs for {len(steps)} steps")
        for (old, old_root), (new, new_root) in steps:
            with self.about(f"{CONSISTENCY} from {old} to {new}"):
                if not grew(old, new, (old_root, new_root), hashes(proofs[old, new])):
                    raise Fault("the larger checkpoint did not grow out of the smaller: the log was rewritten")

    def _before(self, index: int) -> int:
        """The size of the last checkpoint that does not hold the leaf yet."""
        at = bisect_right(self.heads, (index, LARGEST_ROOT))
        return self.heads[at - 1][0] if at else 0

    def _check_stamps(self) -> None:
        if STAMPS not in self.files.names:
            return
        for at, line in enumerate(self.files.text(STAMPS).splitlines(), start=1):
            with self.about(f"{STAMPS} line {at}"):
                self.times.stamp(read_json(line))
        self.times.settle()

    def compare(self, witness: str) -> None:
        """Compares the checkpoints with those of a witness: a file of notes, or SIZE:ROOT as one reads it somewhere."""
        if not self.heads:
            return
        with self.about(f"the witness {witness}"):
            known = witnessed(witness, self.key)
            for size, root in self.heads:
                if size in known and root not in known[size]:
                    raise Fault(f"has another root of the first {size} leaves: the log was rewritten")
            agreed = [size for size, _ in self.heads if size in known]
            if not agreed:
                raise Fault("has none of these checkpoints, so nothing was compared")
            self.witnessed.append(
                f"{len(agreed)} of {len(self.heads)} checkpoints are the same at the witness {witness}, the largest of "
                f"{agreed[-1]} leaves"
            )
            beyond = sum(count for size, count in self.behind.items() if size >= agreed[-1])
            if beyond:
                self.notes.append(
                    f"{beyond} records are behind the last checkpoint that the witness {witness} has as well"
                )
            more = [size for size in known if agreed[-1] < size <= self.heads[-1][0]]
            if more:
                self.notes.append(
                    f"the witness {witness} has {len(more)} checkpoints of {min(more)} to {max(more)} leaves that are "
                    "not here, so nothing was compared with them: ask for an export up to one that the witness has"
                )

    def _check_record(self, line: bytes) -> None:
        entry = read_json(line.decode())
        index, body, disclosed = entry["index"], entry["body"], entry["disclosed"]
        record = read_json(body)
        self.seen["records"] += 1
        self.kinds[record["kind"]] += 1
        of = f"leaf {index} ({record['kind']} {record['id']!r})"
        if set(entry) != {"index", "body", "proof", "disclosed"} or not isinstance(index, int):
            raise Fault(f"{of} does not have the parts of a record")
        if index <= self.last:
            self.faults.append(f"{of} comes after leaf {self.last}: it is repeated, or in the wrong place")
        self.last = index
        self.behind[self._before(index)] += 1
        if canonical(record) != body:
            self.faults.append(f"{of} is not in canonical form")
        if self.app is not None and record["app"] not in (self.app, ""):
            self.faults.append(f"{of} belongs to the app {record['app']!r}, not to {self.app!r}")
        size, root = self.heads[-1] if self.heads else (0, b"")
        leaf = hashlib.sha256(b"\x00" + body.encode()).digest()
        proved = included(index, size, leaf, root, hashes(entry["proof"]))
        if not proved:
            self.faults.append(f"{of} is not proved: the record or its proof was changed, or it is from another log")
        self._remember(index, record, proved=proved)
        self.revisions.see(index, record, body)
        self.times.see(of, index, record)
        if len(self.first) < SHOWN:
            values = {name: opening["value"] for name, opening in (disclosed or {}).items()}
            self.first.append((index, json.loads(body), values))
        self._check_disclosed(of, record.get("committed", {}), disclosed)

    def _remember(self, index: int, record: Any, *, proved: bool) -> None:
        """Keeps what later checks, the page and the summary need of a record."""
        if record["kind"] == "profile":
            self.definitions.setdefault(record["id"], set()).add(record["body"]["definition"])
        if record["kind"] == "rules":
            self.rules.add(record["body"]["digest"])
        if record["kind"] == "recovery":
            self.recoveries.append(recovery(index, record["body"]))
        if "verdict" in record:
            self.verdicts[record["verdict"]] += 1
        self.statements.see(record, proved=proved)

    def _check_disclosed(self, of: str, committed: dict[str, str], disclosed: dict[str, Any] | None) -> None:
        left = sorted(set(committed) - set(disclosed or {}))
        self.seen["disclosed"] += bool(disclosed) and not left
        self.seen["partly"] += bool(disclosed) and bool(left)
        self.seen["withheld"] += bool(committed) and not disclosed
        if disclosed and left:
            self.notes.append(f"{of}: not disclosed: {', '.join(left)}")
        for field, opening in (disclosed or {}).items():
            made = hmac.new(bytes.fromhex(opening["key"]), canonical(opening["value"]).encode(), hashlib.sha256)
            if not hmac.compare_digest(made.hexdigest(), committed.get(field, "")):
                self.faults.append(f"{of}: its {field} is not what the record committed to")


def recovery(index: int, body: Any) -> str:
    """What the leaf of a recovery says: that the log lost leaves when its database was restored from a backup."""
    first, last = body["restored"]["size"], body["lost"][-1][0] - 1
    return (
        f"leaf {index} is a recovery from a backup by {body['by']} at {body['at']} ({body['reason']}): leaves {first} "
        f"to {last} of an earlier history were lost, with {len(body['lost'])} signed checkpoints"
    )
