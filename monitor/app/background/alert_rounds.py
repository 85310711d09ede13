"""Evaluates the alert rules and delivers notifications by the clock."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from monitor.alert.notify.deliver import AT_ONCE
from monitor.alert.notify.loop import AlertLoop
from monitor.alert.state import Alert
from monitor.app.background.timers import Timers
from monitor.core.text.plain import plain

log = logging.getLogger(__name__)

_PURGE_EVERY = 3600.0  # seconds


@contextmanager
def alert_rounds(loop: AlertLoop, *, interval: float, now: Callable[[], datetime]) -> Iterator[None]:
    """Evaluates and delivers every `interval` seconds while the block runs; delivers at once what evaluation found.

    Evaluation and each receiver run on threads of their own, so that none waits for another.
    """
    with Timers() as timers:

        def deliveries_to(receiver: str) -> Callable[[], None]:
            name = f"delivery to the receiver {receiver}"

            def some() -> None:
                if loop.deliver_to(receiver, now()).sent >= AT_ONCE:
                    timers.wake(name)  # more may wait

            return timers.every(interval, some, name=name)

        wake_deliveries = [deliveries_to(receiver) for receiver in loop.receivers]
        wake_deliveries.append(
            timers.every(interval, lambda: loop.deliver_rest(now()), name="delivery to receivers no longer configured")
        )

        def evaluate() -> None:
            try:
                for change in loop.evaluate(now()):
                    alert = change.alert
                    log.info("alert %s (%s): %s", alert.rule, _labels(alert), alert.state, extra={"rule": alert.rule})
            finally:
                for wake in wake_deliveries:
                    wake()

        timers.every(interval, evaluate, name="evaluation of the alert rules")
        timers.every(_PURGE_EVERY, lambda: loop.purge(now()), name="purge of old notifications")
        yield


def _labels(alert: Alert) -> str:
    return ", ".join(plain(f"{name}={value}") for name, value in alert.labels.items() if value)
