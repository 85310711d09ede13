"""The commands `monitor tokens …`: who may see the dashboard and use the API."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.terminal import AsJson, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.settings.load import load_settings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from datetime import datetime

    from monitor.store.tokens import Token

tokens_app = typer.Typer(name="tokens", no_args_is_help=True, help="Access tokens of the dashboard and the API.")
LONGEST_NAME = 100
_LONGEST_LIFE = timedelta(days=3_650)
_By = Annotated[str | None, typer.Option("--by", help="Who does it; default: the user of this terminal.")]
_PERSON = "oidc:"  # what the names of people begin with who signed in by OIDC


@tokens_app.command("create")
def tokens_create(
    name: Annotated[str, typer.Argument(help="Whose it is; the audit trail names it.")],
    *,
    role: Annotated[str, typer.Option(help="viewer, operator, auditor or admin.")] = "viewer",
    expires: Annotated[str | None, typer.Option(metavar="DURATION", help="As in 90d; without, never.")] = None,
    by: _By = None,
    as_json: AsJson = False,
) -> None:
    """Make one. It is printed this once, and kept nowhere. The first one shuts a dashboard that was open."""
    from monitor.app.wiring.application import Application
    from monitor.store.tokens import Access
    from monitor.web.base.access import Role

    if role not in set(Role):
        raise WrongSettings(f"--role {role}: known are {', '.join(Role)}")
    if not name.isprintable() or not 0 < len(name.strip()) <= LONGEST_NAME:
        raise WrongSettings(f"a name of 1 to {LONGEST_NAME} printable characters")
    length = None if expires is None else _length(expires)
    with Application(load_settings()) as application:
        application.migrate()
        now, access, oidc = application.now(), Access(application.engine), application.settings.web.oidc.issuer
        opened = oidc is None and not access.closed()
        token, secret = access.make_token(
            name.strip(), role, by=_who(by), now=now, expires_at=None if length is None else now + length
        )
        led = oidc is not None or any(its.role == Role.ADMIN and its.holds(now) for its in access.tokens())
    if opened:
        typer.echo("this is the first token: the dashboard is no longer open, everybody signs in from now on", err=True)
    if not led:
        typer.echo(
            "the dashboard now asks for a token, and none of an admin holds: monitor tokens create NAME --role admin",
            err=True,
        )
    if as_json:
        print_json({**_shown(token, now), "token": secret})
        return
    until = "never expires" if token.expires_at is None else f"expires {_time(token.expires_at)}"
    typer.echo(f"{token.id}: {readable(token.name)}, {token.role}, {until}. It is shown this once:", err=True)
    typer.echo(secret)


@tokens_app.command("list")
def tokens_list(*, as_json: AsJson = False) -> None:
    """All that were ever made, the newest first; never the tokens themselves."""
    from monitor.app.wiring.application import Application
    from monitor.store.tokens import Access

    with Application(load_settings()) as application:
        application.migrate()
        tokens, now = Access(application.engine).tokens(), application.now()
    if as_json:
        print_json([_shown(token, now) for token in tokens])
        return
    if not tokens:
        typer.echo("no token: without one the dashboard answers on this machine only")
        return
    table = Table("id", "name", "role", "state", "made (UTC)", "by", "last used (UTC)", box=None)
    for token in tokens:
        made, used = _time(token.created_at), "never" if token.used_at is None else _time(token.used_at)
        state = _state(token, now)
        if state == "holds" and token.expires_at is not None:
            state = f"until {_time(token.expires_at)}"
        table.add_row(token.id, literal(token.name), token.role, state, made, literal(token.created_by), used)
    for column in table.columns:
        column.overflow = "fold"
    table.columns[0].no_wrap = True
    Console(highlight=False).print(table)


@tokens_app.command("revoke")
def tokens_revoke(
    which: Annotated[str, typer.Argument(metavar="ID|NAME", help="As in the list; oidc:NAME signs a person out.")],
    *,
    by: _By = None,
) -> None:
    """End one at once, and every session that was begun with it."""
    from monitor.app.wiring.application import Application
    from monitor.store.tokens import Access

    with Application(load_settings()) as application:
        application.migrate()
        access, now = Access(application.engine), application.now()
        if which.startswith(_PERSON):
            ended = access.end_sessions(which, by=_who(by), now=now)
            if not ended:
                raise WrongSettings(f"{which} is not signed in")
            typer.echo(f"{readable(which)} is signed out; to keep them out, take their role away at the provider")
            return
        found = [token for token in access.tokens() if which in {token.id, token.name} and token.revoked_at is None]
        if not found:
            raise WrongSettings(f"no token {which!r} holds; `monitor tokens list` names them all")
        for token in found:  # several of one name: an expired one beside that which took its place
            access.revoke(token.id, by=_who(by), now=now)
            typer.echo(f"{token.id}: {readable(token.name)} is revoked")


def _who(by: str | None) -> str:
    from monitor.app.review import login_name, person

    return login_name() if by is None else person(by)


def _length(text: str) -> timedelta:
    from monitor.core.duration import parse_duration

    try:
        length = parse_duration(text, longest=_LONGEST_LIFE)
    except ValueError as error:
        raise WrongSettings(f"--expires: {error}") from None
    if not length:
        raise WrongSettings("--expires: it would hold for no time at all")
    return length


def _state(token: Token, now: datetime) -> str:
    return "revoked" if token.revoked_at is not None else "holds" if token.holds(now) else "expired"


def _shown(token: Token, now: datetime) -> dict[str, Any]:
    return {**{name: getattr(token, name) for name in token.__slots__}, "state": _state(token, now)}


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
