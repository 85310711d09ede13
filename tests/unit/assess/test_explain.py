from __future__ import annotations

import json

import pytest

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.classify.refusal import Role
from monitor.assess.explain import (
    CARRIED,
    MOST_MOVED,
    PARTLY,
    REASON_WORDS,
    Carried,
    compared,
    findings_json,
    moved,
    refusal_words,
    sentences,
)
from monitor.assess.score.features import FEATURES
from monitor.core.model import Reason
from tests.factories.assess import profile
from tests.factories.explained_rows import ANSWER, DOCUMENTS, EVIDENCE, ROW, pair, place


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
        (1.0, Carried.CARRIED), (CARRIED, Carried.CARRIED), (CARRIED - 1e-6, Carried.PARTLY), (PARTLY, Carried.PARTLY),
        (PARTLY - 1e-6, Carried.NOT), (-1.0, Carried.NOT),
    ],
)  # fmt: skip
def test_a_score_has_a_word(score, word):
    assert Carried.by(score) is word


# --- what moved it ---------------------------------------------------------------------------------------------------


def test_what_moved_it_most_comes_first_with_its_sign():
    # -4 · .75, -2 · -.5, .5 · 1
    assert [(m.name, m.value, m.log_odds) for m in moved(ROW, BY)] == [
        ("content_overlap", 0.75, -3.0), ("grounding", -0.5, 1.0), ("missing_names", 1.0, 0.5),
    ]  # fmt: skip


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


def test_without_the_profile_no_feature_is_named():
    assert moved(ROW, None) == []


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "correct", "said"),
    [
        ("partial", None, "in part"),
        ("full", True, "correct refusal"),
        ("full", False, "over-refusal"),
        ("full", None, "cannot be told"),
    ],
)
def test_a_refusal_is_put_into_words(kind, correct, said):
    assert said in refusal_words({**ROW, "refusal_kind": kind, "refusal_correct": correct})


def test_what_refuses_nothing_has_no_words():
    assert refusal_words(ROW) is None


# --- as JSON ---------------------------------------------------------------------------------------------------------


def test_the_json_has_everything_that_the_panel_says():
    row = {**ROW, "reasons": ["missing_fact"], "refusal_kind": "full", "refusal_correct": False}
    found = json.loads(json.dumps(findings_json(row, BY)))
    courtesy, parking, dogs, gate = found["sentences"]
    assert (courtesy["text"], courtesy["role"], courtesy["carried"], courtesy["passage"]) == (
        "Great question!", "courtesy", None, None,
    )  # fmt: skip
    start, end = place(DOCUMENTS[1], "Parking costs two euros per hour, also at night.")
    assert parking["passage"] == {"document_id": "d1", "start": start, "end": end, "text": DOCUMENTS[1][start:end]}
    assert (parking["carried"], parking["score"], parking["contradicts"]) == ("carried", 0.96, False)
    assert dogs["contradicts"] is True
    assert (gate["carried"], [fact["kind"] for fact in gate["missing"]]) == ("not_carried", ["name", "number"])
    assert found["reasons"] == [REASON_WORDS[Reason.MISSING_FACT]]
    assert found["refusal"].startswith("over-refusal")
    assert found["moved"][0] == {
        "name": "content_overlap", "value": 0.75, "log_odds": -3.0, "says": FEATURES["content_overlap"],
    }  # fmt: skip
    assert found["thresholds"] == {"sdq": 0.8, "sdrd": 0.8, "sda": 0.8, "qrd": 0.8, "qa": 0.8, "self_generated": 0.6}


def test_the_json_of_a_refusing_sentence_has_its_cue():
    answer = "The documents do not mention it."
    (found,) = findings_json({**ROW, "answer": answer, "evidence": {}}, None)["sentences"]
    assert found["role"] == "refusing"
    assert answer[found["cue"]["start"] : found["cue"]["end"]] == found["cue"]["text"]


def test_the_json_does_without_profile_and_evidence():
    found = findings_json({**ROW, "evidence": {}}, None)
    assert (found["moved"], found["thresholds"]) == ([], None)
    assert [s["carried"] for s in found["sentences"]] == [None] * 4


def test_there_are_words_for_every_reason():
    assert set(REASON_WORDS) == set(Reason)
    assert len(set(REASON_WORDS.values())) == len(Reason)
