"""Proves, verifies and exports the audit trail for the audit page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO

from monitor.app.audit.sealer import CountedNotes, notes_at
from monitor.app.wiring.application import Application
from monitor.audit.export import ExportAbout, write_export
from monitor.audit.note import NotProved
from monitor.audit.proof import SubjectProof
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.core.text.plain import plural
from monitor.store.audit.proofs import Proofs
from monitor.store.audit.snapshot import TrailSnapshot
from monitor.store.audit.verify import Verification, verify
from monitor.store.audit_queue import Act, Kind
from monitor.web.base.jobs import Progress

_CHUNK = 2**16


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedTrail:
    """What a verification found, and with how many notes of the witness it compared the trail.

    Without notes it had no witness: a history that was replaced as a whole would pass.
    """

    found: Verification
    notes: int

    @property
    def summary(self) -> str:
        """What came of it, in a sentence; without a witness it never says that the trail is intact."""
        found = self.found
        against = f"against {plural(self.notes, 'checkpoint')} of the witness" if self.notes else "without a witness"
        size = f"{plural(found.size, 'leaf', 'leaves')} and {plural(found.checkpoints, 'checkpoint')}"
        checked = f"{size} checked {against}"
        if found.findings:
            return f"{checked}: {plural(len(found.findings), 'finding')}"
        return f"{checked}: {'the trail is intact' if self.notes else 'no change within them'}"


@dataclass(slots=True, kw_only=True)
class LastVerification:
    """What came of the last verification by this process; None before the first."""

    result: VerifiedTrail | None = None


def public_keys(application: Application) -> list[str]:
    """The keys to check checkpoints with; makes no new key.

    Raises:
        WrongSettings: this machine has no key, or cannot read it.
    """
    path = application.settings.audit.key_file or application.settings.state_dir / "audit" / "key"
    previous = list(application.settings.audit.previous_keys)
    if path.exists():
        return [application.auditing.key.verifier_key, *previous]
    if previous:
        return previous
    raise WrongSettings(
        "the audit key is not on this machine: set MONITOR_AUDIT__KEY_FILE, or its public key as "
        "MONITOR_AUDIT__PREVIOUS_KEYS"
    )


def prove_leaves(application: Application, app: str, subject: str) -> SubjectProof:
    """The leaves about an interaction, or about the subject of an act, with their proofs.

    Raises:
        NotProved: nothing is signed yet, or none of our keys has signed it.
        WrongSettings: there is no key.
        Retriable: the database is out of reach.
    """
    keys = public_keys(application)
    with Proofs(application.engine).snapshot() as trail:
        return trail.prove(subject, app, keys, disclose=False)


def verify_trail(application: Application, progress: Progress) -> VerifiedTrail:
    """Checks the whole trail against the stored rows and the witness's file, if it is there, in this process.

    Raises:
        WrongSettings: there is no key, or the witness's file cannot be read.
        Retriable: the database is out of reach.
    """
    keys, file = public_keys(application), application.auditing.witness_file
    notes = CountedNotes(notes_at(file) if file.exists() else ())
    progress(f"checking {Proofs(application.engine).status().size:,} leaves")
    found = verify(application.engine, keys, application.auditing.known_queue_key(), notes=notes, processes=1)
    findings = (*found.findings, *application.auditing.check_stamps(keys).findings)
    return VerifiedTrail(found=replace(found, findings=findings), notes=notes.count)


def export_zip(
    application: Application, *, app: str | None, start: datetime, end: datetime, disclose: bool, by: str
) -> Iterator[bytes]:
    """The ZIP of an export in chunks. The act is recorded first, and the file is complete before the first chunk.

    Raises:
        NotProved: nothing is signed yet, or not by the key of this machine.
        WrongSettings: there is no key.
        Retriable: the database is out of reach.
    """
    now, key, proofs = application.now(), public_keys(application)[0], Proofs(application.engine)
    body: dict[str, Json] = {"from": start.isoformat(), "to": end.isoformat(), "disclosed": disclose}
    kinds = (Kind.EXPORT, Kind.LOOK) if disclose else (Kind.EXPORT,)
    about = ExportAbout(app=app, start=start, end=end, made_at=now, made_by=by, verifier_key=key)
    file = TemporaryFile()  # noqa: SIM115  the caller reads it after this function has returned
    try:
        with proofs.snapshot() as trail:
            notes = _signed_checkpoints(trail, about)
            proofs.record(
                *(Act(kind=kind, by=by, at=now, app=app or "", subject="export", body=body) for kind in kinds)
            )
            write_export(
                file,
                records=trail.between(app, start, end, disclose=disclose),
                checkpoints=[note for _, note in notes],
                consistency=trail.consistency([size for size, _ in notes]),
                profiles=trail.profiles,
                rules=trail.rules,
                about=about,
                stamps=trail.stamps(notes, key),
            )
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return _chunks(file)


def _signed_checkpoints(trail: TrailSnapshot, about: ExportAbout) -> list[tuple[int, str]]:
    """The checkpoints that the key has signed, with the last one among them."""
    notes = trail.checkpoints(0, about.verifier_key, since=about.start, until=about.end)
    if not notes or notes[-1][0] != trail.size:
        raise NotProved("the last checkpoint is not signed by the key of this machine: seal first")
    return notes


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
