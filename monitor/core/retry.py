"""Retries a call that failed with `Retriable`, after growing delays."""

from __future__ import annotations

import logging
import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from threading import Event
from time import monotonic
from typing import TypeVar

from monitor.core.errors import MonitorError, OutOfReach, Retriable

FIRST_DELAY = 0.5  # seconds
LONGEST_DELAY = 30.0

T = TypeVar("T")
logger = logging.getLogger(__name__)


class Interrupted(MonitorError):
    """The process is stopping; the call was given up between two tries."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Retry:
    """Tries again after `Retriable`, after exponentially growing delays, each cut by up to half at random.

    `patience` is the sum of delays in seconds after which it gives up; None never gives up. `stop` cuts a delay short.
    """

    stop: Event
    patience: float | None = None
    random: Callable[[], float] = random.random

    def __call__(self, call: Callable[[], T]) -> T:
        """Returns the result of `call`.

        Raises:
            OutOfReach: the patience is used up.
            Interrupted: `stop` was set during a delay.
        """
        waited, attempt = 0.0, 0
        began, problem = monotonic(), ""
        while True:
            try:
                result = call()
            except Retriable as error:
                delay = delay_before(attempt, error.retry_after, self.random())
                if self.patience is not None and waited + delay > self.patience:
                    raise OutOfReach(f"{error} (gave up after {attempt + 1} tries)") from error
                logger.warning("%s; trying again in %.1f s", error, delay)
                if self.stop.wait(delay):
                    raise Interrupted(str(error)) from error
                waited += delay
                attempt += 1
                problem = str(error).partition("\n")[0]
            else:
                if attempt:
                    logger.info("over after %.0f s: %s", monotonic() - began, problem)
                return result


def delay_before(attempt: int, retry_after: float | None, chance: float) -> float:
    """Seconds before try `attempt + 1`: what the service asked for, or between half and all of a doubling delay.

    Never less than half the first delay, so a service that keeps asking for 0 is not called in a busy loop.
    """
    if retry_after is not None:
        return max(retry_after, FIRST_DELAY / 2)
    return min(FIRST_DELAY * 2.0 ** min(attempt, 30), LONGEST_DELAY) * (0.5 + 0.5 * chance)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, from `retry-after-ms` or `Retry-After` (RFC 9110 §10.2.3); None without either.

    A date counts from the response's own `Date`, so a wrong local clock does no harm.
    """
    milliseconds, after = headers.get("retry-after-ms"), headers.get("retry-after")
    try:
        if milliseconds is not None:
            seconds = float(milliseconds) / 1000
        elif after is None:
            return None
        elif after.strip()[:1].isalpha():
            seconds = (parsedate_to_datetime(after) - parsedate_to_datetime(headers["date"])).total_seconds()
        else:
            seconds = float(after)
    except (ValueError, TypeError, KeyError):
        return None
    return max(0.0, seconds) if math.isfinite(seconds) else None
