"""The console command `monitor`."""

from __future__ import annotations

import gc
import logging
import sys

from monitor.core.errors import InvalidMessage, MonitorError, OutOfReach, Retriable, WrongSettings

DONE, FAILED, WRONG_USE, UNREACHABLE = 0, 1, 2, 3
# Batches hold tens of thousands of objects without cycles: collecting every 700 objects would take a tenth of the time.
ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000


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
