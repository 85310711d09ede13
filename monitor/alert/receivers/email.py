"""Sends notifications as mail by SMTP.

No error text and no log line of this module holds the password. Answers of the server to the login are left out, since
they may repeat it.
"""

from __future__ import annotations

import logging
import smtplib
import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from email.message import EmailMessage
from typing import Literal

from typing_extensions import Buffer, override

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.email_message import message
from monitor.alert.receivers.receiver import Draw, drawn
from monitor.core.errors import Fatal, Retriable
from monitor.core.settings.load import Settings
from monitor.core.text.plain import plain

log = logging.getLogger(__name__)

TIMEOUT = 10.0  # seconds for each step but the last
TAKEN_WITHIN = 120.0  # seconds for the last: the server looks the text over before it takes it (RFC 5321 §4.5.3.2.6)
Security = Literal["none", "starttls", "tls"]
_PORTS: Mapping[Security, int] = {"none": 25, "starttls": 587, "tls": 465}
_PERMANENT = 500
_LONGEST_QUOTE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """A mail server and the login. `port` None means the usual port for `security`."""

    host: str
    port: int | None = None
    security: Security = "starttls"
    username: str | None = None
    password: str | None = None

    @property
    def place(self) -> str:
        """`host:port`."""
        return f"{self.host}:{self.port or _PORTS[self.security]}"

    def __repr__(self) -> str:
        return f"Server({self.place})"


def from_settings(settings: Settings, draw: Draw | None) -> Receiver | None:
    """None without a host."""
    known = settings.email
    if known.host is None or known.sender is None:
        return None
    server = Server(
        host=known.host,
        port=known.port,
        security=known.security,
        username=known.username,
        password=known.password.get_secret_value() if known.password is not None else None,
    )
    return Email(server, sender=known.sender, recipients=known.recipients, draw=draw)


class _Smtp(smtplib.SMTP):
    """Waits for the answer to the text: who gives up then has perhaps sent it, and sends it again and again."""

    @override
    def data(self, msg: Buffer | str) -> tuple[int, bytes]:
        if self.sock is not None:
            self.sock.settimeout(TAKEN_WITHIN)
        try:
            return super().data(msg)
        finally:
            if self.sock is not None:
                self.sock.settimeout(TIMEOUT)


class _SmtpTls(_Smtp, smtplib.SMTP_SSL):
    """The same with TLS from the first byte."""


class Email(Receiver):
    """Sends one mail to all recipients for each notification. Returns no receipt.

    The `Message-ID` consists of episode and number, so mail programs recognize a mail that is sent twice.
    """

    def __init__(self, server: Server, *, sender: str, recipients: Sequence[str], draw: Draw | None = None) -> None:
        self._server = server
        self._sender = sender
        self._recipients = tuple(recipients)
        self._draw = draw

    @override
    def send(self, notification: Notification) -> None:
        """Sends once. One accepted recipient counts as delivered; refused recipients are logged.

        Raises:
            Retriable: the server is out of reach, or answers 4xx.
            Fatal: the server answers 5xx, or does not support the settings; the message says what to change.
        """
        chart = drawn(self._draw, notification.course)
        mail = message(notification, sender=self._sender, recipients=self._recipients, chart=chart)
        with self._connected() as smtp:
            refused = self._transmit(smtp, mail)
        for address, (code, answer) in refused.items():
            log.warning("email: %s refuses %s: %s", self._server.place, plain(address), _quote(code, answer))

    @override
    def check(self) -> str:
        with self._connected() as smtp:
            smtp.noop()
        return f"mail by {self._server.place} to {', '.join(self._recipients)}"

    def _transmit(self, smtp: smtplib.SMTP, mail: EmailMessage) -> dict[str, tuple[int, bytes]]:
        try:
            return smtp.send_message(mail, self._sender, self._recipients)
        except smtplib.SMTPRecipientsRefused as error:
            answers = error.recipients.values()
            code, answer = min(answers, key=lambda answer: answer[0])  # a temporary refusal, if there is one
            raise self._refused(code, answer, "MONITOR_EMAIL__RECIPIENTS") from None
        except smtplib.SMTPSenderRefused as error:
            raise self._refused(error.smtp_code, error.smtp_error, "MONITOR_EMAIL__SENDER") from None
        except smtplib.SMTPNotSupportedError:
            raise Fatal(
                f"{self._who}: the server takes only ASCII addresses: check MONITOR_EMAIL__RECIPIENTS"
            ) from None

    @contextmanager
    def _connected(self) -> Iterator[smtplib.SMTP]:
        """A session after the login; errors in it, and in the block, become `Retriable` or `Fatal`."""
        smtp: smtplib.SMTP | None = None
        try:
            smtp = self._opened()
            yield smtp
        except smtplib.SMTPResponseException as error:
            raise self._refused(
                error.smtp_code, error.smtp_error, "MONITOR_EMAIL__HOST and its other settings"
            ) from None
        except (smtplib.SMTPException, OSError, ValueError) as error:
            raise Retriable(f"{self._who}: out of reach: {_reason(error)}") from None
        finally:
            if smtp is not None:
                with suppress(smtplib.SMTPException, OSError):  # the mail has already been accepted or refused
                    smtp.quit()
                smtp.close()

    def _opened(self) -> smtplib.SMTP:
        server = self._server
        port = server.port or _PORTS[server.security]
        if server.security == "tls":
            context = ssl.create_default_context()
            smtp: _Smtp = _SmtpTls(server.host, port, timeout=TIMEOUT, context=context)
        else:
            smtp = _Smtp(server.host, port, timeout=TIMEOUT)
        try:
            if server.security == "starttls":
                self._secure(smtp)
            if server.username is not None and server.password is not None:
                self._log_in(smtp, server.username, server.password)
        except BaseException:
            smtp.close()
            raise
        return smtp

    def _secure(self, smtp: smtplib.SMTP) -> None:
        try:
            smtp.starttls(context=ssl.create_default_context())
        except smtplib.SMTPNotSupportedError:
            raise Fatal(f"{self._who}: it has no STARTTLS: set MONITOR_EMAIL__SECURITY to tls or none") from None

    def _log_in(self, smtp: smtplib.SMTP, username: str, password: str) -> None:
        remedy = "check MONITOR_EMAIL__USERNAME and MONITOR_EMAIL__PASSWORD"
        try:
            smtp.login(username, password)
        except smtplib.SMTPNotSupportedError:
            raise Fatal(f"{self._who}: it takes no login: remove MONITOR_EMAIL__USERNAME and __PASSWORD") from None
        except smtplib.SMTPAuthenticationError as error:
            problem = f"{self._who}: the login is refused ({error.smtp_code})"
            raise Fatal(f"{problem}: {remedy}") if error.smtp_code >= _PERMANENT else Retriable(problem) from None
        except UnicodeError:  # the error's text holds the password
            raise Fatal(f"{self._who}: SMTP takes only ASCII logins: {remedy}") from None

    def _refused(self, code: int, answer: bytes | str, setting: str) -> Retriable | Fatal:
        quote = f"{self._who}: {_quote(code, answer)}"
        return Fatal(f"{quote}: check {setting}") if code >= _PERMANENT else Retriable(quote)

    @property
    def _who(self) -> str:
        return f"email by {self._server.place}"


def _quote(code: int, answer: bytes | str) -> str:
    text = answer.decode("utf-8", "replace") if isinstance(answer, bytes) else answer
    return f"{code} {plain(text)[:_LONGEST_QUOTE]}"


def _reason(error: Exception) -> str:
    """The reason that the system gives, or else the kind of error."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message})"
    return error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
