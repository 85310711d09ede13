"""Computes the study's tables (Wei 2024, metrics.md §1) for labelled rows, each figure with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from monitor.assess.classify.verdict import PRIMARY
from monitor.core.model import Verdict
from monitor.review.evaluate.bootstrap import bootstrap_over_groups
from monitor.review.evaluate.figures import (
    Calibration,
    CalibrationBin,
    Evaluation,
    Figure,
    Hindsight,
    OfModel,
    Point,
    Positive,
    Ranking,
    Rates,
    Refusals,
    Threshold,
)
from monitor.review.evaluate.reliability import (
    ece,
    expected_ece_of_perfect,
    reliability,
    weighted_brier,
    weighted_observed,
)
from monitor.review.evaluate.rows import METRICS, Measured, Strings
from monitor.review.evaluate.statistics import (
    Best,
    Bools,
    Floats,
    Statistic,
    accuracy_of,
    best_threshold,
    counts,
    defined,
    f_objective,
    f_of,
    flag_everything_f_of,
    precision_of,
    recall_at_precision,
    recall_of,
    roc,
    weighted_auc,
    weighted_average_precision,
)

TAUS = (0.50, 0.55, 0.60, 0.65, 0.70, 0.75, 0.80, 0.85, 0.90, 0.95)
COMBINATIONS: Mapping[str, tuple[str, ...]] = {
    "primary": PRIMARY,
    "primary + QRD": (*PRIMARY, "qrd"),
    "primary + QA": (*PRIMARY, "qa"),
    "primary + QRD + QA": (*PRIMARY, "qrd", "qa"),
}
PRECISE = 0.9  # precision: nine of ten flagged answers are bad
BINS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals are computed. All figures of the same rows use the same draws."""

    draws: int
    seed: int

    def figures(self, statistic: Statistic, groups: Strings, reason: str) -> list[Figure]:
        """The k figures of `statistic` with their intervals; an undefined one gets `reason`."""
        values = statistic(np.ones((1, len(groups))))[0]
        intervals = bootstrap_over_groups(statistic, groups, self.draws, np.random.default_rng(self.seed))
        return [
            Figure(value=None, reason=reason)
            if (known := defined(value)) is None
            else Figure(value=known, low=interval and interval.low, high=interval and interval.high)
            for value, interval in zip(values, intervals, strict=True)
        ]


def is_positive(rows: Measured, positive: Positive) -> Bools:
    """Which rows count as positive; `unanswerable` needs rows that tell whether they are answerable."""
    return rows.negative_label if positive is Positive.NEGATIVE else ~rows.answerable


def evaluate(rows: Measured, thresholds: Mapping[str, float], positive: Positive, resampling: Resampling) -> Evaluation:
    """All figures for `rows`; `thresholds` are the profile's, by metric."""
    bad = is_positive(rows, positive)
    flagged = np.stack([rows.verdict != Verdict.GROUNDED, rows.rule_verdict != Verdict.GROUNDED], axis=1)
    verdict, rule = rates(flagged, bad, rows.group, resampling)
    told_apart = rows.where(rows.label != Verdict.REFUSAL)
    made_up = told_apart.label == Verdict.SELF_GENERATED
    return Evaluation(
        rows=len(rows),
        groups=len(np.unique(rows.group)),
        labels={v.value: int((rows.label == v).sum()) for v in Verdict},
        verdict=verdict,
        rule=rule,
        ranking=(
            *_rankings(positive.value, rows, bad, resampling),
            *_rankings(Verdict.SELF_GENERATED.value, told_apart, made_up, resampling),
        ),
        thresholds=_thresholds(COMBINATIONS, rows, bad, thresholds, resampling),
        metrics_alone=_thresholds({name.upper(): (name,) for name in METRICS}, rows, bad, thresholds, resampling),
        models=tuple(_of_model(name, rows, bad, resampling) for name in np.unique(rows.model)),
        refusals=tuple(_refusals(rows, resampling)),
        confusion={
            "verdict": _confusion(rows.label, rows.verdict),
            "rule": _confusion(rows.label, rows.rule_verdict),
        },
        calibration=tuple(_calibrations(rows, resampling)),
    )


def _confusion(labels: Strings, verdicts: Strings) -> dict[str, dict[str, int]]:
    """`{label: {verdict: rows}}`."""
    return {
        label.value: {v.value: int(((labels == label) & (verdicts == v)).sum()) for v in Verdict} for label in Verdict
    }


def rates(flagged: Bools, positive: Bools, groups: Strings, resampling: Resampling) -> list[Rates]:
    """The rates of k ways of flagging; `flagged` has shape (n, k)."""

    def statistic(weights: Floats) -> Floats:
        c = counts(flagged, positive, weights)
        found = (accuracy_of(c), precision_of(c), recall_of(c), f_of(c), f_of(c, 2), flag_everything_f_of(c))
        return np.concatenate(found, axis=1)

    ways = flagged.shape[1]
    figures = np.array(resampling.figures(statistic, groups, ""), object).reshape(6, ways)
    return [
        Rates(
            rows=len(positive),
            positives=int(positive.sum()),
            flagged=int(flagged[:, way].sum()),
            accuracy=_because(figures[0, way], "no row"),
            precision=_because(figures[1, way], "nothing is flagged"),
            recall=_because(figures[2, way], "no row is positive"),
            f1=_because(figures[3, way], "no row is positive"),
            f2=_because(figures[4, way], "no row is positive"),
            f1_flag_everything=_because(figures[5, way], "no row is positive"),
        )
        for way in range(ways)
    ]


def _because(figure: Figure, reason: str) -> Figure:
    return Figure(value=None, reason=reason) if figure.value is None else figure


def _thresholds(
    compared: Mapping[str, Sequence[str]],
    rows: Measured,
    positive: Bools,
    own: Mapping[str, float],
    resampling: Resampling,
) -> tuple[Threshold, ...]:
    ways = [(name, tau) for name in compared for tau in (*TAUS, None)]
    flagged = np.stack(
        [
            rows.below(compared[name], [own[metric] if tau is None else tau for metric in compared[name]])
            for name, tau in ways
        ],
        axis=1,
    )
    reached = rates(flagged, positive, rows.group, resampling)
    return tuple(Threshold(threshold=tau, metrics=name, rates=r) for (name, tau), r in zip(ways, reached, strict=True))


def _rankings(what: str, rows: Measured, positive: Bools, resampling: Resampling) -> list[Ranking]:
    """Rankings by the probability and by the rule, whose threshold is the highest cosine still flagged."""
    probability, worst = 1 - rows.probabilities[:, 0], rows.worst(PRIMARY)
    return [
        _ranking(what, "probability", probability, positive, groups=rows.group, resampling=resampling, sign=1),
        _ranking(what, "rule", -worst, positive, groups=rows.group, resampling=resampling, sign=-1),
    ]


def _ranking(
    what: str, by: str, scores: Floats, positive: Bools, *, groups: Strings, resampling: Resampling, sign: int
) -> Ranking:
    lacking = lacks(positive)
    (area,) = resampling.figures(weighted_auc(scores, positive), groups, lacking)
    (precision,) = resampling.figures(weighted_average_precision(scores, positive), groups, lacking)
    curve = roc(scores, positive)
    points = () if curve is None else zip(curve.fpr, curve.tpr, curve.thresholds, strict=True)
    return Ranking(
        positive=what,
        by=by,
        positives=int(positive.sum()),
        others=int((~positive).sum()),
        auc=area,
        average_precision=precision,
        best_f1=_hindsight(best_threshold(scores, positive, f_objective(1)), sign),
        recall_at_precision_90=_hindsight(best_threshold(scores, positive, recall_at_precision(PRECISE)), sign),
        points=tuple(
            Point(fpr=float(x), tpr=float(y), threshold=None if np.isinf(at) else sign * float(at))
            for x, y, at in points
        ),
    )


def _hindsight(best: Best | None, sign: int) -> Hindsight:
    return Hindsight(value=best and best.value, threshold=best and sign * best.threshold)


def lacks(positive: Bools) -> str:
    """Why a figure that needs both classes has no value; empty if both have rows."""
    if not len(positive):
        return "no row"
    return "no row is positive" if not positive.any() else "every row is positive" if positive.all() else ""


def _of_model(name: str, rows: Measured, positive: Bools, resampling: Resampling) -> OfModel:
    own = rows.model == name
    of_model, bad = rows.where(own), positive[own]
    flagged = np.stack([of_model.verdict != Verdict.GROUNDED, of_model.rule_verdict != Verdict.GROUNDED], axis=1)
    verdict, rule = rates(flagged, bad, of_model.group, resampling)
    (area,) = resampling.figures(weighted_auc(1 - of_model.probabilities[:, 0], bad), of_model.group, lacks(bad))
    return OfModel(model=str(name) or None, verdict=verdict, rule=rule, auc=area)


def _refusals(rows: Measured, resampling: Resampling) -> list[Refusals]:
    """Refusals among all rows and among the negative ones; the study counts them among unanswerable questions."""
    found = []
    for among, kept in (("all", rows), ("negative", rows.where(rows.negative_label))):
        flagged = np.stack([kept.verdict == Verdict.REFUSAL, kept.rule_verdict == Verdict.REFUSAL], axis=1)
        reached = rates(flagged, kept.label == Verdict.REFUSAL, kept.group, resampling)
        found += [Refusals(by=by, among=among, rates=r) for by, r in zip(("verdict", "rule"), reached, strict=True)]
    return found


def _calibrations(rows: Measured, resampling: Resampling) -> list[Calibration]:
    grounded, refusal, self_generated = rows.probabilities.T
    return [
        _calibration("negative", 1 - grounded, rows.negative_label, rows.group, resampling),
        _calibration("refusal", refusal, rows.label == Verdict.REFUSAL, rows.group, resampling),
        _calibration("self_generated", self_generated, rows.label == Verdict.SELF_GENERATED, rows.group, resampling),
    ]


def _calibration(
    name: str, probabilities: Floats, outcome: Bools, groups: Strings, resampling: Resampling
) -> Calibration:
    (score,) = resampling.figures(weighted_brier(probabilities, outcome), groups, "no row")
    observed = resampling.figures(
        weighted_observed(probabilities, outcome, BINS), groups, "no row has such a probability"
    )
    share = float(outcome.mean()) if len(outcome) else None
    rng = np.random.default_rng(resampling.seed)
    return Calibration(
        outcome=name,
        mean_probability=float(probabilities.mean()) if len(probabilities) else None,
        observed=share,
        brier=score,
        brier_of_observed=None if share is None else share * (1 - share),
        ece=ece(probabilities, outcome, BINS),
        ece_if_perfect=expected_ece_of_perfect(probabilities, BINS, resampling.draws, rng),
        bins=tuple(
            CalibrationBin(low=b.low, high=b.high, rows=b.rows, mean_probability=b.mean_probability, observed=seen)
            for b, seen in zip(reliability(probabilities, outcome, BINS), observed, strict=True)
        ),
    )
