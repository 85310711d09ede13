"""Models that several API routes return, and how stored rows become them, with personal data masked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from monitor.core.model import Json
from monitor.privacy.masking import redact, redact_part

_FOREIGN = frozenset({"metadata"})  # the chatbot chooses the names within
_OWN = frozenset({"kind", "match", "mode", "model", "origin", "prompt_hash"})  # these hold words of our own


class ApiResponse(BaseModel):
    """A body that routes return. Fields that a later release has stored are ignored."""

    model_config = ConfigDict(extra="ignore")


class ApiRequest(BaseModel):
    """A body that routes accept: exactly the declared fields, of exactly the declared types."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Metrics(ApiResponse):
    """The five cosine similarities; null when a text is missing."""

    sdq: float | None
    sdrd: float | None
    sda: float | None
    qrd: float | None
    qa: float | None


class Probabilities(ApiResponse):
    """The probabilities of the three verdicts, which sum to 1."""

    grounded: float
    refusal: float
    self_generated: float


class Refusal(ApiResponse):
    """How much of the answer refuses; `correct`: whether the documents indeed do not hold what was asked."""

    kind: str
    correct: bool | None


class Profile(ApiResponse):
    """The profile that a verdict was given under."""

    name: str
    hash: str


def metrics(row: Mapping[str, Any]) -> Metrics:
    """The metrics of a row of `assessment`."""
    return Metrics(**{name: rounded(row[name]) for name in Metrics.model_fields})


def probabilities(row: Mapping[str, Any]) -> Probabilities:
    """The probabilities of a row of `assessment`."""
    return Probabilities(
        grounded=round(row["p_grounded"], 6),
        refusal=round(row["p_refusal"], 6),
        self_generated=round(row["p_self_generated"], 6),
    )


def rounded(value: float | None) -> float | None:
    """`value` to the digits that a REAL column stores."""
    return None if value is None else round(value, 6)


def masked(value: Json) -> Json:
    """`value` with every text masked, ids of documents included, but for what is our own."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list):
        return [masked(item) for item in value]
    if isinstance(value, dict):
        return {
            name: item if name in _OWN else _throughout(item) if name in _FOREIGN else masked(item)
            for name, item in value.items()
        }
    return value


def masked_throughout(value: Mapping[str, Json]) -> dict[str, Json]:
    """`value` with names and values masked at every depth: the chatbot chooses both.

    Names that are alike when masked are numbered, so that none is lost.
    """
    result: dict[str, Json] = {}
    number = Counter[str]()
    for name, item in value.items():
        hidden = shown = redact(name)
        while shown in result:
            number[hidden] += 1
            shown = f"{hidden} ({number[hidden] + 1})"
        result[shown] = _throughout(item)
    return result


def _throughout(value: Json) -> Json:
    if isinstance(value, dict):
        return masked_throughout(value)
    return [_throughout(item) for item in value] if isinstance(value, list) else masked(value)


def masked_support(
    supporting: Sequence[Mapping[str, Any]], retrieved: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    """Supporting documents masked; one that is a part of a retrieved document looks as it does there."""
    texts = {document["id"]: document["text"] for document in reversed(retrieved)}
    return [
        {
            **piece,
            "text": _masked_piece(piece, texts.get(piece["document_id"])),
            "document_id": masked(piece["document_id"]),
        }
        for piece in supporting
    ]


def _masked_piece(piece: Mapping[str, Any], document: str | None) -> str:
    start, end, text = piece["start"], piece["end"], piece["text"]
    if document is not None and start is not None and document[start:end] == text:
        return redact_part(document, start, end)
    return redact(text)
