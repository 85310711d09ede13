"""The diagnosis by a model's scores: theirs the relevance and the threshold, all else as without a model."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.assess.chunks.judged import with_diagnosis
from monitor.assess.judge.metric import Outcome
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Verdict
from tests.factories.answers import a_judgement
from tests.factories.assess.diagnoses import a_chunk, a_diagnosis

CHUNKS = (a_chunk(0, 0, 10, used=True), a_chunk(0, 10, 20), a_chunk(1, 0, 10), a_chunk(2, 0, 10))
BEFORE = a_diagnosis(Diagnosis.HEALTHY, chunks=CHUNKS)


def judged(*scores, chunks=CHUNKS, threshold=0.5, **over):
    places = [{"document": c.document, "start": c.start, "end": c.end} for c in chunks]
    parts = {"chunks": [p | {"score": s} for p, s in zip(places, scores, strict=True)], "threshold": threshold}
    return a_judgement(**{"metric": "chunk_relevance", "outcome": Outcome(score=0.5, parts=parts)} | over)


@pytest.mark.parametrize(
    ("verdict", "scores", "expected"),
    [
        (Verdict.REFUSAL, (0.1, 0.1, 0.1, 0.1), Diagnosis.RETRIEVAL_MISSED),
        (Verdict.REFUSAL, (0.1, 0.1, 0.5, 0.1), Diagnosis.GENERATOR_IGNORED),
        (Verdict.SELF_GENERATED, (0.1, 0.1, 0.1, 0.1), Diagnosis.RETRIEVAL_MISSED),
        (Verdict.SELF_GENERATED, (0.9, 0.1, 0.1, 0.1), Diagnosis.GENERATOR_INVENTED),
        (Verdict.SELF_GENERATED, (0.1, 0.1, 0.1, 0.9), Diagnosis.GENERATOR_IGNORED),  # it rests on the first
        (Verdict.GROUNDED, (0.9, 0.1, 0.1, 0.1), Diagnosis.RETRIEVAL_NOISY),
        (Verdict.GROUNDED, (0.9, 0.9, 0.9, 0.1), Diagnosis.HEALTHY),
    ],
)
def test_the_model_s_scores_decide(verdict, scores, expected):
    given = judged(*scores)
    found = with_diagnosis(given, verdict, BEFORE)
    assert found.outcome.parts == {**given.outcome.parts, "diagnosis": expected.value, "without_model": "healthy"}
    assert replace(found, outcome=given.outcome) == given


def test_chunks_that_the_model_was_not_given_do_not_count():
    found = with_diagnosis(judged(0.1, chunks=CHUNKS[:1]), Verdict.REFUSAL, a_diagnosis(chunks=CHUNKS))
    assert found.outcome.parts["diagnosis"] == "retrieval_missed"


@pytest.mark.parametrize(
    ("judgement", "verdict", "before"),
    [
        (judged(0.1, 0.1, 0.1, 0.1, metric="faithfulness"), Verdict.REFUSAL, BEFORE),
        (judged(0.1, 0.1, 0.1, 0.1, outcome=Outcome(score=None, reason="incomplete")), Verdict.REFUSAL, BEFORE),
        (judged(0.1, 0.1, 0.1, 0.1), None, BEFORE),
        (judged(0.1, 0.1, 0.1, 0.1), Verdict.REFUSAL, None),
        (judged(0.1, chunks=[a_chunk(7, 3, 9)]), Verdict.REFUSAL, BEFORE),
        (judged(0.1, 0.1, 0.1, 0.1), Verdict.REFUSAL, a_diagnosis(chunks=())),
    ],
)
def test_what_cannot_be_diagnosed_stays_as_it_is(judgement, verdict, before):
    assert with_diagnosis(judgement, verdict, before) is judgement
