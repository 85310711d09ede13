from __future__ import annotations

import numpy as np
import pytest

from monitor.assess.classify.profile import load_profile
from monitor.assess.complete.extractive import ExtractiveCompleter
from monitor.assess.detect.detection import Detection
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.pipeline import Pipeline
from monitor.core.assessment_json import assessment_json, encode
from monitor.core.errors import Fatal, Retriable
from monitor.core.model import Origin, Reason, RefusalKind, SupportingDocument, Verdict
from tests.factories.assess.interactions import interaction, profile

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


def pipeline(embedder=None, **given):
    known = {
        "completer": ExtractiveCompleter(),
        "encoder": HashEmbedder(),
        "embedder": embedder or HashEmbedder(),
        "profile": load_profile("hash", "hash/64", "hash/64"),
    }
    return Pipeline(**{**known, **given})


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
def test_errors_of_the_embedder_leave_interactions_undecided(error):
    class Down(HashEmbedder):
        def embed(self, _texts):
            raise error

    with pytest.raises(type(error)):
        pipeline(Down()).assess(BATCH)


def test_the_profile_decides_which_reading_is_compared():
    for reading in ("joined", "maximum"):
        by = profile(0.1, rules={"qrd": {"reading": reading}}, embedding_model="hash/64")
        (got,) = pipeline(profile=by).assess([GROUNDED])
        assert got.metrics.qrd == getattr(got.scores, reading).qrd
    assert got.scores.joined.qrd != got.scores.maximum.qrd
    assert np.isfinite(got.metrics.qrd)
    assert got.evidence.features["qrd"] == got.metrics.qrd


def test_each_sentence_that_states_something_is_aligned_with_what_carries_it():
    answer = "Great question! Parking costs two euros per hour. Dogs stay outside. I hope this helps!"
    (got,) = pipeline().assess([interaction("What does parking cost?", answer, DOCUMENTS)])
    documents = {d.id: d.text for d in got.interaction.retrieved_documents}
    said = [
        (answer[p.answer_start : p.answer_end], p.document_id, documents[p.document_id][p.start : p.end])
        for p in got.evidence.alignment
    ]
    assert said == [
        ("Parking costs two euros per hour.", "d1", "Parking costs two euros per hour."),
        ("Dogs stay outside.", "d0", "Dogs stay outside."),
    ]
    assert all(p.score == pytest.approx(1, abs=1e-3) for p in got.evidence.alignment)


def test_what_a_document_denies_is_no_refusal_but_grounded_in_it():
    answer = "The guide does not include instructions for the older model."
    asked = "How do I set up the older model?"
    says_so = "Setup of the newer model. The guide does not include any instructions for the older model."
    denied, refused = pipeline().assess([interaction(asked, answer, d, id=d[0][:3]) for d in ([says_so], DOCUMENTS)])
    assert (denied.verdict, denied.refusal.kind) == (Verdict.GROUNDED, RefusalKind.NONE)
    assert (refused.verdict, refused.refusal.kind) == (Verdict.REFUSAL, RefusalKind.FULL)


def test_an_answer_that_no_document_carries_is_self_generated():
    answer = "The observatory welcomes 4,500 astronomers from Reykjavik every winter."
    (got,) = pipeline().assess([interaction("What does parking cost?", answer, DOCUMENTS)])
    assert got.verdict is Verdict.SELF_GENERATED
    assert {Reason.NOT_IN_DOCUMENTS, Reason.MISSING_FACT} <= set(got.reasons)
    assert {"4,500", "Reykjavik"} <= {fact.text for fact in got.evidence.missing}
    assert all(answer[fact.start : fact.end] == fact.text for fact in got.evidence.missing)


def test_a_sentence_that_turns_its_passage_round_contradicts_it():
    answer = "Parking does not cost two euros per hour."
    (got,) = pipeline().assess([interaction("What does parking cost?", answer, DOCUMENTS)])
    (pair,) = got.evidence.alignment
    assert DOCUMENTS[1][pair.start : pair.end] == DOCUMENTS[1]  # of two sentences, of which one is contradicted
    assert [p.contradicts for p in got.evidence.alignment] == [True]
    assert got.evidence.features["contradictions"] == 1


def test_an_answer_without_documents_has_evidence_without_values(assessed):
    found = assessed["no-documents"].evidence
    assert (found.alignment, found.missing) == ((), ())
    assert found.features["grounding"] is None


class Detecting:
    """A detector with prepared scores, one for each claim."""

    model = "scripted"

    def __init__(self, *scores):
        self.scores, self.claims = scores, []

    def detect(self, claims):
        self.claims += claims
        return [None if score is None else Detection(score=score, spans=()) for score in self.scores]


def test_a_detector_s_score_joins_the_features():
    detector = Detecting(0.25, None)
    seen, unseen = pipeline(detector=detector).assess(BATCH[:2])
    assert (seen.evidence.features["detector"], unseen.evidence.features["detector"]) == (0.25, None)
    assert [(c.question, c.answer) for c in detector.claims] == [(it.question, it.answer) for it in BATCH[:2]]
    assert detector.claims[0].documents == tuple(DOCUMENTS)


def test_without_a_detector_its_feature_has_no_value(assessed):
    assert assessed["grounded"].evidence.features["detector"] is None


NEAR = "No notes about parking."  # negates, and says nothing that the question did not


@pytest.mark.parametrize(
    ("least", "kind"), [(None, RefusalKind.NONE), (0.2, RefusalKind.FULL), (1.0, RefusalKind.NONE)]
)
def test_nearness_to_known_refusals_counts_from_the_profile_s_closeness_on(least, kind):
    by = profile(-1.0, embedding_model="hash/64", refusal_closeness=least)
    (got,) = pipeline(profile=by).assess([interaction("What do the notes say about parking?", NEAR, DOCUMENTS)])
    assert got.refusal.kind is kind
