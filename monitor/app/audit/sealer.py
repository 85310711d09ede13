"""Seals the audit trail: queued rows become leaves, and witnesses get a signed checkpoint; also the key's file."""

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
_SIGNATURE = "\u2014 "  # begins the signature lines at the end of a note


class Witness(Protocol):
    """Keeps checkpoints where the owner of the database cannot change them."""

    def publish(self, note: str) -> None:
        """Stores the note, which may come twice; raises a MonitorError if it cannot."""


@dataclass(slots=True, kw_only=True)
class Sealer:
    """Seals and signs at a given time, and gives each checkpoint to `witnesses`, whose keys are names for the log.

    `previous_keys` are public keys that may have signed earlier checkpoints. For one thread.
    """

    sealing: Sealing
    signer: Signer
    previous_keys: tuple[str, ...] = ()
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    _unpublished: dict[str, str] = field(default_factory=dict, init=False)  # notes by witness

    def seal(self, now: datetime) -> int:
        """Seals everything queued and returns the number of new leaves; 0 while another replica seals.

        Raises:
            Retriable: the database is out of reach; rows sealed before stay sealed.
            Fatal: the stored tree is not the signed one.
        """
        leaves = 0
        while done := self.sealing.seal_batch(now):
            leaves += done.leaves
            if not done.more:
                break
        return leaves

    def checkpoint(self) -> str | None:
        """Signs the tree if it has grown, and gives the note to the witnesses; returns None if there is nothing new.

        A witness that fails is logged, and gets the newest checkpoint the next time.
        """
        note = self.sealing.checkpoint(self.signer, self.previous_keys)
        if note is not None:
            self._unpublished = dict.fromkeys(self.witnesses, note)
        for name, unpublished in list(self._unpublished.items()):
            try:
                self.witnesses[name].publish(unpublished)
            except MonitorError as error:
                log.warning("the witness %s did not take the checkpoint: %s; trying again later", name, error)
            else:
                del self._unpublished[name]
        return note

    def seal_and_sign(self, now: datetime) -> int:
        """Seals and signs; returns the number of new leaves. Raises as `seal` does."""
        leaves = self.seal(now)
        self.checkpoint()
        return leaves


def notes_at(path: Path) -> Iterator[str]:
    """The notes in a witness's file, in order.

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
    """The key in the file; a missing file is created, readable by its owner only.

    Raises:
        WrongSettings: the file cannot be read or written, others may read it, or it holds no key of this log.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if not path.exists() and create(path, Signer.generate(origin).private_key + "\n", mode=0o600):
            log.warning(
                "created a new audit key: %s. Keep a copy of it, and what `monitor audit key` prints elsewhere",
                path,
            )
        if path.stat().st_mode & 0o077:
            raise WrongSettings(f"{path}: others may read the audit key: chmod 600 {path}")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise WrongSettings(f"{path}: cannot read or create the audit key: {error}") from None
    signer = Signer.load(text)
    if signer.name != origin:
        raise WrongSettings(f"{path}: is the key of {signer.name}, but MONITOR_AUDIT__ORIGIN is {origin}")
    return signer
