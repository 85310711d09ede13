from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from monitor.alert.answers import BINS
from monitor.simulate.answers import simulated_answers

BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
TOTAL = np.array([[0, 300, 100], [50, 0, 100]])
BAD = np.array([[0, 100, 0], [10, 0, 100]])


def made(name):
    return simulated_answers(name, TOTAL, BAD, begin=BEGIN, rng=np.random.default_rng(1))


def test_each_minute_has_its_answers_of_each_topic():
    answers = made("score")
    minutes = ((answers.at - BEGIN.timestamp()) // 60).astype(int)
    assert np.bincount(minutes).tolist() == [50, 300, 200]
    assert [answers.topics[:50].count(f"topic {t}") for t in (0, 1)] == [0, 50]
    assert answers.weights.tolist() == [1] * 550


def test_bad_answers_are_refusals_or_worse_than_good_ones():
    assert (made("refusal").bins == BINS - 1).sum() == BAD.sum()
    bins = made("qrd").bins
    assert bins[350:].max() > bins[:50].mean()
    assert 0 <= bins.min() <= bins.max() < BINS
