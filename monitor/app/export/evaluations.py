"""What is said of one answer, as named evaluations: the terms that OpenTelemetry, Phoenix and Langfuse share.

The names are stable (docs/operate/export.md); they begin with `monitor.`, so that they meet no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID, uuid5

from monitor.core.assessment_json import encode
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason
from monitor.core.reason_words import DIAGNOSIS_WORDS, REASON_WORDS
from monitor.core.settings.export import Sent
from monitor.core.text.plain import shortened
from monitor.store.pending.verdicts import VerdictToSend

_LONGEST = 1_000  # characters of an explanation
_NAMESPACE = UUID("6f6b8f0e-53a5-5c31-9f5e-0d5b9c5a7b18")
_CORRECT = {
    True: "the documents do not hold the answer",
    False: "the documents hold the answer",
    None: "it is not known whether the documents hold the answer",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluation:
    """One evaluation: a number, a label, or both. `by` says who judged, in OpenInference's words."""

    name: str
    value: float | None = None
    label: str | None = None
    explanation: str | None = None
    by: Literal["CODE", "LLM"] = "CODE"


def evaluations(verdict: VerdictToSend, scores: Sequence[Sent]) -> list[Evaluation]:
    """The evaluations of an answer that are wanted; what has no value is left out."""
    a = verdict.assessment
    found: list[Evaluation] = []
    for score in scores:
        match score:
            case "verdict":
                reasons = "; ".join(REASON_WORDS[Reason(reason)] for reason in a["reasons"])
                value = a["probabilities"]["grounded"]
                found.append(_evaluation("verdict", value, label=a["verdict"], explanation=reasons))
            case "probabilities":
                found += [_evaluation(f"p_{name}", value) for name, value in a["probabilities"].items()]
            case "similarities":
                found += [_evaluation(name, value) for name, value in a["metrics"].items()]
            case "rank":
                found.append(_evaluation("rank", a["rank"]))
            case "refusal":
                found.append(_refusal(a["refusal"]))
            case "diagnosis":
                found += _diagnosed(a["diagnosis"], a["retrieval"])
            case "judgements":
                found += _judged(verdict)
    return [one for one in found if one.value is not None or one.label is not None]


def _refusal(refusal: Any) -> Evaluation:
    known = None if refusal["kind"] == "none" else _CORRECT[refusal["correct"]]
    return _evaluation("refusal", None, label=refusal["kind"], explanation=known)


def _diagnosed(name: str | None, retrieval: Any) -> Iterator[Evaluation]:
    """The diagnosis, and the relevance of the best chunk: how well the documents answer the question."""
    if name is not None:
        yield _evaluation("diagnosis", None, label=name, explanation=DIAGNOSIS_WORDS[Diagnosis(name)])
    if retrieval is not None:
        yield _evaluation("relevance", retrieval["relevance"], explanation=f"from {retrieval['by']}")


def _judged(verdict: VerdictToSend) -> Iterator[Evaluation]:
    for judgement in verdict.judgements:
        yield _evaluation(f"judge.{judgement.metric}", judgement.score, explanation=judgement.reason, by="LLM")


def _evaluation(
    name: str,
    value: float | None,
    *,
    label: str | None = None,
    explanation: str | None = None,
    by: Literal["CODE", "LLM"] = "CODE",
) -> Evaluation:
    said = shortened(explanation, _LONGEST) if explanation else None
    return Evaluation(name=f"monitor.{name}", value=value, label=label, explanation=said, by=by)


def answer_id(verdict: VerdictToSend, name: str) -> str:
    """The id of an evaluation of an answer, the same for each of its revisions."""
    return str(uuid5(_NAMESPACE, encode([verdict.app, verdict.interaction_id, name])))


def revision_id(verdict: VerdictToSend, name: str = "") -> str:
    """The id of one revision of an evaluation, or of all of the verdict; the same however often it is sent."""
    parts = [verdict.app, verdict.interaction_id, verdict.profile, verdict.at.isoformat(), name]
    return str(uuid5(_NAMESPACE, encode(parts)))
