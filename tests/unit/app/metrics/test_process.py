"""What a process shows of itself."""

from __future__ import annotations

import platform
from datetime import timedelta
from importlib.metadata import version
from typing import get_args

import pytest

from monitor.app.metrics.process import (
    EVALUATION_BUCKETS,
    NOTIFICATION_BUCKETS,
    STAGE_BUCKETS,
    STORED_BUCKETS,
    ProcessMetricName,
    ProcessMetrics,
)
from monitor.app.metrics.stage_times import EndedStage
from monitor.core.stage import StageName
from tests.factories.answers import NOON


@pytest.fixture
def metrics():
    return ProcessMetrics()


def samples(metrics):
    """By name and labels, without buckets."""
    return {
        (s.name, *sorted(s.labels.items())): s.value
        for family in metrics.registry.collect()
        for s in family.samples
        if not s.name.endswith("_bucket")
    }


def test_every_metric_is_there_under_its_name_beside_those_of_any_process(metrics):
    names = {family.name for family in metrics.registry.collect()}
    assert {name for name in names if name.startswith("monitor_")} == set(get_args(ProcessMetricName))
    assert {"process_resident_memory_bytes", "process_cpu_seconds", "python_info", "python_gc_collections"} <= names


def ended(name, seconds, *, failed=False, receiver=""):
    return EndedStage(name=name, seconds=seconds, failed=failed, receiver=receiver)


def test_each_stage_has_a_histogram_of_its_own_by_outcome(metrics):
    plain = [name for name in get_args(StageName) if name not in {"evaluate", "notify"}]
    for number, name in enumerate(plain, 1):
        metrics.ended(ended(name, float(number)))
        metrics.ended(ended(name, 2.0, failed=True))
    metrics.read(0.25)
    shown = samples(metrics)
    for number, name in enumerate(plain, 1):
        assert shown["monitor_stage_duration_seconds_sum", ("outcome", "done"), ("stage", name)] == number
        assert shown["monitor_stage_duration_seconds_count", ("outcome", "failed"), ("stage", name)] == 1
    assert shown["monitor_stage_duration_seconds_sum", ("outcome", "done"), ("stage", "read")] == 0.25


def test_the_time_from_receipt_to_storing_counts_each_message_and_is_never_negative(metrics):
    metrics.stored([NOON - timedelta(seconds=4), NOON - timedelta(seconds=2), NOON + timedelta(hours=1)], NOON)
    shown = samples(metrics)
    assert shown["monitor_received_to_stored_seconds_count",] == 3
    assert shown["monitor_received_to_stored_seconds_sum",] == 6


def test_evaluations_and_attempts_to_send_have_metrics_of_their_own(metrics):
    metrics.ended(ended("evaluate", 0.5))
    metrics.ended(ended("notify", 0.25, receiver="slack"))
    metrics.ended(ended("notify", 5.0, receiver="slack", failed=True))
    shown = samples(metrics)
    assert shown["monitor_evaluation_duration_seconds_sum", ("outcome", "done")] == 0.5
    assert shown["monitor_notification_duration_seconds_sum", ("outcome", "failed"), ("receiver", "slack")] == 5
    assert shown["monitor_notification_duration_seconds_count", ("outcome", "done"), ("receiver", "slack")] == 1
    assert not [name for name, *_ in shown if name.startswith("monitor_stage")]


def test_what_runs_here_is_told_once_and_more_exactly_where_answers_are_assessed(metrics):
    def build():
        ((name, *labels),) = [key for key in samples(metrics) if key[0] == "monitor_build_info"]
        assert samples(metrics)[name, *labels] == 1
        return dict(labels)

    known = {"version": version("rag-monitor"), "python": platform.python_version()}
    assert build() == {**known, "profile": "", "embedding_build": ""}
    metrics.built(profile="minilm-int8", embedding_build="all-MiniLM-L6-v2-int8")
    assert build() == {**known, "profile": "minilm-int8", "embedding_build": "all-MiniLM-L6-v2-int8"}


def test_retention_is_asked_with_each_scrape():
    refused = [False, True]
    metrics = ProcessMetrics(lambda: refused.pop(0))
    assert [samples(metrics)["monitor_retention_refused",] for _ in range(2)] == [0, 1]


def test_no_second_series_tells_when_a_series_began(metrics):
    metrics.read(1.0)
    assert not [name for name, *_ in samples(metrics) if name.endswith("_created")]


@pytest.mark.parametrize("buckets", [STAGE_BUCKETS, STORED_BUCKETS, EVALUATION_BUCKETS, NOTIFICATION_BUCKETS])
def test_buckets_reach_from_milliseconds_to_a_minute_at_least(buckets):
    assert list(buckets) == sorted(set(buckets))
    assert buckets[0] <= 0.05
    assert buckets[-1] >= 60


def test_two_applications_in_one_process_do_not_mix(metrics):
    metrics.read(1.0)
    assert not [name for name, *_ in samples(ProcessMetrics()) if name == "monitor_stage_duration_seconds_count"]
