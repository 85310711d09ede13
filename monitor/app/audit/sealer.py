"""Seals the audit trail: queued rows become leaves, and witnesses get a signed checkpoint."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from monitor.audit.key import Signer
from monitor.audit.recovery import Recovery
from monitor.core.errors import MonitorError, WrongSettings
from monitor.store.audit.recovery import History, WitnessNotes
from monitor.store.audit.seal import Sealing

log = logging.getLogger(__name__)
_BEGINNING = (re.compile(rb"[^\s{}]+"), re.compile(rb"\d+"))  # of a checkpoint: the log's name, the number of leaves
_SIGNATURE = "\u2014 "  # begins the signature lines at the end of a note


class Witness(Protocol):
    """Keeps checkpoints where the owner of the database cannot change them; `shared`: those of other logs as well."""

    shared: bool

    def publish(self, note: str, key: str) -> None:
        """Stores the note, which may come twice, and the public key; raises a MonitorError if it cannot."""

    def read(self, *, recent: bool = False) -> WitnessNotes:
        """The notes that it can give back, none if it cannot; with `recent` some of the last ones.

        Raises a MonitorError if it cannot be read.
        """


@dataclass(slots=True, kw_only=True)
class Sealer:
    """Seals and signs at a given time, and gives each checkpoint to `witnesses`, whose keys are names for the log.

    Before that it compares the trail with what the witnesses know.

    `previous_keys` are public keys that may have signed earlier checkpoints. For one thread.
    """

    sealing: Sealing
    history: History
    signer: Signer
    previous_keys: tuple[str, ...] = ()
    witnesses: Mapping[str, Witness] = field(default_factory=dict)
    _unpublished: dict[str, str] = field(default_factory=dict, init=False)  # notes by witness

    def check(self) -> None:
        """Compares the trail with its key and its witnesses. One that cannot be read is logged, and left out.

        One that lacks the last checkpoint, as where a process ended before it had published it, is to get it.

        Raises:
            Contradicted: a witness knows more leaves than the database holds, or other ones.
            Retriable: the database is out of reach.
            WrongSettings: another key has signed the trail.
        """
        self.history.check_key(self.signer.verifier_key)
        for name, witness in self.witnesses.items():
            try:
                notes = witness.read(recent=True)
            except MonitorError as error:
                log.warning("the witness %s cannot be read, and is not compared with the trail: %s", name, error)
            else:
                lacking = self.history.check(notes, shared=witness.shared)
                if lacking is not None:
                    self._unpublished[name] = lacking

    def seal_and_sign(self, now: datetime) -> int:
        """Seals and signs everything queued, and gives the newest checkpoint to the witnesses.

        Returns the number of new leaves; 0 while another replica seals. A witness that fails is logged, and gets the
        newest checkpoint the next time.

        Raises:
            Contradicted, WrongSettings: as `check`, before anything is sealed.
            Retriable: the database is out of reach; rows sealed before stay sealed.
            Fatal: the stored tree is not the signed one.
        """
        self.check()
        leaves, note = 0, None
        try:
            while done := self.sealing.seal_batch(now, self.signer, self.previous_keys):
                leaves, note = leaves + done.leaves, done.note or note
                if not done.more:
                    break
        finally:
            self._publish(note)
        return leaves

    def _publish(self, note: str | None) -> None:
        if note is not None:
            self._unpublished = dict.fromkeys(self.witnesses, note)
        for name, unpublished in list(self._unpublished.items()):
            try:
                self.witnesses[name].publish(unpublished, self.signer.verifier_key)
            except MonitorError as error:
                log.warning("the witness %s did not take the checkpoint: %s; trying again later", name, error)
            else:
                del self._unpublished[name]

    def plan_recovery(self, copies: Sequence[Path], *, by: str, at: datetime, reason: str) -> Recovery | None:
        """What was lost when the database was restored, by all witnesses and by `copies` of their notes; None: nothing.

        Raises:
            Fatal: they contradict the stored leaves, which no recovery can excuse.
            MonitorError: a witness cannot be read.
        """
        known = [witness.read() for witness in self.witnesses.values()]
        known += [WitnessNotes(name=str(path), notes=list(notes_at(path))) for path in copies]
        return self.history.plan(known, by=by, at=at.isoformat(timespec="seconds"), reason=reason)

    def recover(self, recovery: Recovery, now: datetime) -> None:
        """Seals and signs the recovery, and gives the new checkpoint to the witnesses.

        Raises:
            Fatal: the trail has grown since the recovery was planned.
        """
        self._publish(self.history.seal(recovery, self.signer, now))


class CountedNotes:
    """Counts the notes that are taken from it; there may be a million, so they are never all in memory."""

    def __init__(self, notes: Iterable[str]) -> None:
        self._notes = notes
        self.count = 0

    def __iter__(self) -> Iterator[str]:
        for note in self._notes:
            self.count += 1
            yield note


def notes_at(path: Path) -> Iterator[str]:
    """The notes that are in a witness's file now, in order; what is added while they are read is left out.

    So whoever calls this before looking at the leaves compares no note with leaves from before it.

    Raises:
        WrongSettings: the file cannot be read, or does not begin with a checkpoint.
    """
    try:
        found = path.stat()
    except OSError as error:
        raise _unreadable(path, error) from None
    return _notes(path, found.st_size if S_ISREG(found.st_mode) else None)


def _notes(path: Path, size: int | None) -> Iterator[str]:
    def lines(file: Iterable[bytes]) -> Iterator[str]:
        read = seen = 0
        for line in file:
            if seen < len(_BEGINNING) and line.strip():
                if not _BEGINNING[seen].fullmatch(line.strip()):
                    raise WrongSettings(f"{path}: holds no checkpoints: name the file that a witness keeps")
                seen += 1
            if size is not None and read >= size:
                return
            read += len(line)
            yield line.decode()

    try:
        with path.open("rb") as file:
            yield from notes_in(lines(file))
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> WrongSettings:
    return WrongSettings(f"{path}: cannot be read: {error}")


def notes_in(lines: Iterable[str]) -> Iterator[str]:
    """The notes in lines, which keep their line ends; one may have been cut off, and an empty line ends it then."""
    note: list[str] = []
    for line in lines:
        is_behind = note and not line.startswith(_SIGNATURE)
        if is_behind and (note[-1].startswith(_SIGNATURE) or (line.strip() and not note[-1].strip())):
            yield "".join(note)
            note = []
        if note or line.strip():
            note.append(line)
    if note:
        yield "".join(note)
