"""A calibrated profile against the one it started from: paired, on held-out answers, honest where it is no better."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from monitor.review.calibrate.crossval import CrossValidated
from monitor.review.calibrate.gain import FIGURES, gain
from monitor.review.calibrate.logistic import probabilities
from monitor.review.evaluate.statistics import auc
from tests.factories.review.calibrate import START, some_rows


def judged(probability, threshold=0.5):
    return CrossValidated(probability=probability, flagged=probability >= threshold, importance={})


def compared(rows, probability, *, objective="f1", apps=None, threshold=0.5):
    apps = np.array(["bot"] * len(rows.made_up)) if apps is None else apps
    rng = np.random.default_rng(0)
    return gain(rows, judged(probability, threshold), apps, rng, objective=objective)


@pytest.fixture(scope="module")
def rows():
    return some_rows(200)


def test_the_figures_are_those_of_the_definition(rows):
    start = probabilities(rows.prior)
    after = np.where(rows.made_up, 0.75, 0.25)
    found = compared(rows, after)
    changes = found.changes
    assert tuple(changes) == FIGURES
    assert changes["log_loss"].after == pytest.approx(-np.log(0.75))
    assert changes["brier"].after == pytest.approx(1 / 16)
    assert changes["brier"].before == pytest.approx(np.mean((start - rows.made_up) ** 2))
    assert changes["auc"].before == pytest.approx(auc(start, rows.made_up))
    assert (changes["errors"].after, changes["missed"].after, changes["false_alarms"].after) == (0, 0, 0)
    assert changes["errors"].before == pytest.approx(np.mean((start >= START.threshold) != rows.made_up))
    assert changes["log_loss"].high < 0
    assert (found.better, found.worse) == (True, False)


def test_one_that_changes_nothing_is_not_better(rows):
    found = compared(rows, probabilities(rows.prior), threshold=START.threshold)
    assert (found.better, found.worse) == (False, False)
    assert all(change.low == change.high == 0 for change in found.changes.values())


def test_one_whose_probabilities_are_worse_is_not_better_whatever_it_ranks(rows):
    found = compared(rows, np.where(rows.made_up, 1.0, 0.999), threshold=0.9999)
    assert found.changes["auc"].after == 1
    assert (found.better, found.worse) == (False, True)


def test_one_that_says_nothing_is_not_better_than_an_overconfident_one(rows):
    wrong = replace(rows, start=START.model_copy(update={"bias": 20.0}))
    found = compared(wrong, np.full(len(rows.made_up), rows.made_up.mean()))
    assert found.changes["log_loss"].high < 0
    assert (found.tells, found.better) == (False, False)


def test_errors_count_unless_the_objective_trades_them(rows):
    finer = np.where(rows.made_up, 0.75, 0.25)
    assert not compared(rows, finer, threshold=0.1).better  # calls all self-generated
    assert compared(rows, finer, threshold=0.1, objective="f2").better


def test_errors_are_told_by_app_where_there_are_several(rows):
    apps = np.array(["one", "two"])[np.arange(len(rows.made_up)) % 2]
    found = compared(rows, np.where(rows.made_up, 0.75, 0.25), apps=apps)
    assert [(a.app, a.answers) for a in found.apps] == [("one", 100), ("two", 100)]
    together = sum(a.answers * a.errors.before for a in found.apps) / 200
    assert together == pytest.approx(found.changes["errors"].before)
    assert found.as_json()["better"]
