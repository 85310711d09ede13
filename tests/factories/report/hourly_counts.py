"""Four weeks of counts by hour: three models, ten topics or fewer, with what goes wrong as a test says."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor.report.findings.cells import ALL_SIGNALS, DAY, HOURS, NEGATIVE, Cells
from monitor.report.findings.find import SAMPLED

MODELS, TOPICS = ("large", "mini", "small"), tuple(f"topic {n}" for n in range(10))
Rate = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # of hour, model, topic


def hourly_counts(
    *, made_up: Rate | None = None, refused: Rate | None = None, per_hour: float = 0.5, topics: int = 10, seed: int = 1
) -> Cells:
    """Answers by Poisson's law, `per_hour` of each model and topic; 10 % made up and 2 % refused where nothing is said.

    The rates of days vary by a tenth more and less, so that answers of a day are related.
    """
    rng = np.random.default_rng(seed)
    hour, model, topic = (
        axis.ravel() for axis in np.meshgrid(np.arange(HOURS), np.arange(3), np.arange(topics), indexing="ij")
    )
    day = 1 + 0.1 * rng.standard_normal(HOURS // DAY)[hour // DAY]
    total = rng.poisson(per_hour, len(hour))
    bad = rng.binomial(total, np.clip(day * (0.1 if made_up is None else made_up(hour, model, topic)), 0, 1))
    refusals = rng.binomial(total - bad, np.clip(0.02 if refused is None else refused(hour, model, topic), 0, 1))
    counts = dict.fromkeys(ALL_SIGNALS, np.zeros_like(bad))
    return Cells(
        hour=hour,
        total=total,
        counts={**counts, "self_generated": bad, "refusal": refusals, NEGATIVE: bad + refusals},
        labels={"environment": np.zeros_like(hour), "model": model, "topic": topic},
        values={"environment": ("production",), "model": MODELS, "topic": TOPICS[:topics]},
    )


def by_day(cells: Cells, versions: np.ndarray | None = None) -> Cells:
    """The same counts as a sample knows them: by day, and with a prompt version for each row."""
    places = np.zeros_like(cells.hour) if versions is None else versions
    return Cells(
        hour=cells.hour // DAY * DAY,
        total=cells.total,
        counts=cells.counts,
        labels={**cells.labels, SAMPLED: places},
        values={**cells.values, SAMPLED: ("v1", "v2")},
    )
