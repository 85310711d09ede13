"""Small builders for the tests of this folder: one interaction, one support, vectors chosen by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from monitor.assess.classify.profile import FeatureWeight, Groundedness, MetricRule, MetricRules, Profile
from monitor.assess.score.features import FEATURES, FEATURES_VERSION
from monitor.core.evidence import Evidence
from monitor.core.model import Document, Interaction, Metrics, Origin, Support, SupportingDocument

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def interaction(question: str = "Where?", answer: str = "Here.", documents: Sequence[str] = (), **given) -> Interaction:
    fields = {
        "id": "i-1",
        "app": "shop",
        "occurred_at": NOON,
        "question": question,
        "answer": answer,
        "retrieved_documents": tuple(Document(id=f"d{n}", text=text) for n, text in enumerate(documents)),
    }
    return Interaction(**{**fields, **given})


def support(*texts: str, origin: Origin = Origin.LOGGED) -> Support:
    return Support(origin=origin, documents=tuple(SupportingDocument(text=text) for text in texts))


def metrics(sdq=None, sdrd=None, sda=None, qrd=None, qa=None) -> Metrics:
    return Metrics(sdq=sdq, sdrd=sdrd, sda=sda, qrd=qrd, qa=qa)


def evidence(grounding: float | None = None, **given) -> Evidence:
    """Evidence with these features, the others without a value; `alignment` and `missing` are its own fields."""
    own = {name: given.pop(name) for name in ("alignment", "missing") if name in given}
    return Evidence(features={**dict.fromkeys(FEATURES), "grounding": grounding, **given}, **own)


def profile(threshold: float = 0.8, *, rules: Mapping[str, Mapping[str, object]] | None = None, **given) -> Profile:
    """A profile with one threshold for all metrics; `rules` changes single metrics."""
    rules = rules or {}
    names = ("sdq", "sdrd", "sda", "qrd", "qa")
    fields = {
        "name": "test",
        "embedding_model": "table/3",
        "calibrated": False,
        "note": "",
        "token_model": "table/3",
        "features_version": FEATURES_VERSION,
        "refusal_precision": 0.95,
        "refusal_missed": 0.02,
        "question_held": -0.05,
        "question_not_held": -0.3,
        "groundedness": Groundedness(
            bias=0.0, threshold=0.5, features={"grounding": FeatureWeight(weight=-2.0, center=-0.25, scale=0.1)}
        ),
        "metrics": MetricRules(**{n: MetricRule(**{"threshold": threshold, **rules.get(n, {})}) for n in names}),
    }
    return Profile(**{**fields, **given})


class TableEmbedder:
    """Looks vectors up by text and remembers what it was asked for."""

    model = "table/3"

    def __init__(self, table: Mapping[str, Sequence[float]]) -> None:
        self.table = table
        self.dimensions = len(next(iter(table.values()), (0.0,) * 3))
        self.asked: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.asked.append(list(texts))
        vectors = np.array([self.table[text] for text in texts], np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
