"""The commands `monitor audit prove` and `monitor audit export`: records with their proofs, for others to check."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from monitor.cli.opening import opened
from monitor.cli.terminal import actor, plural, point_in_time, print_json, tag_option
from monitor.core.errors import WrongSettings
from monitor.core.files import output_file, replacing
from monitor.core.text.interaction_name import meanings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.audit.export import ExportAbout, ExportedRecord
    from monitor.store.audit.snapshot import TrailSnapshot

_Disclose = Annotated[
    bool, typer.Option("--disclose", help="Include texts and the keys that prove them; the trail records that you did.")
]
_By = Annotated[str | None, typer.Option("--by", help="Your name for the audit trail; default: your login.")]
_SHOWN = 200  # differing records on a terminal
_IN_EVERY_EXPORT = {"profile", "rules", "rules-version", "recovery"}  # kinds that no app or time leaves out
_FIRST_TIME = datetime(1, 1, 1, tzinfo=UTC)


def prove(
    name: Annotated[str, typer.Argument(metavar="APP/ID", help="An interaction, or the subject of an act; or its id.")],
    *,
    app_name: Annotated[str | None, typer.Option("--app", help="The app, where several share the id.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; default: standard output.")
    ] = None,
    disclose: _Disclose = False,
    by: _By = None,
) -> None:
    """Check the sealed records of an interaction against its stored rows, and write them with proofs as JSON.

    The file is all that `verify.py` needs beside the public key.
    """
    from monitor.store.audit.proofs import Proofs
    from monitor.store.audit_queue import Act, Kind

    with opened() as application:
        proofs, keys = Proofs(application.engine), application.auditing.public_keys()
        with proofs.snapshot() as trail:
            meant = (its for its in meanings(name, app_name) if trail.about(its[1], its[0], disclose=False))
            app, id_ = next(meant, (None, ""))
        if not id_:
            typer.echo(f"no such interaction is sealed: {name!r}; `monitor audit seal` seals what waits", err=True)
            raise typer.Exit(1)
        if disclose:
            proofs.record(Act(kind=Kind.LOOK, by=actor(by), at=application.now(), app=app or "", subject=id_))
        with proofs.snapshot() as trail:
            proof = trail.prove(id_, app, keys, disclose=disclose)
    found = proof.json()
    if output is None:
        print_json(found)
    else:
        _write_json(output, found)
        check = f"monitor audit verifier > verify.py && python3 verify.py {quote(str(output))} --key '{proof.key}'"
        typer.echo(f"{plural(len(proof.records), 'record')} in {output}; check it with: {check}")
    for record in proof.records:
        _print_differing(record.index, id_, record.differs)
    if not found["proved"] or any(record.differs for record in proof.records):
        raise typer.Exit(1)


def verifier() -> None:
    """Print `verify.py`, which checks exports and proofs with Python alone."""
    from monitor.audit.standalone import verify_py

    typer.echo(verify_py(), nl=False)


def export(
    *,
    output: Annotated[Path, typer.Option("--output", "-o", help="The ZIP file to write.")],
    app_name: Annotated[str | None, typer.Option("--app", help="Only this app.")] = None,
    start: Annotated[
        str | None, typer.Option("--from", help="Only answers from this time on, ISO 8601; UTC without an offset.")
    ] = None,
    end: Annotated[str | None, typer.Option("--to", help="Only answers before this time.")] = None,
    conversation: Annotated[
        str | None, typer.Option(metavar="ID", help="Only answers of this conversation, of any time.")
    ] = None,
    trace: Annotated[str | None, typer.Option(metavar="ID", help="Only answers of this trace.")] = None,
    tag: Annotated[
        str | None,
        typer.Option(metavar="NAME=VALUE", help="Only answers with this tag, also where redaction has masked it."),
    ] = None,
    disclose: _Disclose = False,
    by: _By = None,
) -> None:
    """Write records with proofs, checkpoints, profiles, rules and a verifier that needs nothing but Python.

    Exits with 1 if stored rows are not what was sealed, or if there is no record.
    """
    from monitor.audit.export import ExportAbout
    from monitor.privacy.masking import redact
    from monitor.privacy.tag_digest import tag_digests
    from monitor.store.audit.proofs import Proofs
    from monitor.store.audit_queue import Act, Kind
    from monitor.store.interaction.filters import ExactValues, answers_with

    wanted = None if tag is None else tag_option(tag)
    with opened() as application:
        digests = () if wanted is None else tag_digests(application.auditing.known_tag_keys(), *wanted)
        exact = ExactValues(conversation=conversation, trace=trace, tag=wanted, tag_digests=digests)
        now, who, key = application.now(), actor(by), application.auditing.key.verifier_key
        since = _FIRST_TIME if start is None else point_in_time(start, "--from")
        until = now + timedelta(days=1) if end is None else point_in_time(end, "--to")
        proofs = Proofs(application.engine)
        answers = answers_with(application.engine, exact, app=app_name, start=since, end=until) if exact else None
        if answers == []:
            typer.echo("no stored answer has that; erased and removed ones are found by their id alone", err=True)
            raise typer.Exit(1)
        body: dict[str, Any] = {"from": since.isoformat(), "to": until.isoformat(), "disclosed": disclose}
        if exact:
            body["only"] = list(exact.fields)  # without the values: the trail keeps this for good
        kinds = (Kind.EXPORT, Kind.LOOK) if disclose else (Kind.EXPORT,)
        proofs.record(
            *(Act(kind=kind, by=who, at=now, app=app_name or "", subject="export", body=body) for kind in kinds)
        )
        chosen = (f"{field} {redact(value)}" for field, value in zip(exact.fields, exact.values, strict=True))
        about = ExportAbout(
            app=app_name,
            start=since,
            end=until,
            made_at=now,
            made_by=who,
            verifier_key=key,
            only=" and ".join(chosen) or None,
        )
        with proofs.snapshot() as trail:
            records = (
                trail.between(app_name, since, until, disclose=disclose)
                if answers is None
                else trail.of_answers(answers, disclose=disclose)
            )
            manifest = _write_export(output, trail, about, records)
    counts: Any = manifest["counts"]
    differs: Any = manifest["differs"]
    file = quote(str(output))
    check = f"python3 -m zipfile -e {file} export && python3 export/verify.py {file} --key '{key}'"
    of_these = counts["kinds"].keys() - _IN_EVERY_EXPORT
    if not of_these:
        typer.echo("no record of that app and time is sealed: see --app, --from and --to", err=True)
    elif not counts["kinds"].get("interaction"):
        typer.echo("no answer is in the export: see --app, --from and --to, or `monitor audit seal` first", err=True)
    typer.echo(f"{plural(counts['records'], 'record')} in {output}; check it with: {check}")
    for record in differs[:_SHOWN]:
        _print_differing(record["index"], f"{record['app']}/{record['id']}", record["how"])
    if len(differs) > _SHOWN:
        typer.echo(f"and {len(differs) - _SHOWN} more; the export's manifest.json lists all of them", err=True)
    if differs or not (of_these or (app_name is None and counts["records"])):  # an app that nothing is of is misspelt
        raise typer.Exit(1)


def _write_export(
    output: Path, trail: TrailSnapshot, about: ExportAbout, records: Iterable[ExportedRecord]
) -> Mapping[str, Any]:
    """Writes the ZIP and returns its manifest.

    Raises:
        NotProved: the configured key has not signed the end of the trail.
        WrongSettings: the file cannot be written.
    """
    from monitor.audit.export import write_export
    from monitor.audit.note import NotProved

    notes = trail.checkpoints(0, about.verifier_key, since=about.start, until=about.end)
    if not notes or notes[-1][0] != trail.size:
        raise NotProved("the last checkpoint is not signed by the configured key: run `monitor audit seal`")
    try:
        with replacing(output) as file:
            return write_export(
                file,
                records=records,
                checkpoints=[note for _, note in notes],
                consistency=trail.consistency([size for size, _ in notes]),
                profiles=trail.profiles,
                rules=trail.rules,
                about=about,
                stamps=trail.stamps(notes, about.verifier_key),
            )
    except OSError as error:
        raise WrongSettings(f"{output}: cannot be written: {error.strerror}") from None


def _write_json(output: Path, value: Mapping[str, Any]) -> None:
    with output_file(output) as file:
        file.write(json.dumps(value, ensure_ascii=False, indent=2) + "\n")


def _print_differing(index: int, name: str, how: Sequence[str]) -> None:
    for sentence in how:
        typer.echo(readable(f"not stored as sealed: {name}, leaf {index}: {sentence}"), err=True)
