"""The audit trail is sealed by the clock: what is queued becomes leaves, and a signed checkpoint goes to witnesses."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from monitor.audit.note import Signer
from monitor.core.errors import MonitorError, WrongSettings
from monitor.core.files import create
from monitor.store.audit.seal import Sealing

log = logging.getLogger(__name__)
_SIGNATURE = "\u2014 "  # how the lines begin that end a note


class Witness(Protocol):
    """Keeps checkpoints where the owner of the database cannot take them back."""

    def publish(self, note: str) -> None:
        """Keeps it; a MonitorError where it could not. The same note may come twice."""


@dataclass(slots=True, kw_only=True)
class Sealer:
    """Seals and signs at a given time; `witnesses` are told of each checkpoint, by the names that logs use.

    `previous_keys` are public keys that may have signed what is there. For one thread.
    """

    sealing: Sealing
    signer: Signer
    previous_keys: tuple[str, ...] = ()
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    _untold: dict[str, str] = field(default_factory=dict, init=False)  # the note that a witness has not got

    def seal(self, now: datetime) -> int:
        """Seals all that is queued; how many leaves it made. Nothing where another replica is at it.

        Raises:
            Retriable: the database is out of reach; what was sealed until then stays.
            Fatal: the stored tree is not the one that was signed.
        """
        leaves = 0
        while done := self.sealing.seal_batch(now):
            leaves += done.leaves
            if not done.more:
                break
        return leaves

    def checkpoint(self) -> str | None:
        """Signs the tree where it has grown, and tells the witnesses; the note, None where there is nothing new.

        A witness that fails is logged, and told of the newest checkpoint the next time.
        """
        note = self.sealing.checkpoint(self.signer, self.previous_keys)
        if note is not None:
            self._untold = dict.fromkeys(self.witnesses, note)
        for name, untold in list(self._untold.items()):
            try:
                self.witnesses[name].publish(untold)
            except MonitorError as error:
                log.warning("the checkpoint could not be given to the witness %s: %s; tried again later", name, error)
            else:
                del self._untold[name]
        return note

    def seal_and_sign(self, now: datetime) -> int:
        """Seals and signs; how many leaves it made. Raises as `seal` does."""
        leaves = self.seal(now)
        self.checkpoint()
        return leaves


def notes_at(path: Path) -> Iterator[str]:
    """The notes of a witness's file, one after the other.

    Raises:
        WrongSettings: the file cannot be read.
    """
    note: list[str] = []
    try:
        with path.open(encoding="utf-8", newline="\n") as file:
            for line in file:
                if note and note[-1].startswith(_SIGNATURE) and not line.startswith(_SIGNATURE):
                    yield "".join(note)
                    note = []
                if note or line.strip():
                    note.append(line)
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettings(f"{path}: cannot be read: {error}") from None
    if note:
        yield "".join(note)


def key_at(path: Path, origin: str) -> Signer:
    """The key of the file, which is made where there is none: readable by its owner only.

    Raises:
        WrongSettings: it cannot be read or written, others may read it, it is none, or is another log's.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists() and create(path, Signer.generate(origin).private_key + "\n", mode=0o600):
            log.warning("a new audit key was made: %s. Keep a copy of it, and its public key elsewhere", path)
        if path.stat().st_mode & 0o077:
            raise WrongSettings(f"{path}: others may read the audit key: chmod 600 {path}")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettings(f"{path}: the audit key cannot be read or made: {error}") from None
    signer = Signer.load(text)
    if signer.name != origin:
        raise WrongSettings(f"{path}: is the key of {signer.name}, MONITOR_AUDIT__ORIGIN is {origin}")
    return signer
