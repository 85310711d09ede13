from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.core.assessment_json import assessment_json, diagnosis_of, encode, support_json, support_of
from monitor.core.evidence import AlignedSentence, Evidence, MissingFact
from monitor.core.model import (
    Assessment,
    Match,
    Origin,
    Probabilities,
    Reason,
    Refusal,
    RefusalKind,
    Scores,
    StandIn,
    Support,
    SupportingDocument,
    Verdict,
)
from tests.factories.answers import A_STAND_IN, FROM_THE_SIDECAR
from tests.factories.assess.interactions import NOON, interaction, metrics

METRICS = metrics(0.12345678, -0.5, 1.0, None, 1 / 3)
ASSESSMENT = Assessment(
    interaction=interaction(answer="Rot."),
    support=Support(
        origin=Origin.EXTRACTIVE,
        documents=(
            SupportingDocument(text="Rot.", document_id="d0", start=0, end=4),
            SupportingDocument(text="Invented."),
        ),
    ),
    scores=Scores(joined=METRICS, maximum=METRICS, undefined={"qrd": "no_documents"}),
    metrics=METRICS,
    evidence=Evidence(
        features={"grounding": -0.12345678, "detector": None},
        alignment=(
            AlignedSentence(answer_start=0, answer_end=4, document=0, document_id="d0", start=5, end=9, score=2 / 3),
            AlignedSentence(
                answer_start=5, answer_end=9, document=0, document_id="d0", start=5, end=9, score=1.0, contradicts=True
            ),
        ),
        missing=(MissingFact(kind="name", start=0, end=3, text="Rot"),),
    ),
    verdict=Verdict.SELF_GENERATED,
    rule_verdict=Verdict.GROUNDED,
    reasons=(Reason.ANSWER_OFF_SUPPORT, Reason.NO_DOCUMENTS),
    refusal=Refusal(kind=RefusalKind.PARTIAL, correct=None),
    probabilities=Probabilities(grounded=1 / 3, refusal=1 / 6, self_generated=0.5),
    uncalibrated=True,
    profile_name="hash",
    profile_hash="0123456789abcdef",
    embedding_model="hash/64",
    rank=20 / 1002,
    reference="fedcba9876543210",
)


def read(assessment=ASSESSMENT):
    return json.loads(encode(assessment_json(assessment)))


def test_an_assessment_is_written_in_the_form_that_others_rely_on():
    assert read() == {
        "id": "i-1",
        "app": "shop",
        "occurred_at": "2026-03-02T12:00:00Z",
        "verdict": "self_generated",
        "probabilities": {"grounded": 0.333333, "refusal": 0.166667, "self_generated": 0.5},
        "uncalibrated": True,
        "refusal": {"kind": "partial", "correct": None},
        "metrics": {"sdq": 0.123457, "sdrd": -0.5, "sda": 1.0, "qrd": None, "qa": 0.333333},
        "reasons": ["answer_off_support", "no_documents"],
        "support": {
            "origin": "extractive",
            "documents": [
                {"document_id": "d0", "start": 0, "end": 4, "text": "Rot."},
                {"document_id": None, "start": None, "end": None, "text": "Invented."},
            ],
        },
        "features": {"grounding": -0.123457, "detector": None},
        "alignment": [
            {
                "answer_start": 0,
                "answer_end": 4,
                "document": 0,
                "document_id": "d0",
                "start": 5,
                "end": 9,
                "score": 0.666667,
                "contradicts": False,
            },
            {
                "answer_start": 5,
                "answer_end": 9,
                "document": 0,
                "document_id": "d0",
                "start": 5,
                "end": 9,
                "score": 1.0,
                "contradicts": True,
            },
        ],
        "missing": [{"kind": "name", "start": 0, "end": 3, "text": "Rot"}],
        "diagnosis": None,
        "retrieval": None,
        "standalone_question": None,
        "profile": {"name": "hash", "hash": "0123456789abcdef"},
        "embedding_model": "hash/64",
        "rule_verdict": "grounded",
        "rank": 0.01996,
        "reference": "fedcba9876543210",
    }


def test_the_keys_are_those_of_the_design_and_the_evidence():
    assert set(read()) == {
        *("id", "app", "occurred_at", "verdict", "probabilities", "uncalibrated", "refusal", "metrics", "reasons"),
        *("support", "alignment", "profile", "embedding_model", "rule_verdict"),
        *("rank", "reference", "features", "missing", "diagnosis", "retrieval", "standalone_question"),
    }


@pytest.mark.parametrize(("verdict", "word"), [(v, v.value) for v in Verdict])
def test_words_are_plain_strings(verdict, word):
    assert encode(assessment_json(replace(ASSESSMENT, verdict=verdict))).count(f'"verdict":"{word}"') == 1


@pytest.mark.parametrize("correct", [True, None])
def test_a_refusal_says_whether_it_was_right(correct):
    refused = replace(ASSESSMENT, refusal=Refusal(kind=RefusalKind.FULL, correct=correct))
    assert read(refused)["refusal"] == {"kind": "full", "correct": correct}


def test_fractions_of_seconds_stay():
    later = interaction(occurred_at=NOON + timedelta(microseconds=1500))
    assert read(replace(ASSESSMENT, interaction=later))["occurred_at"] == "2026-03-02T12:00:00.001500Z"


@pytest.mark.parametrize("text", ["\u2028\u2029\u0085", '\n\r\t"\\/', "\x00\x1f\x7f", "é文🤷", "</script>", "\ufeff"])
def test_any_text_stays_on_its_line_and_comes_back(text):
    it = replace(ASSESSMENT, support=Support(origin=Origin.LOGGED, documents=(SupportingDocument(text=text),)))
    line = encode(assessment_json(it))
    assert not set(line) & set("\n\r")
    assert json.loads(line)["support"]["documents"][0]["text"] == text
    assert line.encode("utf-8").decode("utf-8") == line


@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(-1, 1))
def test_what_is_written_can_be_read_back(text, value):
    changed = replace(
        ASSESSMENT,
        interaction=interaction(id=text, app=text),
        metrics=metrics(sda=value),
        evidence=Evidence(
            features={"sda": value}, missing=(MissingFact(kind="name", start=0, end=len(text), text=text),)
        ),
        support=Support(origin=Origin.SIDECAR, documents=(SupportingDocument(text=text, document_id=text),)),
    )
    got = read(changed)
    assert got["id"] == got["app"] == got["support"]["documents"][0]["text"] == text
    assert got["missing"][0]["text"] == text
    assert got["metrics"]["sda"] == got["features"]["sda"] == pytest.approx(value, abs=5.1e-7)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_figure_that_json_has_no_word_for_is_null(value):
    changed = replace(ASSESSMENT, metrics=metrics(sda=value), evidence=Evidence(features={"sda": value}))
    found = json.loads(encode(assessment_json(changed)), parse_constant=pytest.fail)
    assert found["metrics"]["sda"] is None
    assert found["features"]["sda"] is None


def test_no_space_is_wasted():
    assert encode({"a": [1, None, True], "b": {}}) == '{"a":[1,null,true],"b":{}}'


def test_how_a_piece_matches_is_said_where_it_is_not_plain():
    pieces = (
        SupportingDocument(text="One.", document_id="d0", start=0, end=4, match=Match.EXACT),
        SupportingDocument(text="two.", document_id="d0", start=5, end=9, match=Match.FOLDED),
        SupportingDocument(text="Three."),
    )
    logged = support_json(Support(origin=Origin.LOGGED, documents=pieces))
    assert [piece.get("match", "-") for piece in logged["documents"]] == ["-", "folded", "-"]
    asked = support_json(Support(origin=Origin.SIDECAR, documents=pieces))
    assert [piece["match"] for piece in asked["documents"]] == ["exact", "folded", None]


def test_a_stand_in_says_why_and_not_where_the_error_came_from():
    stands_in = StandIn(because="no answer in time", queued=True, error=ValueError("secret"))
    found = support_json(Support(origin=Origin.EXTRACTIVE, documents=(), stands_in=stands_in))
    assert found["stands_in"] == {"because": "no answer in time", "queued": True}


def test_support_is_read_back_as_it_was_rendered():
    """What a rescore scores is what was scored before."""
    piece = SupportingDocument(text="kept for 30 days", document_id="d-1", start=3, end=19, match=Match.FUZZY)
    for support in (
        A_STAND_IN,
        FROM_THE_SIDECAR,
        replace(FROM_THE_SIDECAR, documents=(piece, SupportingDocument(text="elsewhere", cut_short=True))),
        Support(origin=Origin.LOGGED, documents=(piece, replace(piece, match=Match.EXACT))),
    ):
        assert support_of(json.loads(encode(support_json(support)))) == support


@pytest.mark.parametrize("change", [{"of_a_later_release": 1}, {"chunks": [{"of": "a later release"}]}])
def test_a_diagnosis_in_the_form_of_another_release_is_none(change):
    stored = {"threshold": 0.4, "chunks": []}
    assert diagnosis_of("healthy", stored) is not None
    assert diagnosis_of("healthy", {**stored, **change}) is None
    assert diagnosis_of("of_a_later_release", stored) is None
