from __future__ import annotations

import pytest

from monitor.assess.judge.judgement_text import judgement_text


def row(score=0.5, reason=None, **parts):
    return {"score": score, "reason": reason, "parts": parts}


def chunk(score, document=0, start=0, end=9, why="off"):
    return {"document": document, "start": start, "end": end, "first": 1, "reflected": 1, "score": score, "why": why}


def test_chunks_below_the_threshold_are_named_the_worst_first():
    chunks = [chunk(0.9), chunk(0.4, 1, 10, 20, "another year"), chunk(0.1, 2), chunk(0.2, 3), chunk(0.3, 4)]
    assert judgement_text(row(chunks=chunks, threshold=0.5, query=None, left_out=0)).splitlines() == [
        "1 of 5 chunks reach 0.50",
        "✗ document 3, characters 1-9: 0.10 (off)",
        "✗ document 4, characters 1-9: 0.20 (off)",
        "✗ document 5, characters 1-9: 0.30 (off)",
    ]


def test_what_was_left_out_and_how_the_question_was_asked_is_said():
    text = judgement_text(row(chunks=[chunk(0.5)], threshold=0.5, query="When?", left_out=3))
    assert text.splitlines() == ["1 of 1 chunks reach 0.50", "3 more chunks were not read", "asked as: When?"]


@pytest.mark.parametrize(
    ("without_model", "line"),
    [
        ("retrieval_missed", "diagnosis by these scores: retrieval missed"),
        ("healthy", "diagnosis by these scores: retrieval missed (without a model: healthy)"),
    ],
)
def test_the_diagnosis_by_the_scores_is_said_beside_another_without_a_model(without_model, line):
    parts = {"chunks": [chunk(0.5)], "threshold": 0.5, "diagnosis": "retrieval_missed", "without_model": without_model}
    assert judgement_text(row(**parts)).splitlines()[-1] == line


def test_chunks_without_a_score_give_the_reason():
    parts = {"verdicts": [], "stage": "first", "query": None}
    assert judgement_text(row(score=None, reason="content_filter", **parts)) == "content filter"


def test_what_other_metrics_say_stays():
    statements = [{"statement": "It is open.", "supported": False, "why": "not said"}]
    assert judgement_text(row(statements=statements)) == "0 of 1 statements\n✗ It is open. (not said)"
    assert judgement_text(row(sentences=[1], total=4)) == "1 of 4 sentences are needed"
    assert judgement_text(row(missed=[])) == "missed: none"
    assert judgement_text(row()) == ""
