"""Assesses labelled rows and evaluates the verdicts, for `monitor evaluate`. Nothing is stored."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from monitor.assess.classify.profile import Profile
from monitor.core.errors import WrongSettings
from monitor.core.model import Assessment, Interaction
from monitor.review.evaluate.figures import Evaluated, Positive, ProfileUsed
from monitor.review.evaluate.labels import Labelled, data_hash
from monitor.review.evaluate.rows import RANDOM, Measured, measure
from monitor.review.evaluate.tables import Resampling, evaluate

BATCH = 128  # rows; small enough to show progress

Assess = Callable[[Sequence[Interaction]], list[Assessment]]


def assess_all(rows: Sequence[Labelled], assess: Assess, progress: Callable[[int], None]) -> list[Assessment]:
    """One assessment per row, in order; after each batch `progress` gets the number done so far."""
    assessments: list[Assessment] = []
    for start in range(0, len(rows), BATCH):
        assessments += assess([row.interaction for row in rows[start : start + BATCH]])
        progress(len(assessments))
    return assessments


def usable(rows: Sequence[Labelled], positive: Positive) -> list[Labelled]:
    """The rows that can be counted; with `unanswerable` those that tell whether they are answerable.

    Raises:
        WrongSettings: no row does.
    """
    if positive is Positive.NEGATIVE:
        return list(rows)
    kept = [row for row in rows if row.answerable is not None]
    if not kept:
        raise WrongSettings(
            "no row says whether it is answerable: `--positive unanswerable` needs that field in the file"
        )
    return kept


def evaluated(
    rows: Sequence[Labelled],
    assessments: Sequence[Assessment],
    *,
    profile: Profile,
    files: Sequence[Path],
    positive: Positive,
    left_out: int,
    resampling: Resampling,
) -> Evaluated:
    """Evaluates rows with their assessments under `profile`."""
    measured = measure(rows, assessments)
    thresholds = dict(profile.thresholds)
    random = measured.drawn == RANDOM
    return Evaluated(
        files=tuple(map(str, files)),
        positive=positive,
        profile=ProfileUsed(
            name=profile.name,
            hash=profile.hash,
            embedding_model=profile.embedding_model,
            calibrated=profile.calibrated,
            on_its_own_labels=profile.calibration is not None and profile.calibration.data_hash == data_hash(rows),
        ),
        draws=resampling.draws,
        seed=resampling.seed,
        left_out=left_out,
        drawn=_drawn(measured),
        all=evaluate(measured, thresholds, positive, resampling),
        random=(
            evaluate(measured.where(random), thresholds, positive, resampling)
            if random.any() and not random.all()
            else None
        ),
    )


def _drawn(measured: Measured) -> dict[str, int]:
    why, rows = np.unique(measured.drawn[measured.drawn != ""], return_counts=True)
    return {str(name): int(count) for name, count in zip(why, rows, strict=True)}
