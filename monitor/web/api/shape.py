"""The form of answers, and how stored rows come into it: personal data masked, unless they are to be seen in clear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from monitor.model import Json
from monitor.redact import redact

# What things are found by, and words of ours: masked, they would name nothing.
_NAMES = frozenset({"id", "document_id", "kind", "match", "mode", "model", "origin", "prompt_hash"})


class Answer(BaseModel):
    """What routes give. Stored JSON that a later release has added to is no fault."""

    model_config = ConfigDict(extra="ignore")


class Question(BaseModel):
    """What routes are sent: exactly the fields that they know, of exactly the declared types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Metrics(Answer):
    """The five similarities; null where a text is missing."""

    sdq: float | None
    sdrd: float | None
    sda: float | None
    qrd: float | None
    qa: float | None


class Probabilities(Answer):
    """Of the three verdicts; they sum to 1."""

    grounded: float
    refusal: float
    self_generated: float


class Refusal(Answer):
    """How much of the answer refuses, and whether the documents do not hold what was asked."""

    kind: str
    correct: bool | None


class Profile(Answer):
    """What a verdict was given under."""

    name: str
    hash: str


def metrics(row: Mapping[str, Any]) -> Metrics:
    """Of a row of `assessment`."""
    return Metrics(**{name: rounded(row[name]) for name in Metrics.model_fields})


def probabilities(row: Mapping[str, Any]) -> Probabilities:
    """The same."""
    return Probabilities(
        grounded=round(row["p_grounded"], 6),
        refusal=round(row["p_refusal"], 6),
        self_generated=round(row["p_self_generated"], 6),
    )


def rounded(value: float | None) -> float | None:
    """To the digits that a REAL column keeps."""
    return None if value is None else round(value, 6)


def masked(value: Json) -> Json:
    """Every text in it masked, but the names of documents."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [masked(item) for item in value]
    if isinstance(value, dict):
        return {name: item if name in _NAMES else masked(item) for name, item in value.items()}
    return value
