"""Notifications as plain text on a stream; always configured."""

from __future__ import annotations

import sys
from datetime import timedelta
from typing import ClassVar, TextIO

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.builder import Draw
from monitor.alert.receivers.text import render
from monitor.core.errors import Fatal, Retriable
from monitor.core.settings.load import Settings


def from_settings(settings: Settings, draw: Draw | None) -> Receiver:  # noqa: ARG001  every builder is called alike
    """The console needs no settings."""
    return Console()


class Console:
    """Writes each notification to `stream`, standard error where it is None. Gives no receipt."""

    resend: ClassVar[timedelta | None] = None

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def send(self, notification: Notification) -> None:
        """Writes and flushes.

        Raises:
            Retriable: the stream takes nothing for now (a full disk, a broken pipe).
            Fatal: it is closed.
        """
        stream = self._stream or sys.stderr
        # a stream in ASCII, as under cron, still has to take a question in Chinese
        encoding = stream.encoding or "utf-8"
        text = render(notification).encode(encoding, "replace").decode(encoding)
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            raise Retriable(f"console: {error.strerror or type(error).__name__}") from None
        except ValueError:
            raise Fatal("console: the output stream is closed") from None

    def check(self) -> str:
        """As the port says."""
        return "this terminal" if self._stream is None else "a stream"
