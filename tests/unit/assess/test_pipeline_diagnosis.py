"""The last step of the pipeline: what was retrieved is examined, and each assessment has a diagnosis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.assess.threshold import Spread
from monitor.core.assessment_json import encode, retrieval_json
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Verdict
from monitor.simulate.fakes.rerank import WordReranker
from tests.factories.assess.interactions import interaction
from tests.unit.assess.test_pipeline import BATCH, DOCUMENTS, GROUNDED, pipeline


@pytest.fixture(scope="module")
def assessed():
    return {a.interaction.id: a for a in pipeline().assess(BATCH)}


def test_a_batch_is_diagnosed_as_its_interactions_alone_and_again(assessed):
    again = pipeline().assess(BATCH)
    for it, second in zip(BATCH, again, strict=True):
        (alone,) = pipeline().assess([it])
        assert second.diagnosis == assessed[it.id].diagnosis
        assert alone.diagnosis.diagnosis is second.diagnosis.diagnosis
        assert [c.used for c in alone.diagnosis.chunks] == [c.used for c in second.diagnosis.chunks]


@pytest.mark.parametrize(
    ("name", "diagnosis"),
    [
        ("grounded", Diagnosis.HEALTHY),
        ("logged", Diagnosis.HEALTHY),
        ("no-documents", Diagnosis.RETRIEVAL_MISSED),
        ("nothing", Diagnosis.RETRIEVAL_MISSED),
    ],
)
def test_every_assessment_has_a_diagnosis(assessed, name, diagnosis):
    assert assessed[name].diagnosis.diagnosis is diagnosis


def test_the_chunks_of_a_diagnosis_hold_the_documents_and_what_the_answer_uses(assessed):
    for name in ("grounded", "logged"):
        found = assessed[name].diagnosis
        assert "".join(DOCUMENTS[c.document][c.start : c.end] for c in found.chunks if c.used).startswith(
            "Parking costs"
        )
        assert (found.used_rank, found.examined) == (2, 1.0)
        read = "".join(DOCUMENTS[c.document][c.start : c.end] for c in found.chunks)
        assert "".join(read.split()) == "".join("".join(DOCUMENTS).split())
    assert assessed["no-documents"].diagnosis.chunks == ()
    assert not any(chunk.used for chunk in assessed["refusal"].diagnosis.chunks)


def test_a_refusal_beside_a_relevant_document_is_the_generator_s_and_beside_another_the_retriever_s():
    question = "Parking costs two euros per hour?"
    found = {}
    for document in ("Parking costs two euros per hour.", "Sunflowers grow tall."):
        (got,) = pipeline().assess([interaction(question, "I don't know.", [document])])
        assert got.verdict is Verdict.REFUSAL
        found[document[:7]] = got.diagnosis.diagnosis
    assert found == {"Parking": Diagnosis.GENERATOR_IGNORED, "Sunflow": Diagnosis.RETRIEVAL_MISSED}


def test_an_answer_that_nothing_carries_beside_a_relevant_document_ignores_it():
    answer = "The observatory welcomes 4,500 astronomers from Reykjavik every winter."
    asked = interaction("Parking costs two euros per hour?", answer, ["Parking costs two euros per hour."])
    (got,) = pipeline().assess([asked])
    assert (got.verdict, got.diagnosis.diagnosis) == (Verdict.SELF_GENERATED, Diagnosis.GENERATOR_IGNORED)


def test_a_document_that_is_retrieved_three_times_is_redundant():
    asked = replace(GROUNDED, retrieved_documents=GROUNDED.retrieved_documents[1:] * 3)
    (got,) = pipeline().assess([asked])
    assert (got.verdict, got.diagnosis.diagnosis) == (Verdict.GROUNDED, Diagnosis.RETRIEVAL_REDUNDANT)
    assert [chunk.document for chunk in got.diagnosis.chunks if chunk.repeats is None] == [0, 0]


def test_the_diagnosis_knows_what_is_usual_in_the_app():
    asked_of = []

    def usual(app):
        asked_of.append(app)
        return Spread(mean=0.99, sd=0.0)

    (high,) = pipeline(usual_relevance=usual).assess([GROUNDED])
    (low,) = pipeline(usual_relevance=lambda _: Spread(mean=0.01, sd=0.0)).assess([GROUNDED])
    assert asked_of == ["shop"]
    assert low.diagnosis.threshold < high.diagnosis.threshold


def test_a_reranker_ranks_the_chunks_of_each_interaction():
    (got,) = pipeline(reranker=WordReranker()).assess([GROUNDED])
    assert WordReranker().model in got.diagnosis.by
    assert sorted(chunk.rank for chunk in got.diagnosis.chunks) == list(range(1, len(got.diagnosis.chunks) + 1))


@pytest.mark.parametrize(
    "text", ["\x00", "\ud800", "x" * 20_000, "今天下雨。" * 400, "\u0301" * 2_000, "A\n" * 500, "?!"]
)
def test_hostile_texts_are_diagnosed(text):
    for it in (
        interaction(text, text, [text, text]),
        interaction("", text, [text, "", " "]),
        interaction(text, "I don't know.", ["\n"]),
    ):
        (got,) = pipeline().assess([it])
        assert got.diagnosis.diagnosis in Diagnosis
        assert encode(retrieval_json(got.diagnosis))
