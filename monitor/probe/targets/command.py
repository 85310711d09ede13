"""A chatbot that is a command: it reads a JSON object on its standard input and writes its answer.

The object has `question`, `history` (a list of messages) and `conversation`. The answer is a text, or a JSON object
with `answer`, and maybe `documents` and `version`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from selectors import EVENT_READ, DefaultSelector
from tempfile import TemporaryFile
from time import monotonic
from typing import Final

from typing_extensions import override

from monitor.core.errors import Fatal
from monitor.core.text.plain import plain
from monitor.probe.target import ChatbotAnswer, ChatbotFailed, Exchange, Target
from monitor.probe.targets.function import LARGEST, read_answer
from monitor.probe.targets.pace import Pace
from monitor.probe.targets.template import fill

_QUOTED = 200
_CHUNK = 65_536  # bytes
_REQUEST: Final = {"question": "{question}", "history": "{history}", "conversation": "{conversation}"}


class CommandTarget(Target):
    """Starts the command for every question, without a shell. One that takes too long is ended with its children."""

    def __init__(self, command: Sequence[str], *, timeout: float, per_second: float | None) -> None:
        self._command = list(command)
        self._timeout = timeout
        self._pace = Pace(per_second)

    @property
    @override
    def place(self) -> str:
        return f"command {self._command[0]}"

    @override
    def close(self) -> None:
        self._pace.close()

    @override
    def ask(self, question: str, *, history: Sequence[Exchange], conversation: str) -> ChatbotAnswer:
        self._pace.enter()
        request = fill(dict(_REQUEST), question=question, history=history, conversation=conversation)
        until = monotonic() + self._timeout
        with TemporaryFile() as given:  # a pipe would be full before a command that writes first has read it
            given.write(json.dumps(request).encode())
            given.seek(0)
            try:
                process = subprocess.Popen(  # noqa: S603  the operator's own command
                    self._command,
                    stdin=given,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            except OSError as error:
                raise Fatal(f"{self.place}: cannot be started: {error.strerror}") from None
        assert process.stdout is not None  # noqa: S101  it is a pipe
        try:
            said = self._written(process.stdout.fileno(), until)
            process.wait(max(until - monotonic(), 0))
        except subprocess.TimeoutExpired:
            raise self._late() from None
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.stdout.close()
            process.wait()
        if process.returncode:
            raise ChatbotFailed("refused", f"{self.place} ended with {process.returncode}")
        return self._read(said.decode("utf-8", "replace").strip())

    def _written(self, descriptor: int, until: float) -> bytes:
        """All that it writes until it ends."""
        said = bytearray()
        with DefaultSelector() as readable:
            readable.register(descriptor, EVENT_READ)
            while readable.select(max(until - monotonic(), 0)):
                if not (chunk := os.read(descriptor, _CHUNK)):
                    return bytes(said)
                said += chunk
                if len(said) > LARGEST:
                    raise ChatbotFailed("too_long", f"{self.place} wrote more than {LARGEST // 2**20} MiB")
        raise self._late()

    def _late(self) -> ChatbotFailed:
        return ChatbotFailed("timeout", f"{self.place} gave no answer in {self._timeout:g} s")

    def _read(self, text: str) -> ChatbotAnswer:
        if not text.startswith("{"):
            return read_answer(text, of=self.place)
        try:
            return read_answer(json.loads(text), of=self.place)
        except (ValueError, RecursionError):
            raise ChatbotFailed("malformed", f"{self.place} wrote no JSON: {plain(text[:_QUOTED])}") from None
