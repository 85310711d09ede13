"""What is said of an answer, and how each destination words it."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from monitor.app.export.evaluations import answer_id, evaluations, revision_id
from monitor.app.export.langfuse import score_event
from monitor.app.export.otlp import OtlpDestination, record
from monitor.core.assessment_json import retrieval_json
from monitor.core.diagnosis import Diagnosis
from monitor.core.errors import WrongSettings
from monitor.core.pending import Work
from monitor.core.settings.export import ExportSettings
from monitor.store.pending.verdicts import StoredJudgement, VerdictToSend
from tests.factories.answers import NOON
from tests.factories.assess.diagnoses import a_diagnosis

SCORES = ExportSettings().scores
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


def a_verdict(**over):
    assessment = {
        "verdict": "refusal",
        "probabilities": {"grounded": 0.1, "refusal": 0.8, "self_generated": 0.1},
        "metrics": {"sdq": None, "sdrd": 0.5, "sda": None, "qrd": -0.25, "qa": 0.0},
        "reasons": ["refusal_wording", "no_documents"],
        "refusal": {"kind": "full", "correct": True},
        "rank": None,
        "diagnosis": None,
        "retrieval": None,
        "profile": {"name": "hash", "hash": "0123456789abcdef"},
    }
    known = {"id": 1, "kind": Work.SEND_OTLP, "token": "t", "attempts": 1, "app": "bot", "interaction_id": "q-1"}
    known |= {"occurred_at": NOON, "at": NOON, "assessment": assessment, "trace_id": TRACE, "span_id": SPAN}
    return VerdictToSend(**known | over)


def said(verdict, scores=SCORES):
    return {one.name: (one.value, one.label) for one in evaluations(verdict, scores)}


def test_what_has_a_value_is_said_under_its_documented_name():
    judged = StoredJudgement(metric="faithfulness", model="gpt-test", score=0.0, reason="it\nsays so")
    unscored = StoredJudgement(metric="context_recall", model="gpt-test", score=None, reason="no answer")
    assert said(a_verdict(judgements=(judged, unscored))) == {
        "monitor.verdict": (0.1, "refusal"),
        "monitor.p_grounded": (0.1, None),
        "monitor.p_refusal": (0.8, None),
        "monitor.p_self_generated": (0.1, None),
        "monitor.sdrd": (0.5, None),
        "monitor.qrd": (-0.25, None),
        "monitor.qa": (0.0, None),
        "monitor.refusal": (None, "full"),
        "monitor.judge.faithfulness": (0.0, None),
    }


def test_reasons_are_in_words_and_explanations_on_one_line_of_bounded_length():
    judged = StoredJudgement(metric="faithfulness", model="gpt-test", score=0.0, reason="a\n\x1b[31mb" + "x" * 5_000)
    found = {one.name: one for one in evaluations(a_verdict(judgements=(judged,)), SCORES)}
    assert found["monitor.verdict"].explanation == "the answer is worded as a refusal; nothing was retrieved"
    assert found["monitor.refusal"].explanation == "the documents do not hold the answer"
    words = found["monitor.judge.faithfulness"].explanation
    assert len(words) <= 1_000
    assert words.isprintable()
    assert [one.by for one in found.values()].count("LLM") == 1


def test_the_diagnosis_is_a_label_and_the_relevance_of_the_best_chunk_a_number():
    its = a_verdict()
    retrieval = retrieval_json(a_diagnosis(Diagnosis.RETRIEVAL_MISSED, relevance=0.25))
    diagnosed = {**its.assessment, "diagnosis": "retrieval_missed", "retrieval": retrieval}
    label, number = evaluations(replace(its, assessment=diagnosed), ("diagnosis",))
    assert (label.name, label.value, label.label) == ("monitor.diagnosis", None, "retrieval_missed")
    assert label.explanation == "what was retrieved does not answer the question"
    assert (number.name, number.value, number.label) == ("monitor.relevance", 0.25, None)
    assert number.explanation == "from embedding and BM25"
    erased = {**diagnosed, "retrieval": None}
    assert said(replace(its, assessment=erased), ("diagnosis",)) == {"monitor.diagnosis": (None, "retrieval_missed")}


def test_only_what_is_wanted_is_said():
    assert set(said(a_verdict(), ("rank", "refusal"))) == {"monitor.refusal"}


def test_ids_are_the_same_for_repetitions_and_differ_for_revisions_and_answers():
    one = a_verdict()
    later, other = replace(one, at=NOON + timedelta(seconds=1)), replace(one, interaction_id="q-2")
    rescored = replace(one, assessment={**one.assessment, "profile": {"name": "x", "hash": "f" * 16}})
    assert revision_id(one, "n") == revision_id(a_verdict(id=7, token="u", attempts=3), "n")
    assert len({revision_id(v, "n") for v in (one, later, other, rescored)} | {revision_id(one)}) == 5
    assert answer_id(one, "n") == answer_id(later, "n") == answer_id(rescored, "n") != answer_id(other, "n")
    split = replace(one, app="bo", interaction_id="tq-1")  # no two answers share a name
    assert answer_id(split, "n") != answer_id(one, "n")


@pytest.mark.parametrize(
    ("trace_id", "span_id", "of_trace", "of_span"),
    [
        (TRACE, SPAN, TRACE, SPAN),
        (TRACE.upper(), SPAN, TRACE, SPAN),
        (TRACE, None, TRACE, ""),
        (TRACE, "0" * 16, TRACE, ""),
        (TRACE, "run-7", TRACE, ""),
        ("0" * 32, SPAN, "", ""),
        ("my trace", SPAN, "", ""),
        (None, None, "", ""),
    ],
)
def test_a_log_record_has_the_ids_that_are_valid(trace_id, span_id, of_trace, of_span):
    verdict = a_verdict(trace_id=trace_id, span_id=span_id, response_id="chatcmpl-1")
    made = record(verdict, evaluations(verdict, SCORES)[0])
    assert (made.trace_id.hex(), made.span_id.hex()) == (of_trace, of_span)
    assert made.time_unix_nano == int(NOON.timestamp()) * 10**9
    assert {a.key: a.value.string_value for a in made.attributes}["gen_ai.response.id"] == "chatcmpl-1"


def test_a_score_with_a_label_is_a_category():
    verdict = a_verdict(span_id=None)
    first, second = (
        score_event(verdict, one)["body"] for one in evaluations(verdict, ("verdict", "probabilities"))[:2]
    )
    assert (first["dataType"], first["value"]) == ("CATEGORICAL", "refusal")
    assert (second["dataType"], second["value"]) == ("NUMERIC", 0.1)
    assert "observationId" not in first


@pytest.mark.parametrize("headers", ["authorization", "=x", "a=b,c"])
def test_headers_that_are_none_are_refused_without_repeating_them(headers):
    with pytest.raises(WrongSettings, match="must be name=value") as raised:
        OtlpDestination(endpoint="http://127.0.0.1:1", headers=headers, scores=SCORES)
    assert headers not in str(raised.value).replace("name=value", "")
