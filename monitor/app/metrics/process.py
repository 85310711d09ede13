"""Keeps what this process measures of itself: how long its work takes, its build, its memory and processor time.

Each process shows its own, with the stages of the processes that it started: scrape them all, and add up.
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterable
from datetime import datetime
from importlib.metadata import version
from typing import Literal

from prometheus_client import (
    CollectorRegistry,
    Gauge,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from monitor.app.metrics.stage_times import EndedStage

ProcessMetricName = Literal[
    "monitor_build_info",  # 1, by version, Python, profile and build of the embedder; the last two of what assesses
    "monitor_stage_duration_seconds",  # by stage and outcome; one batch, call, rule, report or run of a probe each
    "monitor_received_to_stored_seconds",  # of one message, from its receipt to the commit that stored it
    "monitor_evaluation_duration_seconds",  # of one round of all alert rules, where this process evaluates; by outcome
    "monitor_notification_duration_seconds",  # of one attempt to send, by receiver and outcome
    "monitor_retention_refused",  # 1 while retention removes nothing, since a clock may be ahead; where it last ran
]
# Upper limits in seconds. A stage of a small batch takes milliseconds; one that waits for a provider takes minutes.
STAGE_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300)
# A message that waited in Kafka took hours.
STORED_BUCKETS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900, 3600, 14400)
EVALUATION_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
NOTIFICATION_BUCKETS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class ProcessMetrics:
    """The metrics of this process, in a registry of their own. Threads may share it.

    `retention_refused` says whether the last round of retention waits for a person to confirm it.
    """

    def __init__(self, retention_refused: Callable[[], bool] = lambda: False) -> None:
        # Prometheus would store a second series for each one, which nobody asks for
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        for collector in (ProcessCollector, PlatformCollector, GCCollector):
            collector(registry=self.registry)
        name: ProcessMetricName = "monitor_build_info"
        self._build = Gauge(
            name, "What runs here.", ("version", "python", "profile", "embedding_build"), registry=self.registry
        )
        refused: ProcessMetricName = "monitor_retention_refused"
        Gauge(refused, "Whether retention waits for a person to confirm it.", registry=self.registry).set_function(
            lambda: float(retention_refused())
        )
        self._stages = self._histogram(
            "monitor_stage_duration_seconds", "How long a stage took.", STAGE_BUCKETS, "stage", "outcome"
        )
        self._stored = self._histogram(
            "monitor_received_to_stored_seconds",
            "From the receipt of a message to the commit that stored it.",
            STORED_BUCKETS,
        )
        self._evaluations = self._histogram(
            "monitor_evaluation_duration_seconds",
            "How long one evaluation of all alert rules took.",
            EVALUATION_BUCKETS,
            "outcome",
        )
        self._notifications = self._histogram(
            "monitor_notification_duration_seconds",
            "How long one attempt to send a notification took.",
            NOTIFICATION_BUCKETS,
            "receiver",
            "outcome",
        )
        self.built()

    def built(self, *, profile: str = "", embedding_build: str = "") -> None:
        """Says what this process is; profile and build are empty where it assesses nothing."""
        self._build.clear()
        self._build.labels(version("rag-monitor"), platform.python_version(), profile, embedding_build).set(1)

    def read(self, seconds: float) -> None:
        """A source has given messages."""
        self._stages.labels("read", "done").observe(seconds)

    def ended(self, stage: EndedStage) -> None:
        """A stage is over, here or in a process that this one started."""
        outcome = "failed" if stage.failed else "done"
        if stage.name == "notify":
            self._notifications.labels(stage.receiver, outcome).observe(stage.seconds)
        elif stage.name == "evaluate":
            self._evaluations.labels(outcome).observe(stage.seconds)
        else:
            self._stages.labels(stage.name, outcome).observe(stage.seconds)

    def stored(self, arrived: Iterable[datetime], now: datetime) -> None:
        """Messages that were received at `arrived` are stored since `now`."""
        for at in arrived:
            self._stored.observe(max(0.0, (now - at).total_seconds()))  # the broker's clock may be ahead of ours

    def _histogram(self, name: ProcessMetricName, says: str, buckets: tuple[float, ...], *labels: str) -> Histogram:
        return Histogram(name, says, labels, buckets=buckets, registry=self.registry)
