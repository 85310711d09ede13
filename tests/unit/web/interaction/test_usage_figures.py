from __future__ import annotations

import pytest

from monitor.core.figures.latency import LATENCY_BINS, latency_bin
from monitor.core.figures.usage import Amount, AnswerUsage
from monitor.web.interaction.usage_figures import usage_changes


def used(answers, *, milliseconds=1_000.0, cost=0.0, tokens=100):
    bins = [0] * LATENCY_BINS
    bins[latency_bin(milliseconds)] = answers
    return AnswerUsage(
        answers=answers,
        latency=Amount(answers=answers, sum=answers * milliseconds / 1000),
        latency_bins=tuple(bins),
        tokens=Amount(answers=answers, sum=float(answers * tokens)),
        cost=Amount(answers=answers if cost else 0, sum=answers * cost),
    )


def test_a_change_is_a_part_of_the_span_before():
    (change,) = usage_changes(
        {"a": used(10, milliseconds=2_000.0, cost=0.03)},
        {"a": used(40, milliseconds=1_000.0, cost=0.02, tokens=80)},
    )
    assert change.p95_change == pytest.approx(1.0, abs=0.21)  # each percentile is exact to 5 %
    assert (change.tokens_change, change.cost_change) == (pytest.approx(0.25), pytest.approx(0.5))


def test_nothing_is_said_to_have_changed_from_nothing():
    (change,) = usage_changes({"a": used(10)}, {})
    assert (change.p95_change, change.tokens_change, change.cost_change) == (None, None, None)
    assert change.now.unpriced == 10


def test_the_most_expensive_app_is_first_and_one_that_tells_nothing_is_left_out():
    apps = {"busy": used(100), "dear": used(1, cost=9.0), "silent": AnswerUsage(answers=1_000)}
    assert [change.app for change in usage_changes(apps, {})] == ["dear", "busy"]
