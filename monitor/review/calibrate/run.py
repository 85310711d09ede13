"""Calibrates a profile on labelled rows and their assessments, and measures it, for `monitor calibrate`."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from monitor.assess.classify.profile import Calibration, Groundedness, Profile
from monitor.assess.score.features import FEATURES
from monitor.core.errors import WrongSettings
from monitor.core.model import Assessment, RefusalKind, Verdict
from monitor.review.calibrate.crossval import CrossValidated, cross_validated, slope_shift_threshold
from monitor.review.calibrate.fit import FOLDS, Rows, fit
from monitor.review.calibrate.gain import Gain, gain
from monitor.review.calibrate.thresholds import fitted_rules
from monitor.review.evaluate.labels import Labelled, data_hash
from monitor.review.evaluate.statistics import Objective, f_objective, recall_at_precision
from monitor.review.shortage import NEEDED

_RECALL: Final = re.compile(r"recall@(0?\.\d+)")
LEAST_REFUSALS = 10  # answers worded as a refusal needed to learn from them
_PSEUDO = 0.5  # count added to both sides of a share, so that it is never 0 or 1 (Jeffreys)


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """The profile, the rows its groundedness was fitted to, and how held-out fits judge these rows."""

    profile: Profile
    rows: Rows
    judged: CrossValidated
    gain: Gain
    left_out: int  # rows without information on groundedness: refusals, answers without documents


def objective_of(name: str) -> Objective:
    """`f1`, `f2` or `recall@P`, the recall at a precision of P or better.

    Raises:
        WrongSettings: `name` is none of these.
    """
    if name in {"f1", "f2"}:
        return f_objective(1.0 if name == "f1" else 2.0)
    if (found := _RECALL.fullmatch(name)) and 0 < float(found[1]) < 1:
        return recall_at_precision(float(found[1]))
    raise WrongSettings(f"--objective must be f1, f2 or recall@P with P between 0 and 1 (recall@0.9), not {name!r}")


def rows_of(rows: Sequence[Labelled], assessments: Sequence[Assessment], start: Groundedness) -> Rows:
    """The rows that groundedness can be fitted to: not labelled or worded as a refusal, and with text to align."""
    kept = [(row, a.evidence.features) for row, a in zip(rows, assessments, strict=True) if _usable(row, a)]
    values = [[np.nan if (v := features[name]) is None else v for name in FEATURES] for _, features in kept]
    return Rows(
        features=np.array(values, np.float64).reshape(len(kept), len(FEATURES)),
        made_up=np.array([row.label is Verdict.SELF_GENERATED for row, _ in kept], bool),
        groups=np.array([row.group for row, _ in kept], np.str_),
        start=start,
    )


def _usable(row: Labelled, a: Assessment) -> bool:
    refuses = row.label is Verdict.REFUSAL or a.refusal.kind is RefusalKind.FULL
    return not refuses and a.evidence.features["grounding"] is not None


def calibrated(
    labelled: Sequence[Labelled],
    assessments: Sequence[Assessment],
    *,
    start: Profile,
    name: str,
    objective: str,
    detector_model: str | None = None,
    seed: int = 0,
) -> Calibrated:
    """Fits a profile to the labels, starting from the profile that gave the assessments.

    Raises:
        WrongSettings: there are too few labels, or the objective is unknown or out of reach.
    """
    goal = objective_of(objective)
    rows = rows_of(labelled, assessments, start.groundedness)
    _check(rows, left_out=len(labelled) - len(rows.groups))
    rng = np.random.default_rng(seed)
    judged = cross_validated(rows, goal, rng)
    fitted = fit(rows, rng)
    slope, shift, threshold = slope_shift_threshold(rows, fitted.strength, goal, rng)
    if threshold is None:
        raise WrongSettings(f"no threshold reaches {objective} on held-out answers: choose a lower objective")
    figures, intervals = judged.figures(rows), judged.intervals(rows, rng)
    apps = [row.interaction.app for row, a in zip(labelled, assessments, strict=True) if _usable(row, a)]
    change = gain(rows, judged, np.array(apps, np.str_), rng, objective=objective)
    precision, missed = _refusals(labelled, assessments, start)
    against = change.against(start.name)
    advice = "" if against is None else f" Better not used: on held-out answers it {against}."
    profile = _made_from(
        start,
        name=name,
        calibrated=True,
        note=f"Calibrated on {len(labelled):,} labelled answers.{advice}",  # no part of the hash
        refusal_precision=precision,
        refusal_missed=missed,
        detector_model=detector_model,
        metrics=fitted_rules(start.metrics, _metrics(assessments), _negative(labelled), goal),
        groundedness=_rounded(fitted.groundedness(start.groundedness, threshold, slope, shift)),
        calibration=Calibration(
            data_hash=data_hash(labelled),
            objective=objective,
            rows=len(labelled),
            self_generated=int(rows.made_up.sum()),
            refusals=sum(row.label is Verdict.REFUSAL for row in labelled),
            groups=len(np.unique(rows.groups)),
            figures={key: round(value, 4) for key, value in figures.items()},
            intervals={key: (round(low, 4), round(high, 4)) for key, (low, high) in intervals.items()},
            importance={key: round(value, 4) for key, value in judged.importance.items() if round(value, 4)},
        ),
    )
    return Calibrated(profile=profile, rows=rows, judged=judged, gain=change, left_out=len(labelled) - len(rows.groups))


def _made_from(start: Profile, **changes: object) -> Profile:
    """The profile with changes, validated like one read from a file."""
    return Profile.model_validate({**{name: getattr(start, name) for name in Profile.model_fields}, **changes})


def _check(rows: Rows, *, left_out: int) -> None:
    made_up, groups = int(rows.made_up.sum()), len(np.unique(rows.groups))
    grounded = len(rows.made_up) - made_up
    if min(made_up, grounded) < NEEDED:
        without = f"; {left_out:,} more refuse or have no documents, so they cannot be used" if left_out else ""
        raise WrongSettings(
            f"calibration needs at least {NEEDED} usable answers of either kind, better some 200 in total; "
            f"the files have {grounded} grounded and {made_up} self-generated ones{without}; "
            "`monitor review next --interactive` offers answers to label, those of the scarcer kind first"
        )
    fewest = min(groups, *(len(np.unique(rows.groups[rows.made_up == kind])) for kind in (True, False)))
    if fewest < FOLDS:
        raise WrongSettings(
            f"the answers of one kind come from only {fewest} sources; held-out measurement needs {FOLDS}"
        )


def _refusals(labelled: Sequence[Labelled], assessments: Sequence[Assessment], start: Profile) -> tuple[float, float]:
    """The share of refusals among answers worded as one, and among the others; the start's shares if there are few."""
    worded = np.array([a.refusal.kind is RefusalKind.FULL for a in assessments])
    refusal = np.array([row.label is Verdict.REFUSAL for row in labelled])
    if worded.sum() < LEAST_REFUSALS:
        return start.refusal_precision, start.refusal_missed
    right = (refusal[worded].sum() + _PSEUDO) / (worded.sum() + 2 * _PSEUDO)
    missed = (refusal[~worded].sum() + _PSEUDO) / ((~worded).sum() + 2 * _PSEUDO)
    return round(float(np.clip(right, 0.51, 0.999)), 4), round(float(np.clip(missed, 0.001, 0.49)), 4)


def _metrics(assessments: Sequence[Assessment]) -> dict[str, np.ndarray]:
    rows = [asdict(a.metrics) for a in assessments]
    names = list(rows[0])
    return {name: np.array([np.nan if row[name] is None else row[name] for row in rows]) for name in names}


def _negative(labelled: Sequence[Labelled]) -> np.ndarray:
    return np.array([row.label.negative for row in labelled])


def _rounded(g: Groundedness) -> Groundedness:
    """Rounded to six digits, which changes no verdict and reads well."""
    features = {
        name: w.model_copy(update={key: float(f"{value:.6g}") for key, value in w.model_dump().items()})
        for name, w in g.features.items()
    }
    threshold = min(
        max(math.floor(g.threshold * 1e6) / 1e6, 1e-6), 1 - 1e-6
    )  # rounded down, so that the row at the threshold stays flagged
    return Groundedness(bias=round(g.bias, 6), threshold=threshold, features=features)
