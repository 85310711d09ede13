"""The commands `monitor audit …`."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from monitor.app.wiring.application import Application
    from monitor.audit.export import ExportedRecord

audit_app = typer.Typer(
    name="audit", no_args_is_help=True, help="The tamper-evident trail of what was stored and done."
)
_Disclose = Annotated[
    bool, typer.Option("--disclose", help="With texts, and the keys that prove them; that somebody looked is sealed.")
]
_By = Annotated[str | None, typer.Option("--by", help="Who does it, for the trail; default: your login.")]
_SHOWN = 200  # findings on a terminal


@audit_app.command("seal")
def audit_seal(
    *,
    missing: Annotated[
        bool, typer.Option("--missing", help="Look through all stored rows for what is in no leaf, and seal that too.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Seal now what waits, and sign a checkpoint."""
    from monitor.store.audit.backfill import look_for_missing
    from monitor.store.audit.proofs import Proofs

    with opened() as application:
        if missing:
            look_for_missing(application.engine, application.now())
        leaves = application.auditing.sealer().seal_and_sign(application.now())
        status = Proofs(application.engine).status()
    if as_json:
        print_json({"leaves": leaves, **asdict(status)})
    else:
        typer.echo(f"{leaves} sealed; {status.size} leaves, {status.signed} of them signed")
        if status.waiting or status.backfilling:
            typer.echo("not all that waits is sealed: another process is at it", err=True)


@audit_app.command("verify")
def audit_verify(
    *,
    processes: Annotated[int | None, typer.Option(min=1, help="Default: one per core.")] = None,
    start: Annotated[int, typer.Option("--from", min=0, help="Leaves from this number on; rows all the same.")] = 0,
    witness: Annotated[
        Path | None, typer.Option(help="Checkpoints that were kept elsewhere; default: the configured file.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(help="The public key, name+hash+base64; default: of the configured key.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check every leaf, checkpoint and row; exits with 1 and names all that was changed."""
    from monitor.app.audit.sealer import notes_at
    from monitor.store.audit.verify import processes_for, verify

    with opened() as application:
        keys = key or [application.auditing.key.verifier_key, *application.settings.audit.previous_keys]
        file = witness or (application.auditing.witness_file if application.auditing.witness_file.exists() else None)
        found = verify(
            application.engine, keys, start=start, notes=() if file is None else notes_at(file),
            processes=processes or processes_for(application.engine),
        )  # fmt: skip
    if as_json:
        print_json({**asdict(found), "witness": None if file is None else str(file)})
    else:
        out = Console(highlight=False, soft_wrap=True)
        for finding in found.findings[:_SHOWN]:
            out.print(f"[red]{finding.fault}[/] {literal(finding.sentence)}")
        if len(found.findings) > _SHOWN:
            out.print(f"and {len(found.findings) - _SHOWN} more; --json has them all")
        what = f"{found.size - found.start} of {found.size} leaves" if found.start else f"{found.size} leaves"
        out.print(f"{what}, {found.checkpoints} checkpoints, {found.waiting} waiting to be sealed")
        if found.signed < found.size:
            out.print(f"the last {found.size - found.signed} leaves are not signed yet")
        if found.backfilling:
            out.print(
                "what was stored before there was a trail is not all sealed yet: what is in no leaf was not looked at"
            )
        out.print(f"checked against {file}" if file else "no witness: a history that was replaced whole would pass")
        out.print("[bold red]the trail does not hold[/]" if found.findings else "[green]the trail holds[/]")
    if found.findings:
        raise typer.Exit(1)


@audit_app.command("prove")
def audit_prove(
    id_: Annotated[
        str, typer.Argument(metavar="ID", help="Id of an interaction, or APP/ID, or whatever an act was about.")
    ],
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="Where several apps share the id.")] = None,
    disclose: _Disclose = False,
    by: _By = None,
) -> None:
    """Print what was sealed of an interaction with its proofs, as JSON, having checked them and the stored rows."""
    from monitor.audit.merkle import leaf_hash, verify_inclusion
    from monitor.store.audit.proofs import Proofs
    from monitor.store.audit.seal import opened_by
    from monitor.store.audit_queue import Act, Kind

    with opened() as application:
        proofs, keys = Proofs(application.engine), [application.auditing.key.verifier_key]
        keys += application.settings.audit.previous_keys
        with proofs.snapshot() as trail:
            named = next((one for one in _spellings(id_, app_name) if trail.about(*one, disclose=False)), None)
        if named is None:
            typer.echo(
                f"no such interaction is sealed: {id_!r}; what waits is sealed by `monitor audit seal`", err=True
            )
            raise typer.Exit(1)
        if disclose:
            look = Act(kind=Kind.LOOK, by=_who(by), at=application.now(), app=named[1] or "", subject=named[0])
            proofs.record(look)
        with proofs.snapshot() as trail:
            checkpoint = opened_by(trail.note, keys)
            records = trail.about(*named, disclose=disclose)
            size, note = trail.size, trail.note
    hold = [verify_inclusion(r.index, size, leaf_hash(r.body.encode()), checkpoint.root, r.proof) for r in records]
    print_json({
        "id": named[0], "proved": all(hold), "stored": _together(records), "checkpoint": note, "size": size,
        "key": keys[0],
        "records": [_record(record, proved=proved) for record, proved in zip(records, hold, strict=True)],
    })  # fmt: skip
    for record in records:
        _say_differing(record.index, named[0], record.differs)
    if not all(hold) or any(record.differs for record in records):
        raise typer.Exit(1)


@audit_app.command("export")
def audit_export(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The ZIP to write.")],
    app_name: Annotated[str | None, typer.Option("--app", help="Only this app's.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Answers from this time on, ISO 8601; UTC if not said.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="And before this one.")] = None,
    disclose: _Disclose = False,
    by: _By = None,
) -> None:
    """Write records with proofs, checkpoints, profiles, rules and a verifier that needs nothing but Python."""
    from monitor.audit.export import ExportAbout, write_export
    from monitor.audit.note import NotProved
    from monitor.store.audit.proofs import Proofs
    from monitor.store.audit_queue import Act, Kind

    with opened() as application:
        now, who, key = application.now(), _who(by), application.auditing.key.verifier_key
        since, until = _time(start, datetime(1, 1, 1, tzinfo=UTC)), _time(end, now + timedelta(days=1))
        proofs = Proofs(application.engine)
        body: dict[str, Any] = {"from": since.isoformat(), "to": until.isoformat(), "disclosed": disclose}
        kinds = (Kind.EXPORT, Kind.LOOK) if disclose else (Kind.EXPORT,)
        proofs.record(
            *(Act(kind=kind, by=who, at=now, app=app_name or "", subject="export", body=body) for kind in kinds)
        )
        about = ExportAbout(app=app_name, start=since, end=until, made_at=now, made_by=who, verifier_key=key)
        with proofs.snapshot() as trail:
            notes = trail.checkpoints(0, key)
            if not notes or notes[-1][0] != trail.size:
                raise NotProved("the last checkpoint is not signed by the configured key: run `monitor audit seal`")
            try:
                with output.open("wb") as file:
                    manifest = write_export(
                        file, records=trail.between(app_name, since, until, disclose=disclose),
                        checkpoints=[note for _, note in notes],
                        consistency=trail.consistency([size for size, _ in notes]),
                        profiles=trail.profiles, rules=trail.rules, about=about,
                    )  # fmt: skip
            except OSError as error:
                raise WrongSettings(f"{output}: cannot be written: {error.strerror}") from None
    counts: Any = manifest["counts"]
    differs: Any = manifest["differs"]
    typer.echo(f"{counts['records']} records in {output}; check it with: python verify.py {output.name} --key '{key}'")
    for one in differs[:_SHOWN]:
        _say_differing(one["index"], f"{one['app']}/{one['id']}", one["how"])
    if len(differs) > _SHOWN:
        typer.echo(f"and {len(differs) - _SHOWN} more; manifest.json of the export has them all", err=True)
    if differs:
        raise typer.Exit(1)


@audit_app.command("key")
def audit_key() -> None:
    """Print the public key, which proves checkpoints; keep it where nobody of this installation can change it."""
    with opened(migrated=False) as application:
        typer.echo(application.auditing.key.verifier_key)


@audit_app.command("status")
def audit_status(*, as_json: AsJson = False) -> None:
    """Show how far sealing is, and who witnesses it."""
    from monitor.store.audit.proofs import Proofs

    with opened() as application:
        status, now = Proofs(application.engine).status(), application.now()
        witnesses = _witnesses(application)
    if as_json:
        print_json({**asdict(status), "witnesses": witnesses})
        return
    typer.echo(f"{status.size} leaves, {status.signed} of them signed" + (
        f", the last at {status.signed_at.isoformat()}" if status.signed_at else ""
    ))  # fmt: skip
    since = f", the oldest for {(now - status.waiting_since).total_seconds():.0f} s" if status.waiting_since else ""
    typer.echo(f"{status.waiting} waiting to be sealed{since}")
    if status.signed_at is None:
        typer.echo("nobody has sealed yet: `monitor run` does, or `monitor audit seal`")
    elif status.backfilling:
        typer.echo("what was stored before there was a trail is being sealed")
    typer.echo(f"witnesses: {', '.join(witnesses)}")


def _witnesses(application: Application) -> list[str]:
    audit = application.settings.audit
    topic = [f"Kafka topic {audit.witness_topic}"] if audit.witness_topic else []
    return [str(application.auditing.witness_file), *topic, *(["Slack"] if audit.witness_slack else [])]


def _record(record: ExportedRecord, *, proved: bool) -> dict[str, Any]:
    return {
        "index": record.index, "proved": proved, "body": record.body, "proof": _base64(record.proof),
        "disclosed": record.disclosed, "stored": record.stored, "differs": list(record.differs),
    }  # fmt: skip


def _together(records: Sequence[ExportedRecord]) -> str | None:
    """The state of the rows in one word, that of the newest leaf unless one differs; None where there is no row."""
    from monitor.audit.export import Stored

    states = [record.stored for record in records if record.stored]
    return Stored.DIFFERS if Stored.DIFFERS in states else states[-1] if states else None


def _say_differing(index: int, name: str, how: Sequence[str]) -> None:
    for sentence in how:
        typer.echo(readable(f"not stored as sealed: {name}, leaf {index}: {sentence}"), err=True)


def _spellings(name: str, app: str | None) -> Iterator[tuple[str, str | None]]:
    """Id and app that a name may mean: the id alone, or APP/ID; both may hold slashes."""
    yield name, app
    if app is None:
        for place, letter in enumerate(name):
            if letter == "/" and 0 < place < len(name) - 1:
                yield name[place + 1 :], name[:place]


def _base64(hashes: Sequence[bytes]) -> list[str]:
    return [b64encode(one).decode() for one in hashes]


def _who(by: str | None) -> str:
    from monitor.app.review import login_name, person

    return login_name() if by is None else person(by)


def _time(said: str | None, otherwise: datetime) -> datetime:
    if said is None:
        return otherwise
    try:
        at = datetime.fromisoformat(said)
    except ValueError:
        raise WrongSettings(f"{said!r} is no time: write 2026-03-01 or 2026-03-01T12:00:00Z") from None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
