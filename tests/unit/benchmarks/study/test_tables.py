"""The tables against the same figures counted one by one."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.study.published import SQUAD_ANSWERABLE, SQUAD_UNANSWERABLE, THRESHOLDS, flag_everything_f1
from benchmarks.study.scoring import Scored
from benchmarks.study.tables import MATCHED_RECALL, Tables, tables, tau_of_recall
from monitor.review.evaluate.tables import Resampling

SDQ, SDRD, SDA, QRD, QA = range(5)


def some(rows: int = 60, seed: int = 3) -> Scored:
    rng = np.random.default_rng(seed)
    declined = rng.random(rows) < 0.4
    return Scored(
        similarities=rng.random((rows, 5)) ** 0.3,
        unanswerable=rng.random(rows) < 0.4,
        declined=declined,
        worded=declined ^ (rng.random(rows) < 0.1),
        groups=np.array([f"g{n // 3}" for n in range(rows)]),
    )


@pytest.fixture(scope="module")
def answers() -> Scored:
    return some()


@pytest.fixture(scope="module")
def found(answers: Scored) -> Tables:
    return tables(answers, Resampling(draws=40, seed=1))


@pytest.mark.parametrize(
    ("metrics", "places"),
    [
        ("primary", (SDQ, SDRD, SDA)),
        ("primary + QRD", (SDQ, SDRD, SDA, QRD)),
        ("primary + QA", (SDQ, SDRD, SDA, QA)),
        ("primary + QRD + QA", (SDQ, SDRD, SDA, QRD, QA)),
    ],
)
def test_thresholds_are_what_counting_gives(answers, found, metrics, places):
    lines = [line for line in found.thresholds if line.metrics == metrics]
    assert [line.tau for line in lines] == [0.70, 0.75, 0.80, 0.85, found.matched_tau]
    for line in lines:
        tp = fp = fn = tn = 0
        for row, positive in zip(answers.similarities, answers.unanswerable, strict=True):
            flagged = any(row[place] < line.tau for place in places)
            tp, fp = tp + (flagged and positive), fp + (flagged and not positive)
            fn, tn = fn + (not flagged and positive), tn + (not flagged and not positive)
        assert line.rates.accuracy.value == pytest.approx((tp + tn) / (tp + fp + fn + tn))
        assert line.rates.precision.value == pytest.approx(tp / (tp + fp))
        assert line.rates.recall.value == pytest.approx(tp / (tp + fn))
        assert line.rates.f1.value == pytest.approx(2 * tp / (2 * tp + fp + fn))
        assert line.rates.f2.value == pytest.approx(5 * tp / (5 * tp + fp + 4 * fn))
        assert line.rates.f1_flag_everything.value == pytest.approx(flag_everything_f1(fp + tn, tp + fn))


def test_recall_of_each_metric_alone_is_what_counting_gives(answers, found):
    positive = answers.similarities[answers.unanswerable]
    places = {"SDQ": SDQ, "SDRD": SDRD, "SDA": SDA, "QRD": QRD, "QA": QA}
    assert len(found.alone) == 25
    for line in found.alone:
        assert line.rates.recall.value == pytest.approx((positive[:, places[line.metrics]] < line.tau).mean())


def test_auc_is_the_share_of_pairs_in_the_right_order(answers, found):
    worst = answers.similarities[:, [SDQ, SDRD, SDA]].min(axis=1)
    pairs = [
        (low < high) + (low == high) / 2 for low in worst[answers.unanswerable] for high in worst[~answers.unanswerable]
    ]
    area = found.auc["primary"]
    assert area.value == pytest.approx(np.mean(pairs))
    assert area.low < area.value < area.high


def test_refusals_are_counted_among_the_unanswerable(answers, found):
    for line in found.refusals:
        called = both = refused = 0
        for i in np.flatnonzero(answers.unanswerable):
            row = answers.similarities[i]
            rule = line.tau is not None and row[[SDQ, SDRD, SDA]].min() < line.tau and row[QA] < line.tau
            says = answers.worded[i] if line.by == "wording" else rule
            called, refused = called + says, refused + answers.declined[i]
            both += says and answers.declined[i]
        assert (line.rates.rows, line.rates.positives, line.rates.flagged) == (found.unanswerable, refused, called)
        assert line.rates.precision.value == pytest.approx(both / called)
        assert line.rates.recall.value == pytest.approx(both / refused)
    assert [(line.by, line.tau) for line in found.refusals] == [
        ("rule", 0.80),
        ("rule", found.matched_tau),
        ("wording", None),
    ]


def test_the_matched_threshold_is_the_lowest_with_that_recall(answers):
    tau = tau_of_recall(answers, MATCHED_RECALL)
    worst = answers.similarities[:, [SDQ, SDRD, SDA]].min(axis=1)[answers.unanswerable]

    assert (worst < tau).mean() >= MATCHED_RECALL
    assert (worst < np.nextafter(tau, 0)).mean() < MATCHED_RECALL


def test_declined_shares_are_of_each_kind_of_question(answers, found):
    assert found.declined_of_answerable == pytest.approx(answers.declined[~answers.unanswerable].mean())
    assert found.declined_of_unanswerable == pytest.approx(answers.declined[answers.unanswerable].mean())


@pytest.mark.parametrize("line", THRESHOLDS.values())
def test_published_lines_agree_with_themselves(line):
    """A slip of the pen would show: F follows from precision and recall, accuracy from those and the sizes."""
    hits = line.recall * SQUAD_UNANSWERABLE
    false_alarms = hits / line.precision - hits
    right = hits + SQUAD_ANSWERABLE - false_alarms

    assert 2 * line.precision * line.recall / (line.precision + line.recall) == pytest.approx(line.f1, abs=2e-4)
    assert 5 * line.precision * line.recall / (4 * line.precision + line.recall) == pytest.approx(line.f2, abs=2e-4)
    assert right / (SQUAD_ANSWERABLE + SQUAD_UNANSWERABLE) == pytest.approx(line.accuracy, abs=1e-3)
