"""Made-up labelled rows whose features tell what is made up, more or less."""

from __future__ import annotations

import numpy as np

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.score.features import FEATURES
from monitor.core.evidence import Evidence
from monitor.core.model import Assessment, Verdict
from monitor.review.calibrate.fit import Rows
from monitor.review.evaluate.labels import Labelled
from tests.factories.answers import an_assessment

START = Groundedness(
    bias=-0.5,
    threshold=0.5,
    features={
        "grounding": FeatureWeight(weight=-2.0, center=-0.1, scale=0.2),
        "new_content_overlap": FeatureWeight(weight=-0.5, center=0.4, scale=1.0),
    },
)
NAMES = list(FEATURES)


def some_rows(
    count: int = 200, *, seed: int = 1, noise: float = 1.0, groups: int | None = None, gaps: bool = False
) -> Rows:
    """`grounding` and `content_overlap` fall with the label, all else is noise."""
    rng = np.random.default_rng(seed)
    made_up = rng.random(count) < 0.4
    features = rng.normal(size=(count, len(NAMES)))
    features[:, NAMES.index("grounding")] = -0.1 - 0.2 * made_up + 0.1 * noise * rng.normal(size=count)
    features[:, NAMES.index("content_overlap")] = 0.9 - 0.3 * made_up + 0.2 * noise * rng.normal(size=count)
    if gaps:
        features[rng.random(features.shape) < 0.2] = np.nan
        features[:, NAMES.index("detector")] = np.nan
    return Rows(
        features=features,
        made_up=made_up,
        groups=np.array([f"g{i % (groups or count)}" for i in range(count)]),
        start=START,
    )


def labelled(rows: Rows) -> tuple[list[Labelled], list[Assessment]]:
    """The same as interactions with their assessments."""
    found, assessments = [], []
    for i, (values, made_up, group) in enumerate(zip(rows.features, rows.made_up, rows.groups, strict=True)):
        features = {n: None if np.isnan(v) else float(v) for n, v in zip(NAMES, values, strict=True)}
        a = an_assessment(id=f"i-{i}", question=f"Question {i}?", evidence=Evidence(features=features))
        label = Verdict.SELF_GENERATED if made_up else Verdict.GROUNDED
        found.append(Labelled(interaction=a.interaction, label=label, group=str(group), answerable=None, drawn=None))
        assessments.append(a)
    return found, assessments
