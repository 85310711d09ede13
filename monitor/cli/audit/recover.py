"""The command `monitor audit recover`: records what was lost when the database was restored from a backup."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, actor, confirm, plural, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from monitor.audit.recovery import Recovery

_LONGEST = 500  # characters of a reason


def recover(
    *,
    reason: Annotated[
        str, typer.Option(help="Why the database was restored; it stays in the trail for good, so no personal data.")
    ],
    by: Annotated[str | None, typer.Option("--by", help="Your name for the audit trail; default: your login.")] = None,
    witness: Annotated[
        list[Path] | None, typer.Option(help="Also checkpoints that were kept elsewhere; may be repeated.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask before it is sealed.")] = False,
    as_json: AsJson = False,
) -> None:
    """After a restored backup: record which leaves were lost, so that sealing goes on.

    Every verification shows the record. It cannot be undone.
    """
    if not reason.strip() or len(reason) > _LONGEST:
        raise WrongSettings(f"--reason: say in 1 to {_LONGEST} characters why the database was restored")
    with opened() as application:
        sealer, now = application.auditing.sealer(), application.now()
        recovery = sealer.plan_recovery(witness or (), by=actor(by), at=now, reason=reason.strip())
        if recovery is None:
            typer.echo("nothing is lost: no witness knows more leaves than the database holds, and none is recorded")
            return
        if as_json:
            print_json(asdict(recovery))
        else:
            for line in description(recovery):
                typer.echo(line)
        if not yes:
            confirm("Record this loss in the trail for good?")
        sealer.recover(recovery, now)
    typer.echo(
        f"recorded as leaf {recovery.restored.size}; sealing goes on. Erasures that people asked for after the backup "
        "must be repeated. `monitor audit verify` shows the record from now on",
        err=as_json,
    )


def description(recovery: Recovery) -> list[str]:
    """What a recovery says, in lines for people."""
    restored, named = recovery.restored, plural(len(recovery.lost), "checkpoint")
    known = [
        f"  {its.name}: {plural(its.lost, 'lost checkpoint')}, the newest of {its.newest.size} leaves, "
        f"root {its.newest.root}{f', written {its.at}' if its.at else ''}"
        for its in recovery.witnesses
    ]
    lines = [
        f"recovery by {recovery.by} at {recovery.at}: {recovery.reason}",
        f"  restored: {restored.size} leaves, {recovery.signed} of them signed, root {restored.root}",
        f"  lost: leaves {restored.size} to {recovery.lost[-1].size - 1} of the earlier history, with {named}",
        *known,
    ]
    return [readable(line) for line in lines]
