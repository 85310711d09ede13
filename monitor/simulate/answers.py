"""Simulates single answers from counts per minute, for rules on ranks."""

from __future__ import annotations

from datetime import datetime

import numpy as np

from monitor.alert.answers import BINS, AnswerBatch
from monitor.simulate.minute_counts import Ints

APART = 2.0  # standard deviations between bad and good answers: an AUC of .92
_WIDEST = 6.0  # standard deviations from the mean of good answers that the bins cover


def simulated_answers(name: str, total: Ints, bad: Ints, *, begin: datetime, rng: np.random.Generator) -> AnswerBatch:
    """The answers of each minute, in random order within it; `total` and `bad` have the shape (topics, minutes).

    A bad answer is a refusal, or for the other signals worse by `APART` on average.
    """
    kinds = np.stack([total - bad, bad], axis=-1)  # topics, minutes, good or bad
    each = np.indices(kinds.shape).reshape(3, -1).repeat(kinds.ravel(), axis=1)
    topics, minutes, is_bad = each[:, np.lexsort((rng.random(each.shape[1]), each[1]))]
    if name == "refusal":
        bins = is_bad * (BINS - 1)
    else:
        values = rng.normal(is_bad * APART, 1.0)
        bins = np.clip((values + _WIDEST) / (2 * _WIDEST) * BINS, 0, BINS - 1).astype(np.int64)
    return AnswerBatch(
        bins=bins,
        units=np.arange(len(bins)),
        weights=np.ones(len(bins)),
        chances=rng.random(len(bins)),
        topics=tuple(f"topic {topic}" for topic in topics.tolist()),
        at=begin.timestamp() + 60.0 * minutes,
    )
