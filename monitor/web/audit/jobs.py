"""Proves, verifies and exports the audit trail for the audit page."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from datetime import datetime

from monitor.app.audit.sealer import CountedNotes, notes_at
from monitor.app.wiring.application import Application
from monitor.audit.export import ExportAbout, stream_export
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
    progress(f"checking {Proofs(application.engine).status_in_time().size:,} leaves")
    found = verify(application.engine, keys, application.auditing.known_queue_key(), notes=notes, processes=1)
    findings = (*found.findings, *application.auditing.check_stamps(keys).findings)
    return VerifiedTrail(found=replace(found, findings=findings), notes=notes.count)


def export_zip(
    application: Application, *, app: str | None, start: datetime, end: datetime, disclose: bool, by: str
) -> tuple[bytes, Generator[bytes]]:
    """The first chunk of an export's ZIP, and the others, made while they are taken: nothing holds the whole.

    The act is recorded before the first chunk. One snapshot of the database is held until the last is taken, or the
    generator is closed.

    Raises:
        NotProved: nothing is signed yet, or not by the key of this machine.
        WrongSettings: there is no key.
        Retriable: the database is out of reach; also in between.
    """
    key = public_keys(application)[0]
    about = ExportAbout(app=app, start=start, end=end, made_at=application.now(), made_by=by, verifier_key=key)
    chunks = _export_chunks(Proofs(application.engine), about, disclose=disclose)
    first = next(chunks)  # what fails before it is raised here, and can be told as a page
    return first, chunks


def _export_chunks(proofs: Proofs, about: ExportAbout, *, disclose: bool) -> Generator[bytes]:
    body: dict[str, Json] = {"from": about.start.isoformat(), "to": about.end.isoformat(), "disclosed": disclose}
    kinds = (Kind.EXPORT, Kind.LOOK) if disclose else (Kind.EXPORT,)
    with proofs.snapshot() as trail:
        proofs.record(
            *(
                Act(kind=kind, by=about.made_by, at=about.made_at, app=about.app or "", subject="export", body=body)
                for kind in kinds
            )
        )
        # after a change of keys nothing may wait: then the act is what the next sealing signs with the new key
        notes = _signed_checkpoints(trail, about)
        yield from stream_export(
            records=trail.between(about.app, about.start, about.end, disclose=disclose),
            checkpoints=[note for _, note in notes],
            consistency=trail.consistency([size for size, _ in notes]),
            profiles=trail.profiles,
            rules=trail.rules,
            about=about,
            stamps=trail.stamps(notes, about.verifier_key),
        )


def _signed_checkpoints(trail: TrailSnapshot, about: ExportAbout) -> list[tuple[int, str]]:
    """The checkpoints that the key has signed, with the last one among them."""
    notes = trail.checkpoints(0, about.verifier_key, since=about.start, until=about.end)
    if not notes or notes[-1][0] != trail.size:
        raise NotProved("the last checkpoint is not signed by the key of this machine: run `monitor audit seal`")
    return notes
