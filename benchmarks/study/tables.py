"""The study's tables for one generator's answers; positive is a question that the documents cannot answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from benchmarks.study.published import BALANCED_TAU, TAUS, THRESHOLDS
from benchmarks.study.scoring import Scored
from monitor.assess.classify.verdict import PRIMARY
from monitor.review.evaluate.figures import Figure, Rates
from monitor.review.evaluate.rows import METRICS
from monitor.review.evaluate.statistics import Bools, weighted_auc
from monitor.review.evaluate.tables import COMBINATIONS, Resampling, lacks, rates

ALONE: Mapping[str, tuple[str, ...]] = {name.upper(): (name,) for name in METRICS}
MATCHED_RECALL = THRESHOLDS["primary", BALANCED_TAU].recall


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The figures of the combined metrics at τ."""

    metrics: str
    tau: float
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class RefusalLine:
    """Refusals among the unanswerable questions, as found `by` the rule or the wording."""

    by: str
    tau: float | None
    rates: Rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """All figures of one generator. `matched_tau` is where the primary metrics reach the study's recall at its τ."""

    answered: int
    unanswerable: int
    groups: int
    declined_of_answerable: float
    declined_of_unanswerable: float
    matched_tau: float
    thresholds: tuple[Line, ...]
    alone: tuple[Line, ...]
    auc: Mapping[str, Figure]
    refusals: tuple[RefusalLine, ...]


def tables(answers: Scored, resampling: Resampling) -> Tables:
    """Every table; the answers must be of both kinds of questions."""
    positive = answers.unanswerable
    matched = tau_of_recall(answers, MATCHED_RECALL)
    taus = (*TAUS, matched)
    return Tables(
        answered=len(positive),
        unanswerable=int(positive.sum()),
        groups=len(np.unique(answers.groups)),
        declined_of_answerable=float(answers.declined[~positive].mean()),
        declined_of_unanswerable=float(answers.declined[positive].mean()),
        matched_tau=matched,
        thresholds=_lines(COMBINATIONS, taus, answers, resampling),
        alone=_lines(ALONE, taus, answers, resampling),
        auc={name: _auc(answers, metrics, resampling) for name, metrics in {**COMBINATIONS, **ALONE}.items()},
        refusals=_refusals(answers, matched, resampling),
    )


def tau_of_recall(answers: Scored, recall: float) -> float:
    """The lowest threshold at which the primary metrics flag that share of the positive answers.

    It is fitted to the answers that it is used on. It allows a comparison at equal recall, and predicts no threshold
    for other answers.
    """
    worst = np.sort(answers.worst(PRIMARY)[answers.unanswerable])
    return float(np.nextafter(worst[int(np.ceil(recall * len(worst))) - 1], np.inf))


def _lines(
    compared: Mapping[str, tuple[str, ...]], taus: tuple[float, ...], answers: Scored, resampling: Resampling
) -> tuple[Line, ...]:
    ways = [(name, tau) for name in compared for tau in taus]
    flagged = np.stack([answers.below(compared[name], tau) for name, tau in ways], axis=1)
    reached = rates(flagged, answers.unanswerable, answers.groups, resampling)
    return tuple(Line(metrics=name, tau=tau, rates=r) for (name, tau), r in zip(ways, reached, strict=True))


def _auc(answers: Scored, metrics: tuple[str, ...], resampling: Resampling) -> Figure:
    """The AUC of the lowest metric, that is, over every τ."""
    statistic = weighted_auc(-answers.worst(metrics), answers.unanswerable)
    (area,) = resampling.figures(statistic, answers.groups, lacks(answers.unanswerable))
    return area


def _refusals(answers: Scored, matched: float, resampling: Resampling) -> tuple[RefusalLine, ...]:
    """Refusals by the study's rule (a primary metric and QA below τ), and by the wording alone."""
    among = answers.unanswerable

    def by_rule(tau: float) -> Bools:
        return np.asarray(answers.below(PRIMARY, tau) & answers.below(("qa",), tau))

    ways = [("rule", BALANCED_TAU, by_rule(BALANCED_TAU)), ("rule", matched, by_rule(matched))]
    flagged = np.stack([*(found for _, _, found in ways), answers.worded], axis=1)
    reached = rates(flagged[among], answers.declined[among], answers.groups[among], resampling)
    named = [*((by, tau) for by, tau, _ in ways), ("wording", None)]
    return tuple(RefusalLine(by=by, tau=tau, rates=r) for (by, tau), r in zip(named, reached, strict=True))
