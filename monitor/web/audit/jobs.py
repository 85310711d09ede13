"""Verifying and exporting the audit trail for somebody at the dashboard."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from tempfile import TemporaryFile
from typing import IO

from monitor.app.audit.sealer import notes_at
from monitor.app.wiring.application import Application
from monitor.audit.export import ExportAbout, ExportedRecord, write_export
from monitor.audit.merkle import leaf_hash, verify_inclusion
from monitor.audit.note import Checkpoint, NotProved
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.store.audit.proofs import Proofs, TrailSnapshot
from monitor.store.audit.seal import opened_by
from monitor.store.audit.verify import Verification, verify
from monitor.store.audit_queue import Act, Kind
from monitor.web.base.jobs import Progress

_CHUNK = 2**16


@dataclass(slots=True, kw_only=True)
class LastVerification:
    """What the last verification by this process found; None before the first."""

    result: Verification | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """A leaf, and whether the signed checkpoint proves it."""

    record: ExportedRecord
    proved: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Proven:
    """The leaves about one thing under a signed checkpoint."""

    checkpoint: Checkpoint
    proofs: tuple[Proof, ...]


def public_keys(application: Application) -> list[str]:
    """Those that checkpoints are checked with; no key is made for that.

    Raises:
        WrongSettings: there is none on this machine, or it cannot be read.
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


def proven(application: Application, app: str, subject: str) -> Proven:
    """The leaves about an interaction, or whatever an act was about.

    Raises:
        NotProved: nothing is signed yet, or by none of our keys.
        WrongSettings: there is no key.
        Retriable: the database is out of reach.
    """
    keys = public_keys(application)
    with Proofs(application.engine).snapshot() as trail:
        checkpoint = opened_by(trail.note, keys)
        records = trail.about(subject, app, disclose=False)
        size = trail.size
    return Proven(
        checkpoint=checkpoint,
        proofs=tuple(
            Proof(
                record=its,
                proved=verify_inclusion(its.index, size, leaf_hash(its.body.encode()), checkpoint.root, its.proof),
            )
            for its in records
        ),
    )


def verification(application: Application, report: Progress) -> Verification:
    """Checks all of the trail against the rows and the witness's file, in this process.

    Raises:
        WrongSettings: there is no key, or the witness's file cannot be read.
        Retriable: the database is out of reach.
    """
    keys, file = public_keys(application), application.auditing.witness_file
    witnessed = file.exists()
    size = Proofs(application.engine).status().size
    report(f"{size:,} leaves, {'against the witness' if witnessed else 'without a witness'}")
    return verify(application.engine, keys, notes=notes_at(file) if witnessed else (), processes=1)


def exported(
    application: Application, *, app: str | None, start: datetime, end: datetime, disclose: bool, by: str
) -> Iterator[bytes]:
    """The ZIP of an export, once the trail has that it was made; written to disk first, so that it is whole.

    Raises:
        NotProved: nothing is signed yet, or not by the key of this machine.
        WrongSettings: there is no key.
        Retriable: the database is out of reach.
    """
    now, key, proofs = application.now(), public_keys(application)[0], Proofs(application.engine)
    body: dict[str, Json] = {"from": start.isoformat(), "to": end.isoformat(), "disclosed": disclose}
    kinds = (Kind.EXPORT, Kind.LOOK) if disclose else (Kind.EXPORT,)
    about = ExportAbout(app=app, start=start, end=end, made_at=now, made_by=by, verifier_key=key)
    file = TemporaryFile()  # noqa: SIM115  it is read after this has returned
    try:
        with proofs.snapshot() as trail:
            notes = _signed(trail, key)
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
            )
    except BaseException:
        file.close()
        raise
    file.seek(0)
    return _chunks(file)


def _signed(trail: TrailSnapshot, key: str) -> list[tuple[int, str]]:
    """The checkpoints that the key signed, the last one among them."""
    notes = trail.checkpoints(0, key)
    if not notes or notes[-1][0] != trail.size:
        raise NotProved("the last checkpoint is not signed by the key of this machine: seal first")
    return notes


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK):
            yield chunk
