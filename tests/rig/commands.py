"""Runs console commands, each in a process of its own that is forked from one in which everything is imported already.

To start Python and to import the program takes longer than most commands do.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Thread
from typing import IO, Any, NoReturn

import monitor

ROOT = Path(__file__).parents[2]
_THREADED = "onnxruntime"  # has threads once it is imported, which a fork would lose
_LARGEST_REQUEST = 2**17  # bytes
_STREAMS = (0, 1, 2)
_PID_BYTES = 16


class Command:
    """A command that was started, with what tests use of a `subprocess.Popen`."""

    def __init__(
        self, arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, out: IO[Any], err: IO[Any]
    ) -> None:
        request = json.dumps({"arguments": arguments, "environment": dict(environment), "folder": str(folder)}).encode()
        assert len(request) < _LARGEST_REQUEST
        reader, writer = os.pipe()
        self._status, told = os.pipe()
        socket.send_fds(_parent(), [request], [reader, out.fileno(), err.fileno(), told])
        os.close(reader)
        os.close(told)
        self.stdin: IO[str] = os.fdopen(writer, "w", encoding="utf-8")
        self.pid = int(os.read(self._status, _PID_BYTES))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """The exit code, minus the number of the signal that ended it; None while it runs."""
        if self.returncode is None and select.select([self._status], [], [], 0)[0]:
            self.wait()
        return self.returncode

    def wait(self) -> int:
        if self.returncode is None:
            with os.fdopen(self._status) as status:
                self.returncode = os.waitstatus_to_exitcode(int(status.read()))
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def started_anew(
    arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, out: IO[Any], err: IO[Any]
) -> subprocess.Popen[str]:
    """The command in an interpreter of its own, as a person starts it."""
    return subprocess.Popen(
        [sys.executable, "-m", "monitor", *arguments],
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=out,
        stderr=err,
        text=True,
    )


def run(
    arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, stdin: bytes
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m monitor` with the arguments to its end."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        command = Command(arguments, environment=environment, folder=folder, out=out, err=err)
        feeding = Thread(target=_feed, args=(command.stdin, stdin))
        feeding.start()
        code = command.wait()
        feeding.join()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read().decode(), err.read().decode())


def _feed(stdin: IO[str], text: bytes) -> None:
    with suppress(BrokenPipeError), stdin:  # it may end without reading it all
        stdin.buffer.write(text)


@cache
def _parent() -> socket.socket:
    """The connection to the process that commands are forked from; it ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        process = subprocess.Popen(
            [sys.executable, "-m", __name__, str(theirs.fileno())],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1", "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
    Thread(target=process.wait, daemon=True).start()
    return ours


def _next_command(requests: socket.socket) -> dict[str, Any] | None:
    """Forks a process for each request, in which alone this returns the request; None at the end."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the processes that wait for commands
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for those who run the commands
    while True:
        message, descriptors, _, _ = socket.recv_fds(requests, _LARGEST_REQUEST, 4)
        if not message:
            return None
        if os.fork() == 0:
            break
        for descriptor in descriptors:
            os.close(descriptor)
    requests.close()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    *streams, status = descriptors
    if command := os.fork():
        os.write(status, f"{command:{_PID_BYTES}}".encode())
        for descriptor in streams:
            os.close(descriptor)
        os.write(status, str(os.waitpid(command, 0)[1]).encode())
        os._exit(0)
    os.close(status)
    for number, descriptor in zip(_STREAMS, streams, strict=True):
        os.dup2(descriptor, number)
        os.close(descriptor)
    return json.loads(message)


def _import_program() -> None:
    """Imports all of the program that runs without the model."""
    sys.modules[_THREADED] = None  # type: ignore[assignment]  so that its import fails
    for module in walk_packages(monitor.__path__, "monitor."):
        if not module.name.endswith("__main__"):
            with suppress(ImportError):
                import_module(module.name)
    del sys.modules[_THREADED]
    with Path("/proc/self/status").open(encoding="utf-8") as status:
        assert "Threads:\t1\n" in status, "a library has started a thread, which the commands would lose"


def main() -> None:
    _import_program()
    gc.collect()
    gc.freeze()
    request = _next_command(socket.socket(fileno=int(sys.argv[1])))
    if request is None:
        return
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["folder"])
    sys.argv = ["monitor", *request["arguments"]]
    try:
        runpy.run_module("monitor", run_name="__main__", alter_sys=True)
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        _end(ended.code)


def _end(code: int) -> NoReturn:
    """Ends the process as the interpreter does, except that nothing is taken apart of what the command never used.

    That would copy all that was imported before the fork, and take as long as most commands. Where an output cannot be
    written, the error leads to the interpreter's own end, with its message and its exit code.
    """
    threading._shutdown()  # type: ignore[attr-defined]  waits for all threads but daemons
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code & 0xFF)


if __name__ == "__main__":
    main()
