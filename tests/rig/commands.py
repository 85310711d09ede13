"""Runs console commands, each in a process of its own that is forked from one in which everything is imported already.

To start Python and to import the program takes longer than most commands do.
"""

from __future__ import annotations

import gc
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from threading import Thread
from typing import Any

import monitor

ROOT = Path(__file__).parents[2]
_THREADED = "onnxruntime"  # has threads once it is imported, which a fork would lose
_LARGEST_REQUEST = 2**17  # bytes
_STREAMS = (0, 1, 2)


def run(
    arguments: Sequence[str], *, environment: Mapping[str, str], folder: Path, stdin: bytes
) -> subprocess.CompletedProcess[str]:
    """Runs `python -m monitor` with the arguments to its end."""
    request = json.dumps({"arguments": arguments, "environment": dict(environment), "folder": str(folder)}).encode()
    assert len(request) < _LARGEST_REQUEST
    reader, writer = os.pipe()
    status, told = os.pipe()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        socket.send_fds(_parent(), [request], [reader, out.fileno(), err.fileno(), told])
        os.close(reader)
        os.close(told)
        feeding = Thread(target=_feed, args=(writer, stdin))
        feeding.start()
        with os.fdopen(status) as answer:
            code = os.waitstatus_to_exitcode(int(answer.read()))
        feeding.join()
        out.seek(0)
        err.seek(0)
        return subprocess.CompletedProcess(arguments, code, out.read().decode(), err.read().decode())


def _feed(writer: int, stdin: bytes) -> None:
    try:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(stdin)
    except BrokenPipeError:
        pass  # the command ended without reading it all


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
    runpy.run_module("monitor", run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
