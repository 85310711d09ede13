"""Measures how well self-generated answers are separated from grounded ones, by five methods on every labelled file.

    python benchmarks/verdicts/run.py [--test] [--json PATH] [--short]

(a) the study's rule with one threshold of .54 for every metric (its recall on SQuAD 2.0 corresponds to that on MiniLM);
(b) the rule with a threshold for each metric, fitted to the file, cross-validated;
(c) the shipped profile, as it is;
(d) a profile calibrated on the file, cross-validated: no source is on both sides;
(e) a profile calibrated on the other development files, tested on this one.

AUC is that of the ranking of each method. F1 and F2 are at the method's own threshold, fitted for F1 where it is
fitted; *all* is the F1 of flagging everything. Labelled refusals are left out; `refusals.py` measures them. `longform*`
is longform without the answers whose generator saw no documents.

Then the calibration error (ECE, 10 bins): of the shipped profile, and of one calibrated on 200 rows of the file and
judged on the rest, mean and spread over random draws; with the error that a perfectly calibrated profile would show on
so few rows. `--test` runs the test files, which are looked at once for each change of the method, and never fitted to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.figures import finish, options
from benchmarks.labelled import DATA, DEV, TEST, assess, cached_pipeline, read, with_documents
from monitor.assess.classify.profile import Profile
from monitor.assess.classify.verdict import PRIMARY
from monitor.core.model import Assessment, Verdict
from monitor.review.calibrate.crossval import cross_validated, slope_shift_threshold
from monitor.review.calibrate.fit import FOLDS, Rows, fit, folds
from monitor.review.calibrate.logistic import probabilities
from monitor.review.calibrate.run import rows_of
from monitor.review.calibrate.thresholds import fitted_rules
from monitor.review.evaluate.labels import Labelled
from monitor.review.evaluate.reliability import ece, expected_ece_of_perfect
from monitor.review.evaluate.statistics import auc, f_objective, precision_recall_f

SEED = 20261121
STUDY_TAU = 0.54
CALIBRATED_ON, DRAWS, LEAST_LEFT = 200, 20, 100
SHORT_ROWS = 120
METHODS = ("a study's rule", "b per metric", "c shipped", "d calibrated", "e other files")
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Ranked(NamedTuple):
    """A method's ranking, the higher the more likely made up, and what it flags."""

    score: Floats
    flagged: Bools


class File(NamedTuple):
    name: str
    labelled: list[Labelled]
    assessments: list[Assessment]
    made_up: Bools
    rows: Rows
    fits: Bools  # rows that do not refuse, which groundedness applies to


def file(name: str, labelled: Sequence[Labelled], assessments: Sequence[Assessment], profile: Profile) -> File:
    kept = [(row, a) for row, a in zip(labelled, assessments, strict=True) if row.label is not Verdict.REFUSAL]
    rows, found = [row for row, _ in kept], [a for _, a in kept]
    fits = np.array([len(rows_of([row], [a], profile.groundedness).groups) == 1 for row, a in kept])
    return File(
        name=name,
        labelled=rows,
        assessments=found,
        made_up=np.array([row.label is Verdict.SELF_GENERATED for row in rows]),
        rows=rows_of(rows, found, profile.groundedness),
        fits=fits,
    )


def metrics(f: File) -> dict[str, Floats]:
    values = [asdict(a.metrics) for a in f.assessments]
    return {name: np.array([np.nan if v[name] is None else v[name] for v in values]) for name in values[0]}


def below(values: dict[str, Floats], thresholds: dict[str, float]) -> Ranked:
    distances = np.stack([thresholds[name] - values[name] for name in PRIMARY])
    worst = np.nanmax(np.where(np.isnan(distances), -2.0, distances), axis=0)
    return Ranked(worst, worst > 0)


def per_metric(f: File, profile: Profile, rng: np.random.Generator) -> Ranked:
    values = metrics(f)
    fold = folds(np.array([row.group for row in f.labelled]), FOLDS, rng)
    score, flagged = np.zeros(len(fold)), np.zeros(len(fold), bool)
    for number in range(FOLDS):
        train, test = fold != number, fold == number
        rules = fitted_rules(
            profile.metrics, {n: v[train] for n, v in values.items()}, f.made_up[train], f_objective(1)
        )
        found = below({n: v[test] for n, v in values.items()}, {n: getattr(rules, n).threshold for n in values})
        score[test], flagged[test] = found
    return Ranked(score, flagged)


def spread(f: File, probability: Floats, flagged: Bools) -> Ranked:
    """The ranking over all rows: rows that the profile does not judge (refusals by wording) rank last, unflagged."""
    score, all_flagged = np.zeros(len(f.fits)), np.zeros(len(f.fits), bool)
    score[f.fits], all_flagged[f.fits] = probability, flagged
    return Ranked(score, all_flagged)


def joined(files: Sequence[File]) -> Rows:
    """The rows of several files, sources kept apart by file."""
    return Rows(
        features=np.concatenate([f.rows.features for f in files]),
        made_up=np.concatenate([f.rows.made_up for f in files]),
        groups=np.concatenate([np.char.add(f"{f.name}/", f.rows.groups) for f in files]),
        start=files[0].rows.start,
    )


def transferred(f: File, others: Rows, rng: np.random.Generator) -> Ranked:
    fitted = fit(others, rng)
    slope, shift, threshold = slope_shift_threshold(others, fitted.strength, f_objective(1), rng)
    p = probabilities(slope * fitted.log_odds(f.rows) + shift)
    return spread(f, p, p >= (1.0 if threshold is None else threshold))


def methods(f: File, others: Rows, profile: Profile, rng: np.random.Generator) -> dict[str, Ranked]:
    judged = cross_validated(f.rows, f_objective(1), rng)
    return {
        METHODS[0]: below(metrics(f), dict.fromkeys(PRIMARY, STUDY_TAU)),
        METHODS[1]: per_metric(f, profile, rng),
        METHODS[2]: Ranked(
            np.array([a.probabilities.self_generated for a in f.assessments]),
            np.array([a.verdict is Verdict.SELF_GENERATED for a in f.assessments]),
        ),
        METHODS[3]: spread(f, judged.probability, judged.flagged),
        METHODS[4]: transferred(f, others, rng),
    }


def reached(found: Ranked, made_up: Bools) -> dict[str, float | None]:
    one, two = precision_recall_f(found.flagged, made_up), precision_recall_f(found.flagged, made_up, 2)
    area = auc(found.score, made_up) if made_up.any() and not made_up.all() else None
    return {"auc": area, "precision": one.precision, "recall": one.recall, "f1": one.f, "f2": two.f}


def calibration(f: File, rng: np.random.Generator) -> dict[str, float] | None:
    """ECE after calibration on CALIBRATED_ON rows, over DRAWS draws of whole sources."""
    if len(f.rows.made_up) < CALIBRATED_ON + LEAST_LEFT:
        return None
    names, group = np.unique(f.rows.groups, return_inverse=True)
    sizes = np.bincount(group)
    errors, perfect = [], []
    for _ in range(DRAWS):
        order = rng.permutation(len(names))
        drawn = order[np.cumsum(sizes[order]) <= CALIBRATED_ON]
        train = np.isin(group, drawn)
        rows, rest = f.rows.where(train), f.rows.where(~train)
        fitted = fit(rows, rng)
        slope, shift, _ = slope_shift_threshold(rows, fitted.strength, f_objective(1), rng)
        p = probabilities(slope * fitted.log_odds(rest) + shift)
        errors.append(ece(p, rest.made_up) or 0.0)
        perfect.append(expected_ece_of_perfect(p, 10, 100, rng) or 0.0)
    return {
        "mean": float(np.mean(errors)),
        "spread": float(np.std(errors)),
        "if_perfect": float(np.mean(perfect)),
        "shipped": ece(probabilities(f.rows.prior), f.rows.made_up) or 0.0,
    }


def shown(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def show(name: str, rows: int, everything: float | None, found: dict[str, dict[str, float | None]]) -> None:
    print(f"\n{name} ({rows:,} rows; F1 of flagging all {shown(everything)})")
    for method, values in found.items():
        print(f"  {method:16}" + "".join(f"  {key} {shown(value)}" for key, value in values.items()))


def main() -> None:
    arguments = options(__doc__, f"the first {SHORT_ROWS} rows of each file", test="the test files too")
    if not DATA.is_dir():
        print(f"no labelled data at {DATA}: set MONITOR_DATA_DIR")
        return
    rng = np.random.default_rng(SEED)
    files: dict[str, File] = {}
    with cached_pipeline() as pipeline:
        profile = pipeline.profile
        for name in (*DEV, *(TEST if arguments.test else ())):
            labelled = read(name)[: SHORT_ROWS if arguments.short else None]
            assessments = assess(pipeline, labelled)
            files[name] = file(name, labelled, assessments, profile)
            if len(kept := with_documents(labelled)) < len(labelled):
                seen = {id(row) for row in kept}
                pairs = [pair for pair in zip(labelled, assessments, strict=True) if id(pair[0]) in seen]
                files[f"{name}*"] = file(f"{name}*", [row for row, _ in pairs], [a for _, a in pairs], profile)
    development = [f for name, f in files.items() if name in DEV]
    figures: dict[str, object] = {}
    for name, f in files.items():
        if f.made_up.all() or not f.made_up.any():
            flagged = np.mean([a.verdict is not Verdict.GROUNDED for a in f.assessments])
            print(f"\n{name} ({len(f.made_up):,} rows, all grounded): {flagged:.3f} flagged by the shipped profile")
            figures[name] = {"rows": len(f.made_up), "flagged": float(flagged)}
            continue
        others = joined([other for other in development if other.name != name.rstrip("*")])
        found = {method: reached(r, f.made_up) for method, r in methods(f, others, profile, rng).items()}
        everything = precision_recall_f(np.ones(len(f.made_up), bool), f.made_up).f
        show(name, len(f.made_up), everything, found)
        error = None if arguments.short else calibration(f, rng)
        if error:
            print(
                f"  ECE: shipped {error['shipped']:.3f}; calibrated on {CALIBRATED_ON} rows {error['mean']:.3f} ± "
                f"{error['spread']:.3f}, a perfect one would show {error['if_perfect']:.3f}"
            )
        figures[name] = {"rows": len(f.made_up), "flag_everything_f1": everything, **found, "ece": error}
    finish({"files": figures, "profile": profile.hash}, seed=SEED, path=arguments.json)


if __name__ == "__main__":
    main()
