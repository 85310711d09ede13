"""The form of answers, and how stored rows come into it: personal data masked, unless they are to be seen in clear."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from monitor.core.model import Json
from monitor.privacy.masking import redact, redact_part

# What things are found by, and words of ours: masked, they would name nothing.
_FOREIGN = frozenset({"metadata"})  # in which the names are the chatbot's
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


def masked(value: Json, names: frozenset[str] = _NAMES) -> Json:
    """Every text in it masked, but what stands under one of `names`."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [masked(item, names) for item in value]
    if isinstance(value, dict):
        return {
            name: item if name in names else masked(item, frozenset() if name in _FOREIGN else names)
            for name, item in value.items()
        }
    return value


def foreign(value: Mapping[str, Json]) -> dict[str, Json]:
    """Names and values masked: both are the chatbot's."""
    return {redact(name): masked(item, frozenset()) for name, item in value.items()}


def pieces(found: Sequence[Mapping[str, Any]], documents: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Supporting documents masked; one that stands in a retrieved one is as it is masked there."""
    texts = {document["id"]: document["text"] for document in reversed(documents)}
    return [{**its, "text": _piece(its, texts.get(its["document_id"]))} for its in found]


def _piece(its: Mapping[str, Any], document: str | None) -> str:
    start, end, text = its["start"], its["end"], its["text"]
    if document is not None and start is not None and document[start:end] == text:
        return redact_part(document, start, end)
    return redact(text)
