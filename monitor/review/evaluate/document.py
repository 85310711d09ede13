"""Lays an evaluation out as sections of text, tables and charts, the same for terminal, Markdown and HTML."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monitor.core.model import Verdict
from monitor.review.evaluate.elements import MISSING, Cell, Grid, ReliabilityDrawing, RocDrawing, Section
from monitor.review.evaluate.figures import (
    Calibration,
    Evaluated,
    Evaluation,
    Figure,
    Hindsight,
    Positive,
    Ranking,
    Rates,
    ReliabilityPoint,
)
from monitor.review.evaluate.wording import BY, POSITIVE, WORDS


def number(value: float | None) -> str:
    """Three decimals without the leading 0, as in the study's tables."""
    if value is None:
        return MISSING
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text


def interval(figure: Figure) -> str:
    """`.801–.881`, or empty without an interval."""
    return "" if figure.low is None else f"{number(figure.low)}–{number(figure.high)}"


def headline(evaluated: Evaluated) -> str:
    """The rows and the profile in one line."""
    rows, profile = evaluated.all, evaluated.profile
    labels = ", ".join(f"{count:,} {name.replace('_', '-')}" for name, count in rows.labels.items())
    state = "calibrated" if profile.calibrated else "uncalibrated for this app"
    return (
        f"{rows.rows:,} labelled answers in {rows.groups:,} groups ({labels}); "
        f"profile {profile.name} ({profile.hash[:8]}, {profile.embedding_model}, {state})"
    )


def sections(evaluated: Evaluated) -> Iterator[Section]:
    """Yields the sections for a quality owner: the summary first, the study's tables last."""
    rows = evaluated.all
    positive = POSITIVE[evaluated.positive]
    yield Section(title="At a glance", words=WORDS["glance"].format(positive=positive), grids=(_glance(evaluated),))
    yield _ranking(rows, evaluated.positive)
    yield Section(title="Labels against verdicts", words=WORDS["confusion"], grids=(_confusion(rows),))
    yield Section(title="Refusals", words=WORDS["refusals"], grids=(_refusals(rows),))
    yield _calibration(rows.calibration)
    if any(m.model for m in rows.models):
        yield Section(title="Generators", words=WORDS["models"], grids=(_models(rows),))
    yield Section(
        title="Thresholds of the study's rule",
        words=WORDS["thresholds"].format(positive=positive),
        grids=(_thresholds(rows),),
    )
    yield Section(title="Each metric alone", words=WORDS["alone"], grids=(_alone(rows),))


_RATES = ("rows", "positive", "flagged", "precision", "recall", "F1", "F1 if all flagged", "F2", "accuracy")


def _rates(r: Rates) -> tuple[Cell, ...]:
    everything = number(r.f1_flag_everything.value)
    return (r.rows, r.positives, r.flagged, r.precision, r.recall, r.f1, everything, r.f2, r.accuracy)


def _glance(evaluated: Evaluated) -> Grid:
    sets = [("", evaluated.all)] + ([(", random rows", evaluated.random)] if evaluated.random else [])
    return Grid(
        headings=("decided by", *_RATES, "AUC"),
        rows=tuple(
            (f"{BY[by]}{which}", *_rates(reached), ranking.auc)
            for which, rows in sets
            for (by, reached), ranking in zip(
                (("verdict", rows.verdict), ("rule", rows.rule)), rows.ranking, strict=False
            )
        ),
    )


def _ranking(rows: Evaluation, positive: Positive) -> Section:
    whole = [r for r in rows.ranking if r.positive == positive]
    rest = [r for r in rows.ranking if r not in whole]
    if positive is Positive.NEGATIVE and not rows.labels[Verdict.REFUSAL]:
        rest = []  # the same ranking
    table = Grid(
        headings=(
            "told apart",
            "by",
            "positive",
            "others",
            "AUC",
            "average precision",
            "best F1 in hindsight",
            "recall at precision .9 in hindsight",
        ),
        rows=tuple(
            (
                _told_apart(r),
                BY[r.by],
                r.positives,
                r.others,
                r.auc,
                r.average_precision,
                _at(r.best_f1),
                _at(r.recall_at_precision_90),
            )
            for r in (*whole, *rest)
        ),
        labels=2,
    )
    drawings = [
        _roc(ranking, rows if ranking is whole else None) for ranking in (whole, rest) if ranking and ranking[0].points
    ]
    return Section(title="Ranking", words=WORDS["ranking"], grids=(table,), drawings=tuple(drawings))


def _told_apart(ranking: Ranking) -> str:
    against = "answerable" if ranking.positive == Positive.UNANSWERABLE else "grounded"
    return f"{ranking.positive.replace('_', '-')} against {against}"


def _at(best: Hindsight) -> str:
    return MISSING if best.value is None else f"{number(best.value)} at {number(best.threshold)}"


def _roc(rankings: Sequence[Ranking], decided: Evaluation | None) -> RocDrawing:
    """The curves; `decided` adds the points of the present verdict and rule."""
    curves = {f"{BY[r.by]} (AUC {number(r.auc.value)})": [(p.fpr, p.tpr) for p in r.points] for r in rankings}
    here = {}
    if decided is not None:
        for name, reached in zip(curves, (decided.verdict, decided.rule), strict=True):
            others, found = reached.rows - reached.positives, (reached.recall.value or 0.0) * reached.positives
            here[name] = ((reached.flagged - found) / others, reached.recall.value or 0.0)
    caption = f"ROC curve, {_told_apart(rankings[0])}." + (" Dots: the present decisions." if here else "")
    return RocDrawing(caption=caption, curves=curves, here=here)


def _confusion(rows: Evaluation) -> Grid:
    names = [v.value.replace("_", "-") for v in Verdict]
    return Grid(
        headings=("label", *(f"verdict {name}" for name in names), *(f"rule {name}" for name in names)),
        rows=tuple(
            (
                label.value.replace("_", "-"),
                *(rows.confusion[by][label][v] for by in ("verdict", "rule") for v in Verdict),
            )
            for label in Verdict
        ),
    )


def _refusals(rows: Evaluation) -> Grid:
    among = {"all": "all rows", "negative": "bad answers only"}
    return Grid(
        headings=(
            "found by",
            "among",
            "rows",
            "refusals",
            "called refusal",
            "precision",
            "recall",
            "F1",
            "F1 if all flagged",
        ),
        rows=tuple((BY[r.by], among[r.among], *_refusal_rates(r.rates)) for r in rows.refusals),
        labels=2,
    )


def _refusal_rates(r: Rates) -> tuple[Cell, ...]:
    everything = number(r.f1_flag_everything.value)
    return (r.rows, r.positives, r.flagged, r.precision, r.recall, r.f1, everything)


def _calibration(calibrations: Sequence[Calibration]) -> Section:
    summary = Grid(
        headings=("probability of", "mean", "observed", "ECE", "ECE if perfect", "Brier", "Brier of the share"),
        rows=tuple(
            (
                c.outcome.replace("_", "-"),
                number(c.mean_probability),
                number(c.observed),
                number(c.ece),
                number(c.ece_if_perfect),
                c.brier,
                number(c.brier_of_observed),
            )
            for c in calibrations
        ),
    )
    negative = calibrations[0]
    filled = [b for b in negative.bins if b.rows]
    bins = Grid(
        headings=("P(negative)", "rows", "mean", "observed"),
        rows=tuple((f"{b.low:.1f}–{b.high:.1f}", b.rows, number(b.mean_probability), b.observed) for b in filled),
    )

    points = tuple(
        ReliabilityPoint(
            said=b.mean_probability,
            observed=b.observed.value,
            low=b.observed.low,
            high=b.observed.high,
            rows=b.rows,
        )
        for b in filled
        if b.mean_probability is not None and b.observed.value is not None
    )
    caption = "Reliability of P(negative). On the dashed line probability and observed share are equal."
    return Section(
        title="Probabilities",
        words=WORDS["calibration"],
        grids=(summary, bins),
        drawings=(ReliabilityDrawing(caption=caption, points=points),),
    )


def _models(rows: Evaluation) -> Grid:
    return Grid(
        headings=("generator", *_RATES, "AUC", "F1 of the rule"),
        rows=tuple((m.model or "(none named)", *_rates(m.verdict), m.auc, m.rule.f1) for m in rows.models),
        dense=True,
    )


def _threshold(tau: float | None) -> str:
    return "profile's own" if tau is None else f"{tau:.2f}"[1:]


def _thresholds(rows: Evaluation) -> Grid:
    return Grid(
        headings=("metrics", "threshold", *_RATES[2:]),
        rows=tuple((t.metrics, _threshold(t.threshold), *_rates(t.rates)[2:]) for t in rows.thresholds),
        labels=2,
        dense=True,
    )


def _alone(rows: Evaluation) -> Grid:
    names = [*dict.fromkeys(t.metrics for t in rows.metrics_alone)]
    by_threshold: dict[float | None, list[Cell]] = {}
    for t in rows.metrics_alone:
        by_threshold.setdefault(t.threshold, []).extend((t.rates.recall, t.rates.precision))
    return Grid(
        headings=("threshold", *(f"{name} {what}" for name in names for what in ("recall", "prec."))),
        rows=tuple((_threshold(tau), *cells) for tau, cells in by_threshold.items()),
        dense=True,
    )
