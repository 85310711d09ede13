"""The console command `monitor`."""

from __future__ import annotations

import errno
import gc
import io
import logging
import os
import sys
from typing import NoReturn

from monitor.core.errors import InvalidMessage, MonitorError, OutOfReach, Retriable, WrongSettings

DONE, FAILED, WRONG_USE, UNREACHABLE = 0, 1, 2, 3
# Batches hold tens of thousands of objects without cycles: collecting every 700 objects would take a tenth of the time.
ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000
# Numpy's threads spin while they wait for each other, and the products here are too small to share: with a thread for
# each of two cores, scoring a short answer took five times as much processor time. Numpy reads it when it is imported.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


def exit_code(error: MonitorError) -> int:
    """1: a check failed; 2: wrong use or settings; 3: a service is out of reach."""
    match error:
        case WrongSettings() | InvalidMessage():
            return WRONG_USE
        case OutOfReach() | Retriable():
            return UNREACHABLE
        case _:
            return FAILED


def main() -> None:
    """Runs the command; a `MonitorError` becomes one message on standard error and an exit code, not a traceback.

    So does output that cannot be written. Any other error is a defect, and logged as one.
    """
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    os.environ.update({**ONE_THREAD, **os.environ})  # what the user has set stays
    try:
        from monitor.app.logs import log_defect, log_defects_of_threads, say  # noqa: PLC0415  after the garbage collector is set, which covers the imports too
        from monitor.cli.app import app  # noqa: PLC0415
    except ModuleNotFoundError as error:
        _exit_without(error)

    log_defects_of_threads()
    if isinstance(sys.stdout, io.TextIOWrapper) and sys.stdout.errors == "strict":
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no ü gets a ? for it
    try:
        app()
    except SystemExit:
        if (fault := _fault_of_output()) is None:
            raise
        _say_unwritten(fault)
        sys.exit(FAILED)
    except MonitorError as error:
        say(str(error), level=logging.ERROR)
        sys.exit(exit_code(error))
    except Exception as error:  # noqa: BLE001  whatever it is
        fault = _fault_of_output()
        if isinstance(error, OSError) and (fault is not None or error.errno in _NO_ROOM):
            _say_unwritten(fault or error)
        else:
            log_defect(error)
        sys.exit(FAILED)


def _exit_without(missing: ModuleNotFoundError) -> NoReturn:
    """Ends the program where a package is not installed that all of it needs."""
    name = (missing.name or "").partition(".")[0]
    if name in {"", "monitor"}:
        raise missing
    sys.stderr.write(
        f"monitor: the package {name} is not installed. `pip install --no-deps` installs no more than the client for "
        "chatbots; the program needs its dependencies: leave --no-deps out\n"
    )
    sys.exit(WRONG_USE)


def _fault_of_output() -> OSError | None:
    """Why standard output cannot be written; what waits to be written to it is dropped then."""
    if sys.stdout is None:
        return None
    try:
        sys.stdout.flush()
    except OSError as error:
        with open(os.devnull, "wb") as nowhere:  # noqa: PTH123  no path; Python would try once more at exit
            os.dup2(nowhere.fileno(), sys.stdout.fileno())
        return error
    return None


def _say_unwritten(fault: OSError) -> None:
    from monitor.app.logs import say  # noqa: PLC0415  as in `main`

    if not isinstance(fault, BrokenPipeError):  # the reader has seen enough, as `head`
        place = f" {fault.filename}" if fault.filename else ""
        say(f"cannot write{place}: {fault.strerror}", level=logging.ERROR)


if __name__ == "__main__":
    main()
