from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.classify.refusal import Role
from monitor.assess.explain import (
    CARRIED,
    FAIRLY_SURE,
    MOST_MOVED,
    PARTLY,
    SURE,
    Carried,
    advice,
    all_moved,
    carrying_summary,
    certainty,
    compared,
    judge_words,
    moved,
    refusal_words,
    revised_by,
    sentences,
)
from monitor.assess.score.features import FEATURES
from monitor.core.diagnosis import Diagnosis
from monitor.core.model import Reason
from monitor.core.reason_words import DIAGNOSIS_ADVICE
from tests.factories.answers import NOON
from tests.factories.assess.diagnosed_rows import DIAGNOSED, diagnosed_row
from tests.factories.assess.explained_rows import ANSWER, EVIDENCE, ROW, pair
from tests.factories.assess.interactions import profile


def weighing(**weights):
    """A profile with these weights, a center of 0 and a scale of 1."""
    features = {name: FeatureWeight(weight=weight, center=0.0, scale=1.0) for name, weight in weights.items()}
    return profile(groundedness=Groundedness(bias=-1.0, threshold=0.6, features=features))


BY = weighing(grounding=-2.0, content_overlap=-4.0, missing_names=0.5)


# --- sentences -------------------------------------------------------------------------------------------------------


def test_each_sentence_comes_with_its_role_its_passage_and_what_is_missing():
    courtesy, parking, dogs, gate = sentences(ROW)
    assert (courtesy.role, courtesy.pair, courtesy.passage) == (Role.COURTESY, None, None)
    assert (parking.role, parking.pair.score) == (Role.CONTENT, 0.96)
    assert parking.passage == "Parking costs two euros per hour, also at night."
    assert dogs.pair.contradicts
    assert [fact.text for fact in gate.missing] == ["Elm Street", "7"]
    assert [ANSWER[s.start : s.end] for s in (parking, dogs)] == [
        "Parking costs two euros per hour.",
        "Dogs may come in.",
    ]


def test_what_a_stored_document_denies_itself_is_read_as_content():
    answer = "The guide does not include instructions for the older model."
    row = {**ROW, "answer": answer, "evidence": {}}
    (refusing,) = sentences(row)
    (content,) = sentences({**row, "retrieved_documents": [{"id": "d0", "text": f"Note. {answer}"}]})
    assert (refusing.role, content.role) == (Role.REFUSING, Role.CONTENT)


def test_a_refusing_sentence_shows_the_words_that_refuse():
    answer = "The documents do not mention motorcycles. Parking costs two euros per hour."
    refusing, content = sentences({**ROW, "answer": answer, "evidence": {}})
    assert (refusing.role, content.role) == (Role.REFUSING, Role.CONTENT)
    assert "not mention" in answer[slice(*refusing.cue)]
    assert content.cue is None


def test_a_refusal_that_no_wording_tells_is_the_one_that_is_stored():
    row = {**ROW, "answer": "No documents on parking.", "evidence": {}}
    assert [s.role for s in sentences(row)] == [Role.CONTENT]
    (refusing,) = sentences({**row, "reasons": ["refusal_wording"]})
    assert (refusing.role, refusing.cue) == (Role.REFUSING, (refusing.start, refusing.end))


def test_a_sentence_that_is_cut_otherwise_than_it_was_has_the_pair_that_it_shares_most_with():
    answer = "Parking costs two euros per hour. Dogs may come in."
    whole = pair(answer, answer, 1, "It is paid at the gate.", 0.7)
    first, second = sentences({**ROW, "answer": answer, "evidence": {"alignment": [whole]}})
    assert first.pair == second.pair
    assert first.pair.score == 0.7


def test_a_sentence_that_no_pair_touches_has_none():
    answer = "Parking costs two euros per hour. Dogs may come in."
    only = pair(answer, "Dogs may come in.", 0, "Dogs may not come in.", 0.9)
    assert [s.pair is None for s in sentences({**ROW, "answer": answer, "evidence": {"alignment": [only]}})] == [
        True,
        False,
    ]


@pytest.mark.parametrize("documents", [[], [{"id": "d0", "text": ""}, {"id": "d1", "text": ""}]])
def test_a_document_that_is_gone_leaves_the_score_without_the_passage(documents):
    for s in sentences({**ROW, "retrieved_documents": documents}):
        assert s.passage is None
    assert sentences({**ROW, "retrieved_documents": documents})[1].pair.score == 0.96


def test_a_row_of_an_earlier_release_is_read_and_not_compared():
    row = {**ROW, "evidence": {}}
    assert not compared(row)
    assert compared(ROW)
    assert [s.role for s in sentences(row)] == [Role.COURTESY, Role.CONTENT, Role.CONTENT, Role.CONTENT]
    assert all(s.pair is None and not s.missing for s in sentences(row))
    assert moved(row, BY) == []


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_has_no_sentence(answer):
    assert sentences({**ROW, "answer": answer, "evidence": {}}) == []


@pytest.mark.parametrize(
    ("score", "word"),
    [
        (1.0, Carried.CARRIED),
        (CARRIED, Carried.CARRIED),
        (CARRIED - 1e-6, Carried.PARTLY),
        (PARTLY, Carried.PARTLY),
        (PARTLY - 1e-6, Carried.NOT),
        (-1.0, Carried.NOT),
    ],
)
def test_a_score_has_a_word(score, word):
    assert Carried.by(score) is word


# --- what moved it ---------------------------------------------------------------------------------------------------


def test_what_moved_it_most_comes_first_with_its_sign():
    # -4 · .75, -2 · -.5, .5 · 1
    assert [(m.name, m.value, m.log_odds) for m in moved(ROW, BY)] == [
        ("content_overlap", 0.75, -3.0),
        ("grounding", -0.5, 1.0),
        ("missing_names", 1.0, 0.5),
    ]


def test_together_with_the_start_it_is_the_probability():
    everything = sum(m.log_odds for m in moved(ROW, BY))
    groundedness = BY.groundedness
    assert groundedness.probability(EVIDENCE["features"]) == pytest.approx(1 / (1 + 2.718281828 ** -(everything - 1.0)))


def test_a_handful_is_enough_and_what_hardly_moves_is_left_out():
    row = {**ROW, "evidence": {**EVIDENCE, "features": dict.fromkeys(FEATURES, 1.0)}}
    assert len(moved(row, weighing(**dict.fromkeys(FEATURES, 2.0)))) == MOST_MOVED
    assert moved(row, weighing(quoted=0.01)) == []


def test_a_feature_without_a_value_moves_nothing():
    assert [m.name for m in moved(ROW, weighing(grounding=1.0, quoted=9.0))] == ["grounding"]


@pytest.mark.parametrize("reason", [Reason.NO_DOCUMENTS, Reason.NO_SUPPORT, Reason.EMPTY_ANSWER])
def test_where_no_feature_was_asked_none_is_named(reason):
    assert moved({**ROW, "reasons": [reason.value]}, BY) == []


@pytest.mark.parametrize("answer", ["You're welcome!", "Yes, they are."])
def test_an_answer_that_states_nothing_is_neither_moved_nor_unsupported(answer):
    features = {**EVIDENCE["features"], "grounding": -0.9}
    low = pair(answer, answer, 0, "Cats may.", 0.2) | {"answer_start": 0, "answer_end": len(answer)}
    row = {**ROW, "answer": answer, "evidence": {"features": features, "alignment": [low]}}
    assert all_moved(row, BY) == []
    assert carrying_summary(sentences(row)) == []
    assert "marked sentences" not in advice(row)


def test_without_the_profile_no_feature_is_named():
    assert moved(ROW, None) == []


def test_all_that_moved_it_is_listed_for_the_sum():
    assert {m.name: m.log_odds for m in all_moved(ROW, weighing(grounding=-2.0, missing_names=0.01))} == {
        "grounding": 1.0,
        "missing_names": 0.01,
    }
    assert all_moved(ROW, None) == []


# --- what to conclude ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (1.0, "quite sure"),
        (SURE, "quite sure"),
        (SURE - 1e-6, "fairly sure"),
        (FAIRLY_SURE, "fairly sure"),
        (FAIRLY_SURE - 1e-6, "a close call"),
        (0.2, "a close call"),
    ],
)
def test_how_sure_a_verdict_is_depends_on_its_own_probability(probability, words):
    assert certainty({**ROW, "verdict": "refusal", "p_refusal": probability}) == words


def test_the_sentences_are_listed_by_what_the_documents_say_of_them():
    assert carrying_summary(sentences(ROW)) == [
        "the documents support sentence 2",
        "no document supports sentence 4",
        "the documents contradict sentence 3",
        "in no document: “Elm Street”, “7”",
    ]


def test_several_sentences_are_listed_together():
    answer = "Parking costs two euros. Dogs may come in. Cats may come in."
    pairs = [
        pair(answer, piece, 1, "It is paid at the gate.", 0.7)
        for piece in ("Parking costs two euros.", "Dogs may come in.", "Cats may come in.")
    ]
    row = {**ROW, "answer": answer, "evidence": {"alignment": pairs}}
    assert carrying_summary(sentences(row)) == ["the documents partly support sentences 1, 2 and 3"]


def test_sentences_that_were_not_compared_are_not_listed():
    assert carrying_summary(sentences({**ROW, "evidence": {}})) == []


@pytest.mark.parametrize(
    ("reasons", "part"),
    [
        (["no_documents"], "the retriever"),
        (["retrieval_off_question", "contradicts_documents"], "the retriever"),
        (["support_off_question", "contradicts_documents", "not_in_documents"], "the generator"),
        (["missing_fact"], "the generator"),
        (["no_support"], "the generator"),
        (["empty_answer", "no_documents"], "the generator"),
    ],
)
def test_the_reasons_say_where_to_look_for_an_invented_answer(reasons, part):
    assert advice({**ROW, "verdict": "self_generated", "reasons": reasons}).startswith(f"look at {part}")


@pytest.mark.parametrize(
    ("correct", "reasons", "part"),
    [
        (True, ["refusal_wording"], "the retriever, then the knowledge base"),
        (False, ["refusal_wording"], "the generator and its prompt"),
        (None, ["refusal_wording", "answer_off_question"], "the retrieved documents"),
        (True, ["no_documents", "refusal_wording"], "the retriever: check its index"),
        (None, ["empty_answer"], "the generator: it returned nothing"),
    ],
)
def test_where_to_look_for_a_refusal_depends_on_whether_it_was_right(correct, reasons, part):
    row = {**ROW, "verdict": "refusal", "refusal_kind": "full", "refusal_correct": correct, "reasons": reasons}
    assert advice(row).startswith(f"look at {part}")


def test_there_is_advice_for_every_reason():
    for verdict in ("refusal", "self_generated"):
        for reason in Reason:
            assert advice({**ROW, "verdict": verdict, "reasons": [reason.value]}).startswith("look at the ")


def test_a_grounded_answer_needs_nothing_unless_a_sentence_is_in_doubt():
    assert "read the marked sentences" in advice(ROW)
    assert advice({**ROW, "evidence": {**EVIDENCE, "missing": [], "alignment": EVIDENCE["alignment"][:1]}}) == (
        "nothing to do"
    )


@pytest.mark.parametrize("diagnosis", [d for d in Diagnosis if d is not Diagnosis.HEALTHY])
@pytest.mark.parametrize("verdict", ["refusal", "self_generated"])
@pytest.mark.parametrize("correct", [True, False, None])
def test_the_diagnosis_decides_where_to_look(diagnosis, verdict, correct):
    """No reason that blames the other part overrules it."""
    part, other = ("retriever", "generator") if diagnosis.of_retriever else ("generator", "retriever")
    for reason in set(Reason) - {Reason.NO_DOCUMENTS}:
        row = diagnosed_row(replace(DIAGNOSED, diagnosis=diagnosis), verdict=verdict, refusal_correct=correct)
        said = advice({**row, "reasons": [reason.value]})
        assert part in said
        assert other not in said


@pytest.mark.parametrize(
    ("diagnosis", "reason", "part"),
    [
        (Diagnosis.RETRIEVAL_MISSED, Reason.NO_DOCUMENTS, "the retriever: check its index"),
        (Diagnosis.GENERATOR_IGNORED, Reason.EMPTY_ANSWER, "the generator: it returned nothing"),
        (Diagnosis.GENERATOR_INVENTED, Reason.CONTRADICTS_DOCUMENTS, "the generator and its prompt; check too that"),
    ],
)
def test_a_reason_that_says_more_about_the_same_part_comes_before_the_diagnosis(diagnosis, reason, part):
    row = diagnosed_row(replace(DIAGNOSED, diagnosis=diagnosis), verdict="self_generated", reasons=[reason.value])
    assert advice(row).startswith(f"look at {part}")


@pytest.mark.parametrize("correct", [True, False, None])
@pytest.mark.parametrize("diagnosis", [Diagnosis.GENERATOR_IGNORED, Diagnosis.RETRIEVAL_MISSED])
def test_the_diagnosis_of_a_refusal_decides_the_advice(diagnosis, correct):
    row = diagnosed_row(replace(DIAGNOSED, diagnosis=diagnosis), verdict="refusal", refusal_correct=correct)
    assert advice(row).endswith(DIAGNOSIS_ADVICE[diagnosis])


def test_a_grounded_answer_can_have_a_retriever_to_look_at():
    noisy = replace(DIAGNOSED, diagnosis=Diagnosis.RETRIEVAL_NOISY)
    row = diagnosed_row(noisy)
    assert advice(row) == (
        "read the marked sentences: the answer is grounded on the whole, but not in all it says; "
        f"{DIAGNOSIS_ADVICE[Diagnosis.RETRIEVAL_NOISY]}"
    )
    fine = {**row["evidence"], "missing": [], "alignment": EVIDENCE["alignment"][:1]}
    assert advice({**row, "evidence": fine}) == DIAGNOSIS_ADVICE[Diagnosis.RETRIEVAL_NOISY]
    healthy = {**row, "evidence": fine, "diagnosis": "healthy"}
    assert advice(healthy) == "nothing to do"


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "correct", "said"),
    [
        ("partial", None, "in part"),
        ("full", True, "correct refusal"),
        ("full", False, "over-refusal"),
        ("full", None, "do not show clearly"),
    ],
)
def test_a_refusal_is_put_into_words(kind, correct, said):
    assert said in refusal_words({**ROW, "refusal_kind": kind, "refusal_correct": correct})


def test_what_refuses_nothing_has_no_words():
    assert refusal_words(ROW) is None


# --- the judge's word ------------------------------------------------------------------------------------------------

HEARD = {"model": "judge-1", "score": 0.25, "says": "unsupported", "weight": 1.1, "labels": 0, "before": 0.02}


def test_the_judges_word_is_told_with_the_probability_without_it():
    row = {**ROW, "evidence": {**EVIDENCE, "judge": HEARD}, "p_self_generated": 0.06, "p_refusal": 0.04}
    assert judge_words(row) == (
        "judge-1 finds it unsupported (faithfulness 0.25): self-generated 2% without its word, 6% with it"
    )
    silent = {**HEARD, "says": None, "score": 0.65}
    assert "finds it neither supported nor unsupported (faithfulness 0.65)" in str(
        judge_words({**row, "evidence": {**EVIDENCE, "judge": silent}})
    )
    assert judge_words(ROW) is None


def test_whose_answer_revised_it_last_is_told():
    row = {**ROW, "evidence": {**EVIDENCE, "judge": HEARD}}
    assert revised_by({**row, "earlier": {"evidence": EVIDENCE}}) == "the judge answered"
    assert revised_by({**row, "earlier": {"evidence": {"judge": HEARD}}}) == "the sidecar answered"
    assert revised_by({**ROW, "earlier": {"verdict": "grounded"}}) == "the sidecar answered"  # its texts were erased
    at = {"revised_at": NOON, "replaced_at": NOON, "earlier": {"verdict": "grounded"}}
    assert revised_by({**ROW, **at}) == "more of its trace arrived"
