"""What every `AlertStore` tells about the runs of probes."""

from __future__ import annotations

from datetime import timedelta

import pytest

from monitor.alert.probed import MAX_AGE, RUNS
from monitor.alert.signal import Signal, SignalKind
from tests.factories.probe.runs import AT

CORRECTNESS, UNSURE = (Signal(kind=SignalKind.PROBE, name=name) for name in ("correctness", "unsure"))


@pytest.fixture
def now(probe):
    return probe.ended_at


def test_the_newest_run_comes_first_with_the_values_of_its_questions(store, probe, now):
    first, second = probe(5, 4), probe(3, 0, chatbot="v2")
    (found,) = store.probed(CORRECTNESS, also=(), now=now)
    assert found.labels == {"probe": "support", "app": "shop", "environment": "production"}
    assert [(run.number, run.chatbot, run.items, run.judged) for run in found.runs] == [
        (second, "v2", 2, 2),
        (first, "v1", 2, 2),
    ]
    assert [dict(run.values) for run in found.runs] == [{"q0": 3.0}, {"q0": 5.0, "q1": 4.0}]
    (unsure,) = store.probed(UNSURE, also=(), now=now)
    assert [dict(run.values) for run in unsure.runs] == [{"q0": 0.0, "q1": 1.0}, {"q0": 0.0, "q1": 0.0}]


def test_each_probe_of_each_app_and_environment_is_one_of_its_own(store, probe, now):
    for labels in ({}, {"environment": "staging"}, {"app": "bank"}, {"probe": "other"}):
        probe(5, **labels)
    found = store.probed(CORRECTNESS, also=(), now=now)
    assert {tuple(one.labels.values()) for one in found} == {
        ("support", "shop", "production"),
        ("support", "shop", "staging"),
        ("support", "bank", "production"),
        ("other", "shop", "production"),
    }


def test_no_more_runs_come_than_are_needed_and_those_that_are_asked_for(store, probe, now):
    numbers = [probe(5) for _ in range(RUNS + 3)]
    (found,) = store.probed(CORRECTNESS, also=(numbers[1], 10**6), now=now)
    assert [run.number for run in found.runs] == [*reversed(numbers[-RUNS:]), numbers[1]]


def test_a_probe_whose_newest_run_is_too_old_is_left_out(store, probe, now):
    number = probe(5)
    assert len(store.probed(CORRECTNESS, also=(), now=now + MAX_AGE - timedelta(seconds=1))) == 1
    assert store.probed(CORRECTNESS, also=(number,), now=now + MAX_AGE) == []


def test_where_nothing_was_probed_there_is_no_probe(store):
    assert store.probed(CORRECTNESS, also=(1,), now=AT) == []
