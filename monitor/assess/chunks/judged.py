"""The diagnosis with the relevance that a language model gave the chunks, beside the one without a model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from monitor.assess.chunks.diagnose import diagnose
from monitor.assess.judge.metric import Judgement
from monitor.core.diagnosis import ChunkDiagnosis
from monitor.core.model import Verdict

METRIC = "chunk_relevance"


def with_diagnosis(judgement: Judgement, verdict: Verdict | None, without_model: ChunkDiagnosis | None) -> Judgement:
    """The judgement with `diagnosis`, by its scores and its threshold, and `without_model`, the one it is beside.

    Use and repetition of the chunks are those without a model; chunks that the model was not given do not count. Any
    other metric, a judgement without a score, and one of chunks that are not those of the diagnosis stay as they are.
    """
    outcome = judgement.outcome
    if judgement.metric != METRIC or outcome.score is None or verdict is None or without_model is None:
        return judgement
    parts = cast("dict[str, Any]", outcome.parts)
    scores = {(part["document"], part["start"]): part["score"] for part in parts["chunks"]}
    chunks = [
        replace(chunk, relevance=scores[chunk.document, chunk.start])
        for chunk in without_model.chunks
        if (chunk.document, chunk.start) in scores
    ]
    if len(chunks) != len(parts["chunks"]):
        return judgement
    found = diagnose(verdict, chunks, parts["threshold"])
    return replace(
        judgement,
        outcome=replace(
            outcome, parts={**parts, "diagnosis": found.value, "without_model": without_model.diagnosis.value}
        ),
    )
