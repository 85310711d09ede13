"""Every interaction has a diagnosis. By hand: tests/golden/chunks/diagnose.json."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.chunks.diagnose import FEWEST, OFF_QUESTION, diagnose
from monitor.core.diagnosis import Diagnosis, Repeated
from monitor.core.model import Verdict
from tests.factories.assess.diagnoses import a_chunk

verdicts = st.sampled_from(Verdict)
shares = st.floats(0, 1)
chunks = st.lists(
    st.builds(
        lambda size, relevance, used, repeats: a_chunk(
            0,
            0,
            size,
            relevance=relevance,
            used=used,
            repeats=Repeated(chunk=0, cosine=1, tfidf=1) if repeats else None,
        ),
        st.integers(1, 500),
        shares,
        st.booleans(),
        st.booleans(),
    ),
    max_size=8,
)


@given(verdicts, chunks, shares)
def test_any_verdict_with_any_chunks_has_a_diagnosis_that_suits_it(verdict, found, threshold):
    diagnosis = diagnose(verdict, found, threshold)
    if verdict is Verdict.GROUNDED:
        assert diagnosis in {Diagnosis.RETRIEVAL_REDUNDANT, Diagnosis.RETRIEVAL_NOISY, Diagnosis.HEALTHY}
    else:
        assert diagnosis is Diagnosis.RETRIEVAL_MISSED or diagnosis.of_generator
    if diagnosis is Diagnosis.GENERATOR_INVENTED:
        assert verdict is Verdict.SELF_GENERATED
        assert max(chunk.relevance for chunk in found if chunk.used) >= OFF_QUESTION
    if diagnosis is Diagnosis.GENERATOR_IGNORED:
        assert max(chunk.relevance for chunk in found) >= threshold


@given(verdicts, chunks, shares)
def test_the_order_of_the_chunks_makes_no_difference(verdict, found, threshold):
    diagnosis = diagnose(verdict, found, threshold)
    assert diagnosis is diagnose(verdict, found[::-1], threshold)


@pytest.mark.parametrize("verdict", Verdict)
def test_without_chunks_only_a_grounded_answer_is_healthy(verdict):
    expected = Diagnosis.HEALTHY if verdict is Verdict.GROUNDED else Diagnosis.RETRIEVAL_MISSED
    assert diagnose(verdict, [], 0.5) is expected


@pytest.mark.parametrize(
    ("chunk", "expected"),
    [
        (a_chunk(relevance=0.0), Diagnosis.RETRIEVAL_NOISY),
        (a_chunk(relevance=1.0, repeats=Repeated(chunk=0, cosine=1, tfidf=1)), Diagnosis.RETRIEVAL_REDUNDANT),
    ],
)
def test_a_share_needs_some_chunks(chunk, expected):
    assert diagnose(Verdict.GROUNDED, [chunk] * FEWEST, 0.5) is expected
    assert diagnose(Verdict.GROUNDED, [chunk] * (FEWEST - 1), 0.5) is Diagnosis.HEALTHY
