from __future__ import annotations

import io

import pytest
from rich.console import Console

from monitor.explain import METRIC_NAMES, REASON_WORDS, explanation
from monitor.model import Reason, Verdict
from tests.unit.builders import NOON, profile

ROW = {
    "app": "shop",
    "id": "q-1",
    "occurred_at": NOON,
    "question": "What does parking cost?",
    "answer": "Two euros.",
    "verdict": "grounded",
    "profile_name": "minilm",
    "profile_hash": "0123456789abcdef",
    "rule_verdict": "grounded",
    "p_grounded": 0.9,
    "p_refusal": 0.04,
    "p_self_generated": 0.06,
    "uncalibrated": True,
    "support": {
        "origin": "extractive",
        "documents": [{"document_id": "d0", "start": 0, "end": 24, "text": "Parking costs two euros."}],
    },
    "reasons": [],
    "features": {"undefined": {}},
    "sdq": 0.81,
    "sdrd": 0.82,
    "sda": 0.79,
    "qrd": 0.84,
    "qa": 0.85,
}


def shown(by=None, *, width=200, **changed):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(explanation({**ROW, **changed}, by))
    return console.file.getvalue()


def test_the_answer_its_support_and_the_figures_are_there():
    text = shown(profile(0.8))
    for part in (
        "shop / q-1  2026-03-02 12:00:00 UTC",
        "grounded   grounded 90% · refusal 4% · self-generated 6%",
        "uncalibrated for this app",
        "What does parking cost?",
        "Two euros.",
        "support (extractive)",
        "Parking costs two euros.  [d0]",
        "supporting documents – question",
    ):
        assert part in text


def test_each_metric_is_shown_against_its_threshold():
    lines = shown(profile(0.8, rules={"qa": {"threshold": 0.85}})).splitlines()
    figures = {name: next(line for line in lines if f" {name.upper()} " in line) for name in METRIC_NAMES}
    assert "0.81  ≥ 0.80" in figures["sdq"]
    assert "0.79  < 0.80" in figures["sda"]
    assert "0.85  ≥ 0.85" in figures["qa"]


def test_without_the_profile_there_are_figures_but_no_thresholds():
    text = shown(None)
    assert "0.79" in text
    assert "≥" not in text
    assert "<" not in text


def test_an_undefined_metric_says_what_is_missing():
    text = shown(profile(), qa=None, sda=None, features={"undefined": {"qa": "empty_answer"}})
    assert "question – answer: empty_answer" in text
    assert "supporting documents – answer: undefined" in text


@pytest.mark.parametrize("reason", Reason)
def test_every_reason_is_put_into_words(reason):
    assert REASON_WORDS[reason] in shown(verdict="refusal", reasons=[reason.value])


@pytest.mark.parametrize("verdict", [v.value for v in Verdict])
def test_every_verdict_has_a_colour_and_a_word(verdict):
    text = shown(verdict=verdict, rule_verdict=verdict)
    assert verdict.replace("_", "-") in text
    assert "thesis's rule" not in text


def test_the_thesis_s_rule_is_named_where_it_says_otherwise():
    assert "thesis's rule" in shown(rule_verdict="self_generated")


def test_support_that_stands_in_no_document_says_so():
    support = {"origin": "logged", "documents": [{"document_id": None, "start": None, "text": "Invented."}]}
    assert "Invented.  [not from the documents]" in shown(support=support)


def test_an_answer_without_support_is_shown_too():
    assert "support" not in shown(support={"origin": "logged", "documents": []}).split("SDQ")[0]


HOSTILE = ["[red]x[/red]", "[/]", "[link=http://e.example]x[/link]", "[bold", "\\[red]", ":smile:", "[@click=a]x"]


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("field", ["question", "answer", "app", "id"])
def test_markup_in_texts_is_shown_as_it_is(field, text):
    assert text in shown(**{field: text})


@pytest.mark.parametrize("text", HOSTILE)
def test_markup_in_support_is_shown_as_it_is(text):
    shown_text = shown(support={"origin": "logged", "documents": [{"document_id": text, "start": 0, "text": text}]})
    assert f"{text}  [{text}]" in shown_text


@pytest.mark.parametrize(
    "text", ["\x1b[2J", "\x1b]0;title\x07", "\x1b[31mred", "\x9b31m", "a\x1b]8;;http://e.example\x1b\\b"]
)
@pytest.mark.parametrize("field", ["question", "answer", "id"])
def test_no_text_of_others_steers_the_terminal(field, text):
    assert not set(shown(**{field: text})) & set("\x1b\x9b\x07")


def test_long_words_are_folded_and_not_cut():
    text = shown(width=60, answer="x" * 300)
    assert text.count("x") >= 300


def test_the_profile_is_named_and_a_rescore_is_said_to_be_one():
    live = shown()
    assert "profile minilm (01234567)" in live
    assert "rescore" not in live
    assert "a rescore that no alert counts" in shown(live=False)


SIDECAR = {"mode": "explain", "model": "m", "prompt_hash": "0123456789abcdef", "second_answer": None}


def test_where_each_piece_of_support_stands_is_said():
    pieces = [
        {"document_id": "d0", "start": 0, "end": 4, "text": "One.", "match": "exact"},
        {"document_id": "d1", "start": 0, "end": 4, "text": "Two.", "match": "fuzzy"},
        {"document_id": None, "start": None, "end": None, "text": "Three.", "match": None},
    ]
    text = shown(support={"origin": "sidecar", "documents": pieces, "sidecar": SIDECAR})
    for part in ("support (sidecar)", "One.  [d0]", "Two.  [d1, nearly]", "Three.  [not from the documents]"):
        assert part in text


def test_a_stand_in_for_the_sidecar_says_why_and_whether_it_is_asked_again():
    stands_in = {"because": "no answer in time", "queued": True}
    text = shown(support={**ROW["support"], "stands_in": stands_in})
    assert "not the sidecar's: no answer in time; it will be asked again" in text
    text = shown(support={**ROW["support"], "stands_in": {"because": "content_filter", "queued": False}})
    assert "content_filter" in text
    assert "asked again" not in text


def test_what_the_sidecar_answered_itself_and_that_it_named_nothing_is_said():
    sidecar = {**SIDECAR, "second_answer": "Three euros."}
    text = shown(support={"origin": "sidecar", "documents": [], "sidecar": sidecar})
    assert "the sidecar named nothing that supports the answer" in text
    assert "Three euros." in text


def test_a_revised_verdict_says_what_it_was_before():
    assert "self-generated until 2026-03-02 12:00 UTC, when the sidecar answered" in shown(
        earlier={"verdict": "self_generated"}, revised_at=NOON
    )


def judgement(metric, score=None, reason=None, **parts):
    return {"metric": metric, "score": score, "reason": reason, "parts": parts, "model": "judge-1"}


def test_judgements_are_shown_with_what_speaks_against_the_answer():
    said = [
        {"statement": "Parking costs two euros.", "why": "it says so", "supported": True},
        {"statement": "It is free at night.", "why": "nothing of that", "supported": False},
    ]
    console = Console(file=io.StringIO(), width=200, color_system=None)
    judged = [
        judgement("faithfulness", 0.5, statements=said),
        judgement("answer_relevance", None, "refusal"),
        judgement("context_relevance", 0.25, sentences=[{"text": "x"}], total=4),
        judgement("context_precision", 0.5, documents=[{"document": 1, "useful": False, "why": "other town"}]),
        judgement("context_entity_recall", 0.5, found=["Ghent"], missed=["Bruges"]),
    ]
    console.print(explanation(ROW, None, judged))
    text = console.file.getvalue()
    for part in (
        "judged by judge-1",
        "0.50  1 of 2 statements",
        "✗ It is free at night. (nothing of that)",
        "–     refusal",
        "1 of 4 sentences are needed",
        "✗ document 2: other town",
        "missed: Bruges",
    ):
        assert part in text
