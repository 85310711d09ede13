"""Notifications as plain text on a stream; always configured."""

from __future__ import annotations

import sys
from typing import TextIO

from monitor.alert.notification import Notification
from monitor.alert.wording import facts, http_url, labels_of, plain, shortened, title, why
from monitor.errors import Fatal, Retriable
from monitor.ports import Receiver
from monitor.settings import Settings

_MAX_NAME, _MAX_LABEL, _MAX_QUESTION, _MAX_ANSWER = 200, 200, 300, 600


def from_settings(settings: Settings) -> Receiver:  # noqa: ARG001  every builder is called alike
    """The console needs no settings."""
    return Console()


class Console:
    """Writes each notification to `stream`, standard error where it is None. Gives no receipt."""

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


def render(notification: Notification) -> str:
    """The notification as text of several lines, with an empty line after it."""
    lines = [f"[{notification.severity}] {shortened(title(notification), _MAX_NAME)}"]
    lines += [f"  {name}: {value}" for name, value in facts(notification)]
    lines += [f"  {plain(name)}: {shortened(value, _MAX_LABEL)}" for name, value in labels_of(notification).items()]
    if notification.note:
        lines.append(f"  Note: {plain(notification.note)}")
    lines += [f"  {plain(name).capitalize()}: {plain(value)}" for name, value in notification.annotations.items()]
    for number, example in enumerate(notification.examples, start=1):
        lines += [
            f"  {number}. {shortened(why(example), _MAX_NAME)}",
            f"     Question: {shortened(example.question, _MAX_QUESTION)}",
            f"     Answer:   {shortened(example.answer, _MAX_ANSWER)}",
        ]
    if url := http_url(notification.url):
        lines.append(f"  {url}")
    return "\n".join(lines) + "\n\n"
