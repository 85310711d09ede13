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
from monitor.probe.target import LARGEST, ChatbotAnswer, ChatbotFailed, Exchange, Failure, Target
from monitor.probe.targets.function import read_answer
from monitor.probe.targets.pace import Pace
from monitor.probe.targets.secrets import quotable, secrets_of_environment
from monitor.probe.targets.template import fill

_QUOTED = 200  # characters of what it wrote that an error repeats
_LAST = 3  # lines of standard error; of a traceback, the statement and the error
_KEPT = 2**14  # bytes of standard error
_AT_ONCE = 2**16  # bytes; as much as a pipe holds
_LOOK = 0.05  # seconds between two looks at whether a command has ended whose children keep its output open
_REQUEST: Final = {"question": "{question}", "history": "{history}", "conversation": "{conversation}"}


class CommandTarget(Target):
    """Starts the command for every question, without a shell. One that takes too long is ended with its children."""

    def __init__(self, command: Sequence[str], *, timeout: float, per_second: float | None) -> None:
        self._command = list(command)
        first = next((word for word in self._command[1:] if not word.startswith("-")), "")
        # False too for what cannot be a file
        self._script = first if os.path.isfile(first) else ""  # noqa: PTH113  Path raises for a null character
        self._secrets = secrets_of_environment()
        self._timeout = timeout
        self._pace = Pace(per_second)
        self._closed = Event()

    @property
    @override
    def place(self) -> str:
        """Holds no secret: of the arguments, only one that names a file is shown, such as the script of `python`."""
        return f"command {self._command[0]} {self._script}".rstrip()

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
                said, complaint = self._written(process)
                code = process.wait()
            finally:
                with suppress(ProcessLookupError, PermissionError):
                    os.killpg(process.pid, signal.SIGKILL)
        if code:
            raise self._failed("refused", f"ended with {code}", complaint)
        return self._read(said.decode("utf-8", "replace").strip())

    def _started(self, asked: IO[Any]) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(  # noqa: S603  the operator's own command
                self._command,
                stdin=asked,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise Fatal(f"{self.place}: cannot be started: {reason}") from None

    def _written(self, process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
        """Its output and the end of its standard error once it has ended; children left behind are not waited for."""
        assert process.stdout is not None and process.stderr is not None  # noqa: S101, PT018  they are pipes
        until, said, complaint = monotonic() + self._timeout, bytearray(), bytearray()
        output = process.stdout.fileno()
        pipes = {output: said, process.stderr.fileno(): complaint}
        poll = select.poll()
        for pipe in pipes:
            poll.register(pipe, select.POLLIN)
        while True:
            ended = process.poll() is not None
            ready = [pipe for pipe, _ in poll.poll(0 if ended else 1000 * _LOOK)] if pipes else []
            for pipe in ready:
                chunk = os.read(pipe, _AT_ONCE)
                pipes[pipe] += chunk
                if not chunk:
                    poll.unregister(pipe)
                    del pipes[pipe]
            del complaint[:-_KEPT]
            if ended and output not in ready:
                return bytes(said), bytes(complaint)
            if not pipes:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(_LOOK)
            if len(said) > LARGEST:
                raise ChatbotFailed("too_long", f"{self.place} wrote more than {LARGEST // 2**20} MiB")
            if self._closed.is_set():
                raise ChatbotFailed("out_of_reach", f"{self.place} is not asked any more")
            if monotonic() > until:
                raise self._failed("timeout", f"gave no answer in {self._timeout:g} s", bytes(complaint))

    def _failed(self, reason: Failure, words: str, complaint: bytes) -> ChatbotFailed:
        """With the last lines of what it wrote to standard error, which say why."""
        text = quotable(complaint.decode("utf-8", "replace"), self._secrets)
        lines = [line for line in text.splitlines() if line.strip()]
        said = f"; it wrote: {plain(' '.join(lines[-_LAST:]))[-_QUOTED:]}" if lines else ""
        return ChatbotFailed(reason, f"{self.place} {words}{said}")

    def _read(self, text: str) -> ChatbotAnswer:
        if not text.startswith("{"):
            return read_answer(text, of=self.place)
        try:
            return read_answer(json.loads(text), of=self.place)
        except (ValueError, RecursionError):
            raise ChatbotFailed("malformed", f"{self.place} wrote no JSON: {plain(text[:_QUOTED])}") from None
