"""The commands `monitor tokens …`: who may open the dashboard and use the API."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from monitor.cli.fitting import fitted
from monitor.cli.opening import opened
from monitor.cli.terminal import AsJson, actor, duration, literal, print_json
from monitor.core.errors import WrongSettings
from monitor.core.text.plain import readable

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from monitor.store.tokens import SignedIn, Token

tokens_app = typer.Typer(
    name="tokens",
    no_args_is_help=True,
    help="Create, list and revoke access tokens for the dashboard, the API and for sending.",
)
LONGEST_NAME, LONGEST_APP = 100, 128  # characters; an app as in native events
_LONGEST_LIFE = timedelta(days=3_650)
_By = Annotated[str | None, typer.Option("--by", help="Your name for the audit trail; default: your login.")]
_PERSON = "oidc:"  # prefix of the names of people who signed in through OIDC


@tokens_app.command("create")
def tokens_create(
    name: Annotated[str, typer.Argument(help="Name of its user, for the audit trail.")],
    *,
    role: Annotated[str, typer.Option(help="viewer, operator, auditor, admin, or collect: may only send.")] = "viewer",
    app_name: Annotated[
        str | None, typer.Option("--app", metavar="APP", help="Role collect only: what is sent belongs to this app.")
    ] = None,
    expires: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Lifetime, such as 90d; default: it never expires.")
    ] = None,
    by: _By = None,
    as_json: AsJson = False,
) -> None:
    """Create a token and print it, this once only.

    From the first token on, the link that `monitor serve` prints opens nothing.
    """
    from monitor.store.tokens import Access
    from monitor.web.base.access import Role

    if role not in set(Role):
        raise WrongSettings(f"--role {role} is not one of {', '.join(Role)}")
    if not name.isprintable() or not 0 < len(name.strip()) <= LONGEST_NAME:
        raise WrongSettings(f"NAME must be 1 to {LONGEST_NAME} printable characters")
    if app_name is not None and role != Role.COLLECT:
        raise WrongSettings("--app goes with --role collect")
    if app_name is not None and (not app_name.isprintable() or not 0 < len(app_name.strip()) <= LONGEST_APP):
        raise WrongSettings(f"--app must be 1 to {LONGEST_APP} printable characters")
    length = None if expires is None else _lifetime(expires)
    with opened() as application:
        now, access, oidc = application.now(), Access(application.engine), application.settings.web.oidc.issuer
        was_open = oidc is None and not access.closed()
        token, secret = access.make_token(
            name.strip(),
            role,
            by=actor(by),
            now=now,
            expires_at=None if length is None else now + length,
            app=None if app_name is None else app_name.strip(),
        )
        has_admin = oidc is not None or any(t.role == Role.ADMIN and t.holds(now) for t in access.tokens())
    if was_open:
        typer.echo(
            "this is the first token: from now on everybody has to sign in to the dashboard, and to send with a token",
            err=True,
        )
    if not has_admin:
        typer.echo("no admin has a valid token; create one: monitor tokens create NAME --role admin", err=True)
    if as_json:
        print_json({**_shown(token, now), "token": secret})
        return
    until = "never expires" if token.expires_at is None else f"expires {_time(token.expires_at)}"
    role_and_app = token.role if token.app is None else f"{token.role} for {readable(token.app)}"
    typer.echo(f"{token.id}: {readable(token.name)}, {role_and_app}, {until}. The token is shown only once:", err=True)
    typer.echo(secret)


@tokens_app.command("list")
def tokens_list(*, as_json: AsJson = False) -> None:
    """List all tokens ever created, the newest first, without their secrets, and who is signed in without one."""
    from monitor.store.tokens import Access

    with opened() as application:
        access, now = Access(application.engine), application.now()
        tokens, signed_in = access.tokens(), access.signed_in(now)
        oidc = application.settings.web.oidc.issuer
    if as_json:
        print_json([_shown(token, now) for token in tokens])
        return
    console = Console(highlight=False)
    if tokens:
        console.print(fitted(_tokens_table(tokens, now), console.width))
    elif oidc is None:
        typer.echo(
            "no tokens; without one the dashboard opens on this machine only, by the link that `monitor serve` prints"
        )
    else:
        typer.echo(f"no tokens; people sign in through {oidc}")
    if signed_in:
        console.print("\nsigned in without a token; `monitor tokens revoke NAME` signs out a name with oidc:")
        console.print(fitted(_people_table(signed_in), console.width))


def _tokens_table(tokens: Sequence[Token], now: datetime) -> Table:
    table = Table("id", "name", "role", "app", "state", "created (UTC)", "by", "last used (UTC)", box=None)
    for token in tokens:
        created, used = _time(token.created_at), "never" if token.used_at is None else _time(token.used_at)
        state = _state(token, now)
        if state == "holds" and token.expires_at is not None:
            state = f"until {_time(token.expires_at)}"
        table.add_row(
            token.id,
            literal(token.name),
            token.role,
            literal(token.app or ""),
            state,
            created,
            literal(token.created_by),
            used,
        )
    return table


def _people_table(signed_in: Sequence[SignedIn]) -> Table:
    table = Table("name", "role", "since (UTC)", "until (UTC)", box=None)
    for session in signed_in:
        table.add_row(literal(session.subject), session.role, _time(session.since), _time(session.until))
    return table


@tokens_app.command("revoke")
def tokens_revoke(
    which: Annotated[
        str, typer.Argument(metavar="ID|NAME", help="As `tokens list` shows it; oidc:NAME signs a person out.")
    ],
    *,
    by: _By = None,
) -> None:
    """Revoke a token at once, with every session that it started."""
    from monitor.store.tokens import Access

    with opened() as application:
        access, now = Access(application.engine), application.now()
        if which.startswith(_PERSON):
            ended = access.end_sessions(which, by=actor(by), now=now)
            if not ended:
                raise WrongSettings(f"{which} is not signed in; `monitor tokens list` shows who is")
            typer.echo(f"{readable(which)} is signed out; to keep them out, remove their role at the provider")
            return
        found = [token for token in access.tokens() if which in {token.id, token.name} and token.revoked_at is None]
        if not found:
            raise WrongSettings(f"no valid token {which!r}; `monitor tokens list` shows all tokens")
        for token in found:  # a name may belong to an expired token and to the one that replaced it
            access.revoke(token.id, by=actor(by), now=now)
            typer.echo(f"{token.id}: {readable(token.name)} is revoked")


def _lifetime(text: str) -> timedelta:
    length = duration(text, "--expires", longest=_LONGEST_LIFE)
    if not length:
        raise WrongSettings("--expires must be longer than nothing")
    return length


def _state(token: Token, now: datetime) -> str:
    return "revoked" if token.revoked_at is not None else "holds" if token.holds(now) else "expired"


def _shown(token: Token, now: datetime) -> dict[str, Any]:
    return {**{name: getattr(token, name) for name in token.__slots__}, "state": _state(token, now)}


def _time(moment: datetime) -> str:
    return f"{moment:%Y-%m-%d %H:%M}"
