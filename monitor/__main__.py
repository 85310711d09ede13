"""The console command `monitor`."""

from __future__ import annotations

import gc
import logging
import os
import sys

from monitor.core.errors import InvalidMessage, MonitorError, OutOfReach, Retriable, WrongSettings

DONE, FAILED, WRONG_USE, UNREACHABLE = 0, 1, 2, 3
# Batches hold tens of thousands of objects without cycles: collecting every 700 objects would take a tenth of the time.
ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000
# Numpy's threads spin while they wait for each other, and the products here are too small to share: with a thread for
# each of two cores, scoring a short answer took five times as much processor time. Numpy reads it when it is imported.
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}


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

    Any other error is a defect, and logged as one.
    """
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    os.environ.update({**ONE_THREAD, **os.environ})  # what the user has set stays
    from monitor.app.logs import log_defect, log_defects_of_threads, say  # noqa: PLC0415  after the garbage collector is set, which covers the imports too
    from monitor.cli.app import app  # noqa: PLC0415

    log_defects_of_threads()
    try:
        app()
    except MonitorError as error:
        say(str(error), level=logging.ERROR)
        sys.exit(exit_code(error))
    except Exception as error:  # noqa: BLE001  whatever it is
        log_defect(error)
        sys.exit(FAILED)


if __name__ == "__main__":
    main()
