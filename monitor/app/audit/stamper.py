"""Has checkpoints time-stamped by authorities outside, beside the sealing, and checks stored time stamps."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from secrets import SystemRandom
from typing import Protocol

from monitor.audit.finding import Fault, Finding
from monitor.audit.note import NotProved, key_of, signed_at, statement
from monitor.audit.stamp import Stamp, StampKind, read_token
from monitor.core.errors import MonitorError
from monitor.store.audit.stamps import Stamps

log = logging.getLogger(__name__)

_WAITED = timedelta(days=30)  # for a block, before a receipt is given up
_ASKED = 20  # receipts a round
_any = SystemRandom()


class Authority(Protocol):
    """Gives time stamps; `name` is its host. `trusted`: `check` can tell a good signature from a bad one."""

    name: str
    kind: StampKind
    trusted: bool

    def stamp(self, content: bytes) -> bytes:
        """A time stamp of the content; raises Retriable or Fatal."""

    def complete(self, token: bytes) -> bytes | None:
        """The complete form of an earlier time stamp, None while there is none; raises Retriable or Fatal."""

    def check(self, token: bytes, content: bytes) -> None:
        """Raises NotProved where the authority has not signed the time stamp, as far as that can be told here."""


@dataclass(slots=True, kw_only=True)
class Stamper:
    """Has the newest checkpoint stamped by each authority once in every so often; `keys` are the log's public keys."""

    stamps: Stamps
    keys: Sequence[str]
    authorities: Sequence[Authority]
    every: timedelta

    def run(self, now: datetime, *, at_once: bool = False) -> list[Stamp]:
        """Asks each authority whose last time stamp is old enough, or all, and returns what they gave.

        One that fails is logged, and asked again the next time.
        """
        given = []
        for authority in self.authorities:
            try:
                given += self._stamp(authority, now, at_once=at_once)
            except MonitorError as error:
                log.warning("%s gave no time stamp: %s; trying again later", authority.name, error)
            try:
                given += self._complete(authority, now)
            except MonitorError as error:
                log.warning("the receipts of %s cannot be read: %s; trying again later", authority.name, error)
        return given

    def _stamp(self, authority: Authority, now: datetime, *, at_once: bool) -> list[Stamp]:
        last = self.stamps.last_checkpoint()
        if last is None:
            return []
        for stamp, note in self.stamps.newest(authority.name):
            fresh = not at_once and now - self.every < stamp.obtained_at <= now  # not where the clock was put back
            # one that somebody else stored does not keep this authority from being asked
            if (fresh or stamp.size == last.size) and self._fault(authority, stamp, note) is None:
                return []
        content = self._statement(last.note)
        token = authority.stamp(content)
        authority.check(token, content)
        return [self._kept(authority, last.size, token, content, now)]

    def _complete(self, authority: Authority, now: datetime) -> list[Stamp]:
        given = []
        incomplete = self.stamps.incomplete(authority.name, since=now - _WAITED)
        waiting = [(stamp, note) for stamp, note in incomplete if self._fault(authority, stamp, note) is None]
        # drawn, so that those that fail keep no other from being asked
        for stamp, note in _any.sample(waiting, min(_ASKED, len(waiting))):
            try:
                if (token := authority.complete(stamp.token)) is not None:
                    given.append(self._kept(authority, stamp.size, token, self._statement(note), now))
            except MonitorError as error:
                log.warning("the receipt of %s for %d leaves stays incomplete: %s", authority.name, stamp.size, error)
        return given

    def _kept(self, authority: Authority, size: int, token: bytes, content: bytes, now: datetime) -> Stamp:
        at, complete = read_token(authority.kind, token, content)
        stamp = Stamp(
            size=size,
            witness=authority.name,
            kind=authority.kind,
            token=token,
            obtained_at=now,
            stamped_at=at,
            complete=complete,
        )
        self.stamps.keep(stamp)
        return stamp

    def _statement(self, note: str) -> bytes:
        return statement(note, key_of(note, self.keys)).encode()

    def _fault(self, authority: Authority, stamp: Stamp, note: str) -> str | None:
        return fault_of(stamp, note, self.keys, [authority])


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedStamps:
    """What is wrong with the stored time stamps, how many were checked with a certificate, and how many were not.

    `clocks` says which checkpoints were signed, by the clock of this machine, after they were stamped;
    `unchecked_because` what is missing here to check those for which there is a certificate.
    """

    findings: tuple[Finding, ...]
    checked: int
    unchecked: int
    clocks: tuple[str, ...]
    unchecked_because: str | None = None


def check_stamps(
    stored: Iterable[tuple[Stamp, str | None]], keys: Sequence[str], authorities: Sequence[Authority]
) -> CheckedStamps:
    """Checks stored time stamps, each with the note of its checkpoint, if there is one.

    Without an authority's certificate its signature is not checked.
    """
    findings, clocks, counts = [], [], [0, 0]
    trusted = {(authority.name, authority.kind) for authority in authorities if authority.trusted}
    for stamp, note in stored:
        of = f"the time stamp of the checkpoint of {stamp.size} leaves by {stamp.witness}"
        fault = None if note is None else fault_of(stamp, note, keys, authorities)
        if note is None or fault is not None:
            why = fault or "no such checkpoint is stored"
            findings.append(Finding(fault=Fault.WITNESS, sentence=f"{of} proves nothing: {why}"))
            continue
        counts[(stamp.witness, stamp.kind) in trusted] += 1
        signed = signed_at(note, key_of(note, keys))
        if signed is not None and stamp.stamped_at is not None and stamp.stamped_at < signed:
            clocks.append(
                f"{of} says {stamp.stamped_at.isoformat()}, before the checkpoint was signed: "
                f"{signed.isoformat()}; the clock of one of the two is wrong"
            )
    return CheckedStamps(findings=tuple(findings), checked=counts[True], unchecked=counts[False], clocks=tuple(clocks))


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownStamp:
    """A time stamp for people: what is wrong with it, None where nothing is, and whether its signature was checked."""

    stamp: Stamp
    fault: str | None
    checked: bool


def shown_stamps(
    stored: Iterable[tuple[Stamp, str]], keys: Sequence[str], authorities: Sequence[Authority]
) -> list[ShownStamp]:
    """Stored time stamps, each with the note of its checkpoint, as they may be shown.

    One of an authority that is not configured any more, or whose certificate is not, is not checked.
    """
    trusted = {(authority.name, authority.kind) for authority in authorities if authority.trusted}
    found = [(stamp, fault_of(stamp, note, keys, authorities)) for stamp, note in stored]
    return [
        ShownStamp(stamp=stamp, fault=fault, checked=fault is None and (stamp.witness, stamp.kind) in trusted)
        for stamp, fault in found
    ]


def fault_of(stamp: Stamp, note: str, keys: Sequence[str], authorities: Sequence[Authority]) -> str | None:
    """What is wrong with a stored time stamp, in words; None where nothing is, as far as that can be told here."""
    try:
        content = statement(note, key_of(note, keys)).encode()
        if read_token(stamp.kind, stamp.token, content) != (stamp.stamped_at, stamp.complete):
            return "the row contradicts it"
        for authority in authorities:
            if authority.name == stamp.witness:
                if authority.kind is not stamp.kind:
                    return f"{authority.name} gives none of the kind {stamp.kind}"
                authority.check(stamp.token, content)
    except NotProved as error:
        return str(error)
    return None
