"""When the records were sealed, as far as that is proved."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from monitor.audit.verifier.notes import Key
from monitor.audit.verifier.terms import RECEIPT, SHOWN, TIMESTAMP, UTC, Fault
from monitor.audit.verifier.tokens import Receipt, openssl, signed_by_authority, stamped

LAST = datetime.max.replace(tzinfo=UTC)
LONGEST_HOST = 200


class Times:
    """When the checkpoints were signed and stamped, and how long after they occurred the records were sealed."""

    def __init__(self, key: Key, authority: Path | None) -> None:
        self.key, self.authority = key, authority
        self.signed: dict[int, datetime] = {}  # by the size of a checkpoint
        self.sizes: list[int] = []  # of these checkpoints, in order
        self.statements: dict[int, bytes] = {}  # what is stamped of a checkpoint
        self.stamps: list[tuple[int, str, str, bytes]] = []  # size, kind, witness, token
        self.good: list[tuple[int, datetime, str]] = []  # stamps whose signature is checked: size, time, witness
        self.first: list[tuple[datetime, str]] = []  # for each of `good` the earliest of those that are not smaller
        self.unchecked: list[str] = []
        self.seen: Counter[str] = Counter()
        self.wrong: list[str] = []  # what clocks contradict
        self.longest: timedelta | None = None  # from when a record occurred to a good stamp
        self.details: list[str] = []  # of the records
        self.before: tuple[str, datetime] | None = None

    def sign(self, size: int, note: str, at: datetime | None) -> None:
        """Takes a checkpoint whose signature is good, and the time that it says."""
        self.statements[size] = f"{note}\n{self.key.text}\n".encode()
        if at is not None:
            self.signed[size] = at
            self.sizes.append(size)

    def stamp(self, entry: Any) -> None:
        """Checks a time stamp of a checkpoint as far as that is possible here."""
        size, kind, witness = entry["size"], entry["kind"], entry["witness"]
        token, statement = b64decode(entry["token"], validate=True), self.statements.get(size)
        if not isinstance(witness, str):
            raise Fault("does not name who gave it")
        if statement is None:
            raise Fault(f"is of a checkpoint of {size} leaves, which is not here")
        of = f"the checkpoint of {size} leaves by {witness}"
        if kind == RECEIPT:
            receipt = Receipt(token)
            if receipt.digest != hashlib.sha256(statement).digest():
                raise Fault(f"the receipt for {of} is of something else")
            for height, root in receipt.bitcoin:
                self.unchecked.append(f"{of}: is older than the Bitcoin block {height}, if its Merkle root is {root}")
            if not receipt.bitcoin:
                self.unchecked.append(f"{of}: no Bitcoin block has it yet")
        elif kind == TIMESTAMP:
            self._timestamp(of, size, witness, token, statement)
        else:
            raise Fault(f"has the kind {kind!r}, which this program does not know")
        self.stamps.append((size, kind, witness, token))

    def _timestamp(self, of: str, size: int, witness: str, token: bytes, statement: bytes) -> None:
        function, digest, at = stamped(token)
        if digest != hashlib.new(function, statement).digest():
            raise Fault(f"the time stamp on {of} is of something else")
        if self.authority is None:
            self.unchecked.append(f"{of}: says {shown(at)}; its signature is not checked")
        elif problem := signed_by_authority(statement, token, at, self.authority):
            raise Fault(f"the time stamp on {of} is not signed by an authority of {self.authority}: {problem}")
        else:
            self.good.append((size, at, witness))
        signed = self.signed.get(size)
        if signed is not None and at < signed:
            self.wrong.append(
                f"{of} is stamped at {shown(at)}, before {shown(signed)}, when it says that it was signed: one of the "
                f"two clocks is wrong by {signed - at}"
            )

    def settle(self) -> None:
        """Finds the earliest stamp for every record, once all stamps are known."""
        self.good.sort()
        for _, at, witness in reversed(self.good):
            self.first.append(min([(at, witness), *self.first[-1:]]))
        self.first.reverse()

    def see(self, of: str, index: int, record: Any) -> None:
        """Takes the times of a record."""
        sealed = when(record.get("sealed_at"))
        occurred = when(record.get("occurred_at"))
        if sealed is None:
            return
        if self.before is not None and sealed < self.before[1]:
            self.wrong.append(f"{of} says that it was sealed before {self.before[0]}, which comes first")
        self.before = (of, sealed)
        if occurred is not None and sealed < occurred:
            self.wrong.append(f"{of} says that it was sealed at {shown(sealed)}, before it occurred: {shown(occurred)}")
        signed = self.signed.get(next(iter(self.sizes[bisect_right(self.sizes, index) :]), 0))
        exact = self.signed.get(index + 1)
        if exact is not None and exact != sealed.replace(microsecond=0):
            raise Fault(f"{of} says that it was sealed at {shown(sealed)}, its checkpoint at {shown(exact)}")
        stamp = next(iter(self.first[bisect_right(self.good, (index, LAST, "")) :]), None)
        self.seen["stamped" if stamp else "not stamped"] += 1
        if stamp and occurred is not None:
            self.longest = max(self.longest or timedelta(0), stamp[0] - occurred)
        if len(self.details) < SHOWN:
            parts = [f"occurred {shown(occurred)}"] if occurred else []
            parts.append(f"sealed {shown(sealed)}")
            parts += [f"in a checkpoint signed {shown(signed)}"] if signed else []
            parts += [f"time-stamped {shown(stamp[0])} by {stamp[1]}"] if stamp else []
            self.details.append(f"{of}: {', '.join(parts)}")

    def proved(self) -> Iterator[str]:
        """What good time stamps prove."""
        if self.good:
            longest = f", each at most {self.longest} after it occurred" if self.longest is not None else ""
            yield f"{self.seen['stamped']} records existed when an authority stamped a checkpoint{longest}"

    def open(self) -> Iterator[str]:
        """What is not proved about times."""
        if not self.good:
            yield "when the records were sealed: the log says it, and no checked time stamp"
        elif self.seen["not stamped"]:
            yield f"when {self.seen['not stamped']} records were sealed: no checked time stamp is of a later checkpoint"
        yield from self.unchecked[:SHOWN]
        if any(kind == TIMESTAMP for _, kind, _, _ in self.stamps) and self.authority is None:
            command = " ".join(openssl("stamps/SIZE.txt", "stamps/SIZE.txt.HOST.tsr", "CA.pem"))
            yield "to check time stamps, give the certificate of the authority: --tsa CA.pem (runs openssl)"
            yield f"or write them out with --stamps stamps, and run: {command}"
        if any(kind == RECEIPT for _, kind, _, _ in self.stamps):
            yield "to check receipts, look the block up, or: --stamps stamps, and: ots verify stamps/SIZE.txt.HOST.ots"

    def clocks(self) -> Iterator[str]:
        """What clocks contradict; the log cannot know which of them is right."""
        yield from (f"clocks: {line}" for line in self.wrong[:SHOWN])
        if len(self.wrong) > SHOWN:
            yield f"clocks: {len(self.wrong) - SHOWN} more like these"

    def write(self, folder: Path) -> None:
        """Writes each time stamp to the folder, and what was stamped."""
        folder.mkdir(parents=True, exist_ok=True)
        for size, kind, witness, token in self.stamps:
            host = re.sub(r"[^A-Za-z0-9.-]", "_", witness)[:LONGEST_HOST]
            folder.joinpath(f"{size}.txt").write_bytes(self.statements[size])
            ending = "tsr" if kind == TIMESTAMP else "ots"
            folder.joinpath(f"{size}.txt.{host}.{ending}").write_bytes(token)


def when(text: Any) -> datetime | None:
    """The time of a text that ends in Z, as the leaves have it; None for anything else."""
    try:
        return datetime.fromisoformat(f"{str(text).removesuffix('Z')}+00:00")
    except ValueError:
        return None


def shown(at: datetime) -> str:
    """A time for people, in UTC and whole seconds."""
    return at.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%SZ")
