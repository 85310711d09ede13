"""The console command `monitor`."""

from __future__ import annotations

import gc
import sys

from monitor.core.errors import InvalidMessage, MonitorError, OutOfReach, Retriable, WrongSettings

DONE, FAILED, WRONG_USE, UNREACHABLE = 0, 1, 2, 3
# Batches hold tens of thousands of objects and no cycles: looking for some every 700 would cost a tenth of the time.
ALLOCATIONS_BETWEEN_COLLECTIONS = 200_000


def exit_code(error: MonitorError) -> int:
    """1 a check failed, 2 wrong use or settings, 3 a service is out of reach (design.md §10)."""
    match error:
        case WrongSettings() | InvalidMessage():
            return WRONG_USE
        case OutOfReach() | Retriable():
            return UNREACHABLE
        case _:
            return FAILED


def main() -> None:
    """Runs the command; an error that has a name is one message on standard error and an exit code, no traceback."""
    gc.set_threshold(ALLOCATIONS_BETWEEN_COLLECTIONS, 10, 10)
    from monitor.cli.app import app  # noqa: PLC0415  so that a broken import is told like any other error

    try:
        app()
    except MonitorError as error:
        sys.stderr.write(f"monitor: {error}\n")
        sys.exit(exit_code(error))


if __name__ == "__main__":
    main()
