"""What the judge's word changes in a stored assessment."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.classify.judged import Word, labelled_word, with_word
from monitor.assess.judge.word import Says, WordWeights
from monitor.core.model import Reason, Verdict
from tests.factories.assess.interactions import profile

PROFILE = profile(0.5)
WEIGHTS = WordWeights(unsupported=1.0, supported=-2.0, labels=7)
BAD = Word(model="gpt-test", score=0.25, says=Says.UNSUPPORTED)
GOOD = Word(model="gpt-test", score=1.0, says=Says.SUPPORTED)
SILENT = Word(model="gpt-test", score=0.65, says=None)


def a_row(made_up=0.4, *, refusal=0.2, verdict=Verdict.GROUNDED, reasons=(), missing=(), **features):
    return {
        "verdict": verdict.value,
        "reasons": [reason.value for reason in reasons],
        "p_grounded": (1 - refusal) * (1 - made_up),
        "p_refusal": refusal,
        "p_self_generated": (1 - refusal) * made_up,
        "sdq": 0.9,
        "sdrd": 0.9,
        "sda": 0.4,
        "qrd": 0.9,
        "qa": None,
        "evidence": {"features": {"grounding": -0.2, "contradictions": 0.0, **features}, "missing": list(missing)},
    }


def after(row, word):
    """The row once the word is heard."""
    return {**row, **with_word(row, word, WEIGHTS, PROFILE), "earlier": row}


def odds(row):
    return math.log(row["p_self_generated"] / row["p_grounded"])


@given(st.floats(0.001, 0.999), st.floats(0, 0.9), st.sampled_from([BAD, GOOD]))
def test_a_word_adds_its_weight_to_the_log_odds_and_leaves_the_probability_of_a_refusal(made_up, refusal, word):
    row = a_row(made_up, refusal=refusal)
    changed = with_word(row, word, WEIGHTS, PROFILE)
    assert odds(changed) == pytest.approx(odds(row) + WEIGHTS.of(word.says), abs=1e-6)
    assert changed["p_grounded"] + changed["p_self_generated"] == pytest.approx(1 - refusal)


def test_a_verdict_that_turns_gets_reasons_that_say_why():
    changed = with_word(a_row(0.4), BAD, WEIGHTS, PROFILE)
    assert changed["verdict"] == "self_generated"
    assert changed["reasons"] == ["answer_off_support", "not_in_documents"]  # SDA is below the threshold
    more = with_word(a_row(0.4, missing=[{"text": "90"}], contradictions=1.0), BAD, WEIGHTS, PROFILE)
    assert more["reasons"][1:] == ["missing_fact", "contradicts_documents", "not_in_documents"]
    turned = with_word(
        a_row(0.6, verdict=Verdict.SELF_GENERATED, reasons=[Reason.MISSING_FACT]), GOOD, WEIGHTS, PROFILE
    )
    assert (turned["verdict"], turned["reasons"]) == ("grounded", [])


def test_a_verdict_that_stays_keeps_its_reasons():
    row = a_row(0.9, verdict=Verdict.SELF_GENERATED, reasons=[Reason.MISSING_FACT])
    assert with_word(row, BAD, WEIGHTS, PROFILE)["reasons"] == ["missing_fact"]


def test_the_evidence_says_what_was_heard():
    row = a_row(0.4)
    changed = with_word(row, BAD, WEIGHTS, PROFILE)
    heard = {"model": "gpt-test", "score": 0.25, "says": "unsupported", "weight": 1.0, "labels": 7}
    heard |= {"before": 0.4, "turned": 1}
    assert changed["evidence"] == {**row["evidence"], "judge": heard}
    found = labelled_word(changed["evidence"], Verdict.SELF_GENERATED)
    assert (found.log_odds, found.says, found.made_up) == (pytest.approx(math.log(2 / 3)), Says.UNSUPPORTED, True)


def test_a_second_word_replaces_the_first():
    row = a_row(0.4)
    second = with_word(after(row, BAD), GOOD, WEIGHTS, PROFILE)
    alone = with_word(row, GOOD, WEIGHTS, PROFILE)
    assert second["p_self_generated"] == pytest.approx(alone["p_self_generated"], abs=1e-6)
    assert (second["evidence"]["judge"]["before"], second["evidence"]["judge"]["turned"]) == (0.4, 0)


@pytest.mark.parametrize("words", [[BAD], [GOOD], [GOOD, BAD]])
@pytest.mark.parametrize(("made_up", "verdict"), [(0.4, Verdict.GROUNDED), (0.6, Verdict.SELF_GENERATED)])
def test_a_later_judgement_that_says_nothing_takes_the_word_back(made_up, verdict, words):
    row = a_row(made_up, verdict=verdict, reasons=[Reason.MISSING_FACT] if verdict.negative else [])
    assert with_word(row, SILENT, WEIGHTS, PROFILE) is None
    heard = row
    for word in words:
        heard = after(heard, word)
    back = with_word(heard, SILENT, WEIGHTS, PROFILE)
    assert (back["verdict"], back["reasons"]) == (row["verdict"], row["reasons"])
    assert back["p_self_generated"] == pytest.approx(row["p_self_generated"], abs=1e-6)
    assert (back["evidence"]["judge"]["says"], back["evidence"]["judge"]["turned"]) == (None, 0)


def test_a_word_without_weight_turns_nothing():
    row = a_row(0.6)  # an answer that states nothing is never flagged, whatever its probability
    changed = with_word(row, BAD, WordWeights(unsupported=0.0), PROFILE)
    assert (changed["verdict"], changed["evidence"]["judge"]["turned"]) == ("grounded", 0)


@pytest.mark.parametrize(
    "row",
    [
        a_row(verdict=Verdict.REFUSAL, reasons=[Reason.REFUSAL_WORDING]),
        a_row(0.99, verdict=Verdict.SELF_GENERATED, reasons=[Reason.NO_DOCUMENTS]),
        a_row(0.99, verdict=Verdict.SELF_GENERATED, reasons=[Reason.NO_SUPPORT]),
        {**a_row(), "evidence": {}},  # an earlier release assessed it
        {**a_row(), "evidence": {"features": {}, "missing": [], "alignment": []}},
    ],
)
def test_a_word_says_nothing_about_refusals_and_answers_without_documents_or_evidence(row):
    assert with_word(row, BAD, WEIGHTS, PROFILE) is None


@pytest.mark.parametrize("made_up", [0.0, 1.0])
def test_a_probability_without_log_odds_stays_finite(made_up):
    changed = with_word(a_row(made_up), GOOD, WEIGHTS, PROFILE)
    assert 0 <= changed["p_self_generated"] <= 0.8
