from __future__ import annotations

import numpy as np
import pytest

from monitor.classify.profile import load_profile
from monitor.complete.extractive import ExtractiveCompleter
from monitor.embed.hashing import HashEmbedder
from monitor.errors import Fatal, Retriable
from monitor.model import Origin, Reason, RefusalKind, SupportingDocument, Verdict
from monitor.pipeline import Pipeline
from monitor.wire import assessment_json, encode
from tests.unit.builders import interaction, profile

DOCUMENTS = [
    "The museum opens at ten. Children under twelve get in free. Dogs stay outside.",
    "Parking costs two euros per hour. Bicycles are free.",
]
GROUNDED = interaction(
    "What does parking at the museum cost per hour?",
    "Parking costs two euros per hour.",
    DOCUMENTS,
    id="grounded",
)
BATCH = [
    GROUNDED,
    interaction("What does parking cost?", "I don't know.", DOCUMENTS, id="refusal"),
    interaction("What does parking cost?", "", DOCUMENTS, id="empty-answer"),
    interaction("Who painted the ceiling?", "It was painted by Anselm Rottwieser in 1742.", [], id="no-documents"),
    interaction("What does parking cost?", "Two euros.", DOCUMENTS, id="none-named", supporting_documents=()),
    interaction("", "", [], id="nothing"),
    interaction(
        "What does parking cost per hour?",
        "Parking costs two euros per hour.",
        DOCUMENTS,
        id="logged",
        supporting_documents=(SupportingDocument(text="Parking costs two euros per hour."),),
    ),
    interaction("\ud800\x00", "(" * 1000, ["." * 1000, "\u202e"], id="hostile"),
]


def pipeline(embedder=None):
    return Pipeline(
        completer=ExtractiveCompleter(),
        embedder=embedder or HashEmbedder(),
        profile=load_profile("hash", "hash/64", "hash/64"),
    )


@pytest.fixture(scope="module")
def assessed():
    return {a.interaction.id: a for a in pipeline().assess(BATCH)}


def test_each_interaction_gets_one_assessment_in_its_order():
    assert [a.interaction for a in pipeline().assess(BATCH)] == BATCH
    assert pipeline().assess([]) == []


@pytest.mark.parametrize(
    ("name", "verdict", "reasons"),
    [
        ("grounded", Verdict.GROUNDED, set()),
        ("logged", Verdict.GROUNDED, set()),
        ("refusal", Verdict.REFUSAL, {Reason.REFUSAL_WORDING}),
        ("empty-answer", Verdict.REFUSAL, {Reason.EMPTY_ANSWER}),
        ("nothing", Verdict.REFUSAL, {Reason.EMPTY_ANSWER, Reason.NO_DOCUMENTS}),
        ("no-documents", None, {Reason.NO_DOCUMENTS}),
        ("none-named", None, {Reason.NO_SUPPORT}),
    ],
)
def test_a_verdict_comes_with_its_reasons(assessed, name, verdict, reasons):
    got = assessed[name]
    assert got.verdict is verdict or (verdict is None and got.verdict.negative)
    assert set(got.reasons) >= reasons


def test_support_is_extracted_or_kept_as_logged(assessed):
    assert assessed["grounded"].support.origin is Origin.EXTRACTIVE
    assert "Parking costs two euros per hour." in [d.text for d in assessed["grounded"].support.documents]
    (kept,) = assessed["logged"].support.documents
    assert (assessed["logged"].support.origin, kept.document_id, kept.start, kept.end) == (Origin.LOGGED, "d1", 0, 33)
    assert assessed["none-named"].support.documents == ()


def test_figures_are_there_wherever_both_texts_are(assessed):
    assert assessed["grounded"].scores.undefined == {}
    assert assessed["grounded"].metrics.sda == pytest.approx(1, abs=1e-5)
    assert set(assessed["no-documents"].scores.undefined) == {"sdq", "sdrd", "sda", "qrd"}
    assert set(assessed["nothing"].scores.undefined) == {"sdq", "sdrd", "sda", "qrd", "qa"}


def test_every_assessment_names_the_profile_it_was_given_under(assessed):
    shipped = load_profile("hash", "hash/64", "hash/64")
    for got in assessed.values():
        assert (got.profile_name, got.profile_hash, got.embedding_model) == ("hash", shipped.hash, "hash/64")
        assert got.uncalibrated is True


def test_a_batch_is_assessed_as_its_interactions_alone(assessed):
    for it in BATCH:
        (alone,) = pipeline().assess([it])
        together = assessed[it.id]
        assert (alone.verdict, alone.reasons, alone.support) == (together.verdict, together.reasons, together.support)
        assert alone.probabilities.grounded == pytest.approx(together.probabilities.grounded, abs=1e-5)


def test_the_same_batch_gives_the_same_assessments():
    assert pipeline().assess(BATCH) == pipeline().assess(BATCH)


def test_every_assessment_can_be_written(assessed):
    for got in assessed.values():
        assert encode(assessment_json(got))


def test_a_partial_refusal_keeps_its_kind_beside_the_verdict():
    answer = (
        "Parking costs two euros per hour and bicycles are free; the museum opens at ten, children under twelve get in "
        "free and dogs stay outside. The documents do not mention motorcycles."
    )
    (got,) = pipeline().assess([interaction("What does parking cost per hour?", answer, DOCUMENTS)])
    assert got.refusal.kind is RefusalKind.PARTIAL
    assert Reason.REFUSAL_WORDING not in got.reasons


@pytest.mark.parametrize("error", [Retriable("the provider is down"), Fatal("wrong key")])
def test_what_an_embedder_raises_decides_nothing(error):
    class Down(HashEmbedder):
        def embed(self, _texts):
            raise error

    with pytest.raises(type(error)):
        pipeline(Down()).assess(BATCH)


def test_the_profile_decides_which_reading_is_compared():
    fields = {"completer": ExtractiveCompleter(), "embedder": HashEmbedder()}
    for reading in ("joined", "maximum"):
        by = profile(0.1, rules={"qrd": {"reading": reading}}, embedding_model="hash/64")
        (got,) = Pipeline(**fields, profile=by).assess([GROUNDED])
        assert got.metrics.qrd == getattr(got.scores, reading).qrd
    assert got.scores.joined.qrd != got.scores.maximum.qrd
    assert np.isfinite(got.metrics.qrd)
