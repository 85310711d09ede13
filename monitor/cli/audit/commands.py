"""The commands `monitor audit seal`, `verify`, `key` and `status`."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from monitor.audit.finding import Fault
from monitor.audit.record import portable
from monitor.cli.audit.disclosure import export, prove, verifier
from monitor.cli.audit.recover import description, recover
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, actor, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.model import Json
from monitor.core.text.plain import plural, readable

if TYPE_CHECKING:
    from monitor.app.audit.stamper import CheckedStamps, ShownStamp
    from monitor.app.wiring.application import Application
    from monitor.store.audit.checks.positions import CoveredPartition
    from monitor.store.audit.verify import Verification

audit_app = typer.Typer(
    name="audit", no_args_is_help=True, help="Seal, verify, prove and export the tamper-evident audit trail."
)
_SHOWN = 200  # findings on a terminal
_PARTITIONS = 20


@audit_app.command("seal")
def audit_seal(
    *,
    missing: Annotated[
        bool,
        typer.Option("--missing", help="Also seal rows that no leaf holds, and which offsets no statement covers."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Seal now what waits, and sign a checkpoint."""
    from monitor.store.audit.backfill import look_for_missing
    from monitor.store.audit.checks.positions import state_gaps
    from monitor.store.audit.proofs import Proofs

    with opened() as application:
        if missing:
            look_for_missing(application.engine, application.now())
        leaves = application.auditing.sealer().seal_and_sign(application.now())
        if missing and state_gaps(application.engine, by=actor(None), now=application.now()):
            leaves += application.auditing.sealer().seal_and_sign(application.now())
        status = Proofs(application.engine).status()
    if as_json:
        print_json({"leaves": leaves, **asdict(status)})
    else:
        typer.echo(f"sealed {leaves}; the trail has {status.size} leaves, {status.signed} of them signed")
        if status.waiting or status.backfilling:
            typer.echo("some rows still wait: another process is sealing them", err=True)


@audit_app.command("verify")
def audit_verify(
    *,
    processes: Annotated[int | None, typer.Option(min=1, help="Default: one per core.")] = None,
    start: Annotated[
        int, typer.Option("--from", min=0, help="Check leaves from this number on; all rows in any case.")
    ] = 0,
    witness: Annotated[
        Path | None, typer.Option(help="Checkpoints kept elsewhere; default: the configured file.")
    ] = None,
    key: Annotated[
        list[str] | None, typer.Option(help="Public key as name+hash+base64; default: the configured key's.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check every leaf, checkpoint and row, and name everything that was changed.

    Exits with 1 if anything was changed.
    """
    from monitor.app.audit.sealer import CountedNotes, notes_at
    from monitor.store.audit.verify import processes_for, verify

    with opened() as application:
        auditing = application.auditing
        keys = key or auditing.public_keys()
        file = witness or (auditing.witness_file if auditing.witness_file.exists() else None)
        notes = CountedNotes(() if file is None else notes_at(file))
        found = verify(
            application.engine,
            keys,
            auditing.known_queue_key(),
            start=start,
            notes=notes,
            processes=processes or processes_for(application.engine),
        )
        stamps = auditing.check_stamps(keys)
        found = replace(found, findings=(*found.findings, *stamps.findings))
    if as_json:
        counts = {name: value for name, value in asdict(stamps).items() if name != "findings"}
        against = {"witness": None if file is None else str(file), "witness_notes": notes.count}
        print_json({**asdict(found), **against, "stamps": counts})
    else:
        _print_verification(found, file, notes.count, stamps)
    if found.findings:
        raise typer.Exit(1)


def _print_verification(found: Verification, witness: Path | None, notes: int, stamps: CheckedStamps) -> None:
    out = Console(highlight=False, soft_wrap=True)
    for finding in found.findings[:_SHOWN]:
        out.print(f"[red]{finding.fault}[/] {literal(finding.sentence)}")
    if len(found.findings) > _SHOWN:
        out.print(f"and {len(found.findings) - _SHOWN} more; --json lists all of them")
    total = plural(found.size, "leaf", "leaves")
    leaves = f"{found.size - found.start} of {total}" if found.start else total
    out.print(f"{leaves}, {plural(found.checkpoints, 'checkpoint')}, {found.waiting} waiting to be sealed")
    if unsigned := found.size - found.signed:
        out.print(f"the last {'leaf is' if unsigned == 1 else f'{unsigned} leaves are'} not signed yet")
    _print_accounts(out, found)
    out.print(literal(_witnessed(witness, notes)))
    _print_stamps(out, stamps, found)
    if any(finding.fault is Fault.WITNESS for finding in found.findings):
        out.print(
            "if the database was restored from a backup: `monitor audit recover --reason WHY` records what was lost"
        )
    if found.findings:
        out.print("[bold red]the trail is not intact[/]")
    elif not found.size:
        out.print("nothing is sealed yet: `monitor run` and `collect` seal every minute, `monitor audit seal` now")
    else:
        result = "the trail is intact" if notes else "nothing was changed within the trail"
        unchecked = stamps.unchecked and stamps.unchecked_because is not None
        but = ", apart from its time stamps, whose signatures are not checked" if unchecked else ""
        out.print(f"[green]{result}[/]{but}")


def _witnessed(witness: Path | None, notes: int) -> str:
    """Whether anything outside the database vouches for the trail."""
    if notes:
        return f"checked against {plural(notes, 'checkpoint')} in {witness}"
    lacking = f"no checkpoint in {witness} yet" if witness else "no witness"
    return f"{lacking}: nothing kept outside the database vouches for the trail, and one replaced as a whole would pass"


def _print_stamps(out: Console, stamps: CheckedStamps, found: Verification) -> None:
    if stamps.checked:
        out.print(
            f"time stamps that fit their checkpoints and are signed by the configured authority: {stamps.checked}"
        )
    if stamps.unchecked:
        out.print(
            "time stamps and receipts that fit their checkpoints, though nothing here checks that they are genuine: "
            f"{stamps.unchecked}"
        )
        if stamps.unchecked_because is not None:
            out.print(f"[yellow]{literal(stamps.unchecked_because)}[/]")
    for line in (*found.clocks, *stamps.clocks):
        out.print(literal(line))
    if more := found.wrong_clocks - len(found.clocks):
        out.print(f"and {more} more times in leaves that contradict each other; no clock is known to be the right one")


def _print_accounts(out: Console, found: Verification) -> None:
    """Prints what the trail accounts for without proving it, for the reader to judge."""
    if found.backfilling:
        out.print("not all that is stored is sealed yet, so rows that no leaf holds were not looked for")
    for sealed in found.recoveries:
        out.print(f"leaf {sealed.index} is a recovery from a backup; look whether it is one that you know of:")
        for line in description(sealed.recovery):
            out.print(f"  {literal(line)}")
    for act in found.backfills:
        rows = f"{act.body.get('rows')} rows as they stood at {act.body.get('at')}"
        out.print(literal(f"leaf {act.number}: the sealer took in {rows}, without proof of who stored them"))
    for covered in found.covered[:_PARTITIONS]:
        out.print(literal(_coverage(covered)))
        for first, end, by, at in covered.unstated:
            out.print(
                literal(f"  nobody stated offsets {first} to {end - 1}, as {by} recorded at {at}; do you know why?")
            )
    if len(found.covered) > _PARTITIONS:
        out.print(f"and {len(found.covered) - _PARTITIONS} more partitions; --json lists all of them")
    if any(covered.gaps for covered in found.covered):
        out.print(
            "if an earlier release has read those offsets beside this one: `monitor audit seal --missing` records that"
        )


def _coverage(covered: CoveredPartition) -> str:
    """What the statements of a partition say together."""
    skipped = "".join(f", {number} skipped ({why})" for why, number in sorted(covered.skipped.items()))
    return (
        f"{covered.topic}/{covered.partition} as {covered.group} reads it, {covered.first} to {covered.next - 1}: "
        f"{covered.stored} stored, {plural(covered.duplicate, 'duplicate')}, {covered.dead} dead{skipped}"
    )


audit_app.command("recover")(recover)
audit_app.command("prove")(prove)
audit_app.command("export")(export)
audit_app.command("verifier")(verifier)


@audit_app.command("stamp")
def audit_stamp(*, as_json: AsJson = False) -> None:
    """Have the last checkpoint time-stamped now, and complete earlier receipts.

    `monitor run` and `collect` do it by themselves, every MONITOR_AUDIT__TIMESTAMP_EVERY seconds.
    """
    with opened() as application:
        stamper = application.auditing.stamper()
        if stamper is None:
            raise WrongSettings("no authority is configured: set MONITOR_AUDIT__TIMESTAMP_URL or …__CALENDAR_URL")
        given = stamper.run(application.now(), at_once=True)
        newest = application.auditing.newest_stamps()
    if as_json:
        print_json({"given": len(given), "stamps": [_stamp_json(its) for its in newest]})
    for its in () if as_json else newest:
        typer.echo(_stamp_line(its))
    named = {its.stamp.witness for its in newest if its.fault is None}
    if any(authority.name not in named for authority in stamper.authorities):
        raise typer.Exit(3)


@audit_app.command("key")
def audit_key() -> None:
    """Print the public key that proves checkpoints.

    Keep it where nobody who runs this installation can change it.
    """
    with opened(migrated=False) as application:
        typer.echo(application.auditing.key.verifier_key)


@audit_app.command("status")
def audit_status(*, as_json: AsJson = False) -> None:
    """Show how far sealing has come, and where checkpoints are witnessed."""
    from monitor.store.audit.proofs import Proofs

    with opened() as application:
        status, now = Proofs(application.engine).status(), application.now()
        witnesses = _witnesses(application)
        stamps = application.auditing.newest_stamps()
    if as_json:
        shown = [_stamp_json(its) for its in stamps]
        print_json({**asdict(status), "witnesses": witnesses, "stamps": shown})
        return
    last = f", the last at {status.signed_at.isoformat()}" if status.signed_at else ""
    typer.echo(f"{status.size} leaves, {status.signed} of them signed{last}")
    oldest = f", the oldest for {(now - status.waiting_since).total_seconds():.0f} s" if status.waiting_since else ""
    typer.echo(f"{status.waiting} waiting to be sealed{oldest}")
    if status.signed_at is None:
        typer.echo("nothing is sealed yet: start `monitor run`, or run `monitor audit seal`")
    elif status.backfilling:
        typer.echo("what was stored before the trail began is still being sealed")
    typer.echo(f"witnesses: {', '.join(witnesses)}")
    for its in stamps:
        typer.echo(_stamp_line(its))


def _stamp_json(its: ShownStamp) -> dict[str, Json]:
    stamp = its.stamp
    kept: dict[str, Json] = {"size": stamp.size, "witness": stamp.witness, "kind": stamp.kind.value}
    said: dict[str, Json] = {"complete": stamp.complete, "stamped_at": portable(stamp.stamped_at)}
    return {**kept, **said, "fault": its.fault, "checked": its.checked}


def _stamp_line(its: ShownStamp) -> str:
    stamp = its.stamp
    of = f"{stamp.witness} on the checkpoint of {stamp.size} leaves"
    if its.fault is not None:
        return readable(f"time stamp by {of} proves nothing: {its.fault}")
    if stamp.stamped_at is not None:
        return f"time stamp by {of}: {stamp.stamped_at.isoformat()}{'' if its.checked else ', signature not checked'}"
    return f"receipt by {of}: {'says that it is in a Bitcoin block' if stamp.complete else 'in no Bitcoin block yet'}"


def _witnesses(application: Application) -> list[str]:
    audit = application.settings.audit
    topic = [f"Kafka topic {audit.witness_topic}"] if audit.witness_topic else []
    return [str(application.auditing.witness_file), *topic, *(["Slack"] if audit.witness_slack else [])]
