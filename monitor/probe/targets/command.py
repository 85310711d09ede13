"""A chatbot that is a command: it reads a JSON object on its standard input and writes its answer.

The object has `question`, `history` (a list of messages) and `conversation`. The answer is a text, or a JSON object
with `answer`, and maybe `documents` and `version`.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from threading import Event
from time import monotonic
from typing import IO, Any, Final

from typing_extensions import override

from monitor.core.errors import Fatal
from monitor.core.text.plain import plain
from monitor.probe.target import LARGEST, ChatbotAnswer, ChatbotFailed, Exchange, Target
from monitor.probe.targets.function import read_answer
from monitor.probe.targets.pace import Pace
from monitor.probe.targets.template import fill

_QUOTED = 200
_AT_ONCE = 2**16  # bytes
_LOOK = 0.05  # seconds between two looks at whether a command has ended whose children keep its output open
_REQUEST: Final = {"question": "{question}", "history": "{history}", "conversation": "{conversation}"}


class CommandTarget(Target):
    """Starts the command for every question, without a shell. One that takes too long is ended with its children."""

    def __init__(self, command: Sequence[str], *, timeout: float, per_second: float | None) -> None:
        self._command = list(command)
        self._timeout = timeout
        self._pace = Pace(per_second)
        self._closed = Event()

    @property
    @override
    def place(self) -> str:
        return f"command {self._command[0]}"

    @override
    def close(self) -> None:
        self._closed.set()
        self._pace.close()

    @override
    def ask(self, question: str, *, history: Sequence[Exchange], conversation: str) -> ChatbotAnswer:
        self._pace.enter()
        request = fill(dict(_REQUEST), question=question, history=history, conversation=conversation)
        with tempfile.TemporaryFile() as asked:  # no pipe: the command may read it late, or not at all
            asked.write(json.dumps(request).encode())
            asked.seek(0)
            process = self._started(asked)
        with process:
            try:
                said = self._said(process)
                code = process.wait()
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
        if code:
            raise ChatbotFailed("refused", f"{self.place} ended with {code}")
        return self._read(said.decode("utf-8", "replace").strip())

    def _started(self, asked: IO[Any]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603  the operator's own command
                self._command,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Fatal(f"{self.place}: cannot be started: {reason}") from None

    def _said(self, process: subprocess.Popen[bytes]) -> bytes:
        """The output until the command has ended; children that it leaves behind are not waited for."""
        assert process.stdout is not None  # noqa: S101  it is a pipe
        until, said, open_ = monotonic() + self._timeout, bytearray(), True
        output = process.stdout.fileno()
        poll = select.poll()
        poll.register(output, select.POLLIN)
        while True:
            ended = process.poll() is not None
            if open_ and poll.poll(0 if ended else 1000 * _LOOK):
                chunk = os.read(output, _AT_ONCE)
                said += chunk
                open_ = bool(chunk)
            elif ended:
                return bytes(said)
            elif not open_:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
            if len(said) > LARGEST:
                raise ChatbotFailed("too_long", f"{self.place} wrote more than {LARGEST // 2**20} MiB")
            if self._closed.is_set():
                raise ChatbotFailed("out_of_reach", f"{self.place} is not asked any more")
            if monotonic() > until:
                raise ChatbotFailed("timeout", f"{self.place} gave no answer in {self._timeout:g} s")

    def _read(self, text: str) -> ChatbotAnswer:
        if not text.startswith("{"):
            return read_answer(text, of=self.place)
        try:
            return read_answer(json.loads(text), of=self.place)
        except (ValueError, RecursionError):
            raise ChatbotFailed("malformed", f"{self.place} wrote no JSON: {plain(text[:_QUOTED])}") from None
