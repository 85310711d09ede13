"""A scripted mail server on 127.0.0.1 (aiosmtpd): STARTTLS or TLS, a login, refusals at every step."""

from __future__ import annotations

import asyncio
import email
import email.policy
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword, Session

from monitor.alert.receivers.email import Security, Server

USER, PASSWORD = "quillmere", "TopSecretMailPassword"

Step = Literal["EHLO", "AUTH", "MAIL", "RCPT", "DATA"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail as it arrived. `logged_in` and `encrypted` say how."""

    sender: str
    recipients: tuple[str, ...]
    message: EmailMessage
    raw: bytes
    logged_in: bool
    encrypted: bool


@dataclass(slots=True)
class SmtpServer:
    """`script` holds what is answered at a step instead of an orderly reply; `refused` the same by recipient.

    It looks a text over for `looks` seconds before it takes it.
    """

    port: int = 0
    script: dict[Step, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    mails: list[Mail] = field(default_factory=list)
    looks: float = 0.0

    def reset(self) -> None:
        self.script.clear()
        self.refused.clear()
        self.mails.clear()

    def server(
        self, security: Security = "none", *, username: str | None = None, password: str | None = None
    ) -> Server:
        """How to reach it."""
        return Server(host="localhost", port=self.port, security=security, username=username, password=password)

    async def handle_MAIL(  # noqa: N802  aiosmtpd looks for this name; so for those below
        self, _: Any, __: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if said := self.script.get("MAIL"):
            return said
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, _: Any, __: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if said := self.refused.get(address) or self.script.get("RCPT"):
            return said
        envelope.rcpt_tos.append(address)
        envelope.rcpt_options.extend(options)
        return "250 OK"

    async def handle_DATA(self, _: Any, session: Session, envelope: Envelope) -> str:  # noqa: N802
        if said := self.script.get("DATA"):
            return said
        await asyncio.sleep(self.looks)
        raw = envelope.content
        assert isinstance(raw, bytes)
        message = email.message_from_bytes(raw, policy=email.policy.default)
        mail = Mail(
            sender=str(envelope.mail_from),
            recipients=tuple(envelope.rcpt_tos),
            message=message,
            raw=raw,
            logged_in=bool(session.authenticated),
            encrypted=session.ssl is not None,
        )
        self.mails.append(mail)
        return "250 OK"

    def authenticate(self, _: Any, __: Session, ___: Envelope, ____: str, login: Any) -> AuthResult:
        if said := self.script.get("AUTH"):
            return AuthResult(success=False, handled=False, message=said)
        known = isinstance(login, LoginPassword) and (login.login, login.password) == (USER.encode(), PASSWORD.encode())
        return AuthResult(success=known, handled=False)


class _AnyPort(Controller):
    """A controller that takes whatever port is free."""

    def _trigger_server(self) -> None:
        assert self.server is not None
        self.port = self.server.sockets[0].getsockname()[1]
        super()._trigger_server()


@contextmanager
def smtp_server(*, certificate: Path | None = None, tls: bool = False, login: bool = False) -> Iterator[SmtpServer]:
    """Runs a server on a free port for the block.

    `certificate` is a PEM of key and certificate, for STARTTLS, or with `tls` from the first byte; with `login` nobody
    sends mail without `USER` and `PASSWORD`.
    """
    state = SmtpServer()
    context = None
    if certificate is not None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(certificate)
    controller = _AnyPort(
        state,
        hostname="localhost",
        port=0,
        server_hostname="mail.quillmere.example",
        ssl_context=context if tls else None,
        tls_context=None if tls else context,
        auth_required=login,
        auth_require_tls=not tls,
        authenticator=state.authenticate if login else None,
    )
    controller.start()
    state.port = controller.port
    try:
        yield state
    finally:
        controller.stop()
