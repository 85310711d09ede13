"""Every figure of the tables, counted again from the rows."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from monitor.core.model import Verdict
from monitor.review.evaluate.figures import Positive
from monitor.review.evaluate.tables import TAUS, Resampling, evaluate, rates
from tests.factories.review.evaluate import THRESHOLDS, G, R, S, a_row, measured, some_rows

NAMES = ("sdq", "sdrd", "sda", "qrd", "qa")
COMPARED = {
    "primary": ("sdq", "sdrd", "sda"),
    "primary + QRD": ("sdq", "sdrd", "sda", "qrd"),
    "primary + QA": ("sdq", "sdrd", "sda", "qa"),
    "primary + QRD + QA": NAMES,
}
RESAMPLING = Resampling(draws=200, seed=3)


@pytest.fixture(scope="module")
def pairs():
    return some_rows()


@pytest.fixture(scope="module")
def found(pairs):
    return evaluate(measured(pairs), THRESHOLDS, Positive.NEGATIVE, RESAMPLING)


def counted(flags, positives):
    """Accuracy, precision, recall, F1, F2 and the F1 of flagging everything; None where undefined."""
    both = list(zip(flags, positives, strict=True))
    tp, fp, fn = (both.count(cell) for cell in ((True, True), (True, False), (False, True)))
    precision = tp / (tp + fp) if tp + fp else None
    recall = tp / (tp + fn) if tp + fn else None

    def f(beta):
        if recall is None:
            return None
        if not tp:
            return 0.0
        return (1 + beta**2) * precision * recall / (beta**2 * precision + recall)

    share = sum(positives) / len(both)
    everything = 2 * share / (1 + share) if share else None
    return [sum(a == b for a, b in both) / len(both), precision, recall, f(1), f(2), everything]


def values(rates):
    figures = (rates.accuracy, rates.precision, rates.recall, rates.f1, rates.f2, rates.f1_flag_everything)
    return [figure.value for figure in figures]


def bad(pairs):
    return [row.label is not G for row, _ in pairs]


def below(assessment, thresholds):
    metrics = {name: getattr(assessment.metrics, name) for name in thresholds}
    return any(value is not None and value < thresholds[name] for name, value in metrics.items())


def pairwise(scores, positives):
    both = list(zip(scores, positives, strict=True))
    against = list(product([s for s, p in both if p], [s for s, p in both if not p]))
    return sum(1.0 if a > b else 0.5 if a == b else 0.0 for a, b in against) / len(against)


def test_rows_groups_and_labels_are_counted(found):
    assert (found.rows, found.groups) == (12, 7)
    assert found.labels == {"grounded": 5, "refusal": 3, "self_generated": 4}


@pytest.mark.parametrize("by", ["verdict", "rule"])
def test_what_verdict_and_rule_reach(found, pairs, by):
    given = [a.verdict if by == "verdict" else a.rule_verdict for _, a in pairs]
    flags = [verdict is not G for verdict in given]
    reached = getattr(found, by)
    assert values(reached) == pytest.approx(counted(flags, bad(pairs)))
    assert (reached.rows, reached.positives, reached.flagged) == (12, 7, sum(flags))


def test_every_row_of_the_threshold_table(found, pairs):
    assert [(t.metrics, t.threshold) for t in found.thresholds] == list(product(COMPARED, (*TAUS, None)))
    for t in found.thresholds:
        own = {name: THRESHOLDS[name] if t.threshold is None else t.threshold for name in COMPARED[t.metrics]}
        flags = [below(a, own) for _, a in pairs]
        assert values(t.rates) == pytest.approx(counted(flags, bad(pairs))), t.metrics
        assert t.rates.flagged == sum(flags)


def test_each_metric_alone(found, pairs):
    assert [(t.metrics, t.threshold) for t in found.metrics_alone] == list(
        product([name.upper() for name in NAMES], (*TAUS, None))
    )
    for t in found.metrics_alone:
        name = t.metrics.lower()
        own = {name: THRESHOLDS[name] if t.threshold is None else t.threshold}
        assert values(t.rates) == pytest.approx(counted([below(a, own) for _, a in pairs], bad(pairs)))


def test_the_rankings(found, pairs):
    def lowest(a):
        return min((v for v in (a.metrics.sdq, a.metrics.sdrd, a.metrics.sda) if v is not None), default=1.0)

    by = {"probability": lambda a: 1 - a.probabilities.grounded, "rule": lambda a: -lowest(a)}
    for ranking in found.ranking:
        those = [(r, a) for r, a in pairs if ranking.positive == "negative" or r.label is not R]
        scores, positives = [by[ranking.by](a) for _, a in those], [r.label is not G for r, _ in those]
        assert (ranking.positives, ranking.others) == (sum(positives), len(positives) - sum(positives))
        assert ranking.auc.value == pytest.approx(pairwise(scores, positives))
        tried = {}
        for threshold in scores:
            flags = [score >= threshold for score in scores]
            tried[threshold] = counted(flags, positives)
        sign = 1 if ranking.by == "probability" else -1
        assert ranking.best_f1.value == pytest.approx(max(reached[3] for reached in tried.values()))
        assert tried[sign * ranking.best_f1.threshold][3] == pytest.approx(ranking.best_f1.value)
        precise = [reached[2] for reached in tried.values() if reached[1] >= 0.9]
        assert ranking.recall_at_precision_90.value == (pytest.approx(max(precise)) if precise else None)
        for point in ranking.points[1:]:
            flags = [score >= sign * point.threshold for score in scores]
            assert point.tpr == pytest.approx(np.mean([f for f, p in zip(flags, positives, strict=True) if p]))
            assert point.fpr == pytest.approx(np.mean([f for f, p in zip(flags, positives, strict=True) if not p]))
    assert [(r.positive, r.by) for r in found.ranking] == list(
        product(("negative", "self_generated"), ("probability", "rule"))
    )
    area = np.trapezoid([p.tpr for p in found.ranking[0].points], [p.fpr for p in found.ranking[0].points])
    assert area == pytest.approx(found.ranking[0].auc.value)


def test_each_generator_and_those_that_name_none(found, pairs):
    assert [m.model for m in found.models] == [None, "large", "small"]
    for m in found.models:
        those = [(r, a) for r, a in pairs if r.interaction.model == m.model]
        assert values(m.verdict) == pytest.approx(counted([a.verdict is not G for _, a in those], bad(those)))
        assert values(m.rule) == pytest.approx(counted([a.rule_verdict is not G for _, a in those], bad(those)))
        if m.model is not None:
            assert m.auc.value == pytest.approx(pairwise([1 - a.probabilities.grounded for _, a in those], bad(those)))
    nameless = found.models[0]
    assert (nameless.auc.value, nameless.auc.reason) == (None, "no row is positive")
    assert (nameless.verdict.f1.value, nameless.verdict.f1.reason) == (None, "no row is positive")
    assert (nameless.verdict.precision.value, nameless.verdict.precision.reason) == (None, "nothing is flagged")


def test_refusals_among_all_rows_and_among_bad_ones(found, pairs):
    for r in found.refusals:
        those = [(row, a) for row, a in pairs if r.among == "all" or row.label is not G]
        flags = [(a.verdict if r.by == "verdict" else a.rule_verdict) is R for _, a in those]
        assert values(r.rates) == pytest.approx(counted(flags, [row.label is R for row, _ in those]))
    assert [(r.among, r.by) for r in found.refusals] == list(product(("all", "negative"), ("verdict", "rule")))


def test_labels_against_verdicts(found, pairs):
    for by, label, verdict in product(("verdict", "rule"), Verdict, Verdict):
        given = [(r.label, a.verdict if by == "verdict" else a.rule_verdict) for r, a in pairs]
        assert found.confusion[by][label][verdict] == given.count((label, verdict))


def test_calibration(found, pairs):
    said = {
        "negative": ([1 - a.probabilities.grounded for _, a in pairs], bad(pairs)),
        "refusal": ([a.probabilities.refusal for _, a in pairs], [r.label is R for r, _ in pairs]),
        "self_generated": ([a.probabilities.self_generated for _, a in pairs], [r.label is S for r, _ in pairs]),
    }
    assert [c.outcome for c in found.calibration] == list(said)
    for c in found.calibration:
        p, came = said[c.outcome]
        share = sum(came) / 12
        assert c.mean_probability == pytest.approx(sum(p) / 12)
        assert c.observed == pytest.approx(share)
        assert c.brier.value == pytest.approx(sum((x - y) ** 2 for x, y in zip(p, came, strict=True)) / 12)
        assert c.brier_of_observed == pytest.approx(sum((share - y) ** 2 for y in came) / 12)
        gap = 0.0
        for number, b in enumerate(c.bins):
            inside = [(x, y) for x, y in zip(p, came, strict=True) if min(round(x * 100) // 10, 9) == number]
            assert b.rows == len(inside)
            if inside:
                assert b.observed.value == pytest.approx(np.mean([y for _, y in inside]))
                gap += abs(sum(x - y for x, y in inside)) / 12
            else:
                assert b.observed.reason == "no row has such a probability"
        assert c.ece == pytest.approx(gap)
        assert 0 < c.ece_if_perfect < 0.5


def test_intervals_hold_their_figures_and_come_again_with_their_seed(found, pairs):
    for t in found.thresholds:
        assert t.rates.f1.low <= t.rates.f1.value <= t.rates.f1.high
    assert evaluate(measured(pairs), THRESHOLDS, Positive.NEGATIVE, RESAMPLING) == found
    other = evaluate(measured(pairs), THRESHOLDS, Positive.NEGATIVE, Resampling(draws=200, seed=4))
    assert other.verdict.f1.value == found.verdict.f1.value
    assert other.verdict.f1.low != found.verdict.f1.low


def test_an_interval_is_that_of_resampled_groups(pairs):
    """Against a loop over draws, one row at a time."""
    groups = np.array([r.group for r, _ in pairs])
    names, rng, f1s = np.unique(groups), np.random.default_rng(3), []
    for _ in range(200):
        times = rng.multinomial(len(names), [1 / len(names)] * len(names))
        drawn = [
            pair for name, n in zip(names, times, strict=True) for pair in n * [p for p in pairs if p[0].group == name]
        ]
        f1s.append(counted([a.verdict is not G for _, a in drawn], bad(drawn))[3])
    defined = [f1 for f1 in f1s if f1 is not None]
    flagged = np.array([[a.verdict is not G] for _, a in pairs])
    (reached,) = rates(flagged, np.array(bad(pairs)), groups, RESAMPLING)
    assert (reached.f1.low, reached.f1.high) == pytest.approx(tuple(np.quantile(defined, [0.025, 0.975])))


def test_unanswerable_questions_count_as_positive_where_that_is_asked(pairs):
    known = [(r, a) for r, a in pairs if r.answerable is not None]
    found = evaluate(measured(known), THRESHOLDS, Positive.UNANSWERABLE, RESAMPLING)
    positives = [not r.answerable for r, _ in known]
    assert values(found.verdict) == pytest.approx(counted([a.verdict is not G for _, a in known], positives))
    assert found.ranking[0].positive == "unanswerable"
    assert found.ranking[0].positives == sum(positives)
    assert found.ranking[2].positive == "self_generated"


@pytest.mark.parametrize(
    ("label", "reason"), [(G, "no row is positive"), (S, "every row is positive")], ids=["good", "bad"]
)
def test_rows_of_one_label_have_reasons_instead_of_figures(label, reason):
    pairs = [a_row(label, verdict, number=n) for n, verdict in enumerate((G, S, G))]
    found = evaluate(measured(pairs), THRESHOLDS, Positive.NEGATIVE, RESAMPLING)
    assert (found.ranking[0].auc.value, found.ranking[0].auc.reason) == (None, reason)
    assert found.ranking[0].points == ()
    assert found.verdict.accuracy.value is not None
    if label is G:
        assert found.ranking[0].best_f1.value is None
        assert (found.verdict.recall.reason, found.verdict.precision.value) == (reason, 0.0)
