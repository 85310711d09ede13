"""`monitor evaluate`: labelled rows through the pipeline, and the tables of what came out. Nothing is stored."""

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

BATCH = 128  # rows: small enough for a progress that moves

Assess = Callable[[Sequence[Interaction]], list[Assessment]]


def assess_all(rows: Sequence[Labelled], assess: Assess, progress: Callable[[int], None]) -> list[Assessment]:
    """One assessment a row, in order; `progress` is told how many are done after each batch."""
    assessments: list[Assessment] = []
    for start in range(0, len(rows), BATCH):
        assessments += assess([row.interaction for row in rows[start : start + BATCH]])
        progress(len(assessments))
    return assessments


def usable(rows: Sequence[Labelled], positive: Positive) -> list[Labelled]:
    """The rows that can be counted: with `unanswerable` those that say whether they are.

    Raises:
        WrongSettings: none does.
    """
    if positive is Positive.NEGATIVE:
        return list(rows)
    kept = [row for row in rows if row.answerable is not None]
    if not kept:
        raise WrongSettings(
            "no row says whether it is answerable: `--positive unanswerable` needs the field in the file"
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
    """The whole evaluation of rows with their assessments under `profile`."""
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
