"""Writes notifications as plain text to a stream; always configured.

What is written to a log stays there, out of reach of an erasure. So only a terminal gets what quotes answers.
"""

from __future__ import annotations

import logging
import sys
from dataclasses import replace
from typing import TextIO

from typing_extensions import override

from monitor.alert.notification import Notification
from monitor.alert.ports import Receiver
from monitor.alert.receivers.receiver import Draw
from monitor.alert.receivers.text import render
from monitor.core.errors import Fatal, Retriable
from monitor.core.settings.load import Settings

log = logging.getLogger(__name__)


def from_settings(settings: Settings, _draw: Draw | None) -> Receiver:
    """Only the format of the log matters to the console."""
    return Console(as_log=settings.log_format == "json")


class Console(Receiver):
    """Writes each notification to `stream`; by default to standard error, without quotations if that is a log.

    With `as_log` each is one record of the log instead. Returns no receipt.
    """

    def __init__(self, stream: TextIO | None = None, *, as_log: bool = False) -> None:
        self._stream = stream
        self._as_log = as_log

    @override
    def send(self, notification: Notification) -> None:
        """Writes and flushes.

        Raises:
            Retriable: the stream cannot be written now (a full disk, a broken pipe).
            Fatal: the stream is closed.
        """
        stream = self._stream or sys.stderr
        if self._as_log or (self._stream is None and not stream.isatty()):
            notification = replace(notification, cause=(), changes=(), examples=())
        if self._as_log:
            log.warning("%s", render(notification).strip())
            return
        # an ASCII stream, as under cron, must still take a question in Chinese
        encoding = stream.encoding or "utf-8"
        text = render(notification).encode(encoding, "replace").decode(encoding)
        try:
            stream.write(text)
            stream.flush()
        except OSError as error:
            raise Retriable(f"console: {error.strerror or type(error).__name__}") from None
        except ValueError:
            raise Fatal("console: the output stream is closed") from None

    @override
    def check(self) -> str:
        return "this terminal" if self._stream is None else "a stream"
