from __future__ import annotations

import math
from dataclasses import astuple, replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from monitor.assess.classify.profile import FeatureWeight, Groundedness
from monitor.assess.classify.refusal import Reading, read_answer
from monitor.assess.classify.verdict import BELOW, PRIMARY, classify, metrics_below, thesis_rule
from monitor.core.evidence import AlignedSentence, MissingFact
from monitor.core.model import Reason, RefusalKind, Verdict
from tests.factories.assess.interactions import evidence, interaction, metrics, profile, support

ALL = tuple(BELOW)
STUDY = profile(0.8)  # self-generated from a grounding of -.25 down
FINE = metrics(0.9, 0.9, 0.9, 0.9, 0.9)
PLAIN = interaction("When does it open?", "It opens at nine.", ["The gate opens at nine."])
NAMED = support("The gate opens at nine.")
CARRIED, MADE_UP = -0.05, -0.5  # of grounding
FACT = MissingFact(kind="number", start=12, end=16, text="nine")

value = st.none() | st.floats(-1, 1)
any_metrics = st.builds(metrics, value, value, value, value, value)
rule = st.fixed_dictionaries(
    {"threshold": st.floats(-0.95, 0.95), "reading": st.sampled_from(["joined", "maximum", "best"])}
)
any_groundedness = st.builds(
    lambda bias, threshold, weight, scale: Groundedness(
        bias=bias,
        threshold=threshold,
        features={"grounding": FeatureWeight(weight=-weight, center=-0.25, scale=scale)},
    ),
    st.floats(-1e3, 1e3),
    st.floats(0.01, 0.9999),
    st.floats(0, 1e6),
    st.floats(1e-6, 1e3),
)
any_profile = st.builds(
    lambda rules, groundedness, precision, missed: profile(
        rules=rules, groundedness=groundedness, refusal_precision=precision, refusal_missed=missed
    ),
    st.fixed_dictionaries(dict.fromkeys(ALL, rule)),
    any_groundedness,
    st.floats(0.51, 0.99),
    st.floats(0.001, 0.49),
)
any_evidence = st.builds(
    lambda grounding, held, contradictions, missing: evidence(
        grounding, question_held=held, contradictions=contradictions, missing=missing
    ),
    st.none() | st.floats(-1, 0),
    st.none() | st.floats(-1, 0),
    st.sampled_from([None, 0.0, 2.0]),
    st.sampled_from([(), (FACT,)]),
)
PARTIAL = (
    "The documents do not say whether ski rental is paid. Ski accidents abroad are covered: winter sports accidents "
    "are covered worldwide, treatment costs abroad are paid without limit, and rescue is paid up to 15,000 euros."
)
answers = st.sampled_from(["It opens at nine.", "", " \n", "I don't know.", "I cannot answer that.", PARTIAL])
any_interaction = st.builds(
    lambda answer, documents: interaction("When?", answer, documents), answers, st.sampled_from([[], [" "], ["Nine."]])
)
any_support = st.sampled_from([support(), support(" "), support("Nine.")])
anything = given(any_interaction, any_support, any_metrics, any_evidence, any_profile)


def decided(given_metrics=FINE, it=PLAIN, named=NAMED, found=None, by=STUDY):
    found = evidence(CARRIED) if found is None else found
    return classify(it, named, given_metrics, read_answer(it.answer, it.question), found, profile=by)


def judged(it, named, given_metrics, found, by):
    return decided(given_metrics, it, named, found, by)


# --- the study's rule -----------------------------------------------------------------------------------------------

EXAMPLES = {  # metrics.md §1: SDQ, SDRD, SDA, QRD, QA and the study's column "rule"
    1: ((0.94, 0.99, 0.94, 0.93, 0.93), Verdict.GROUNDED),
    2: ((0.77, 0.98, 0.75, 0.78, 0.92), Verdict.SELF_GENERATED),
    3: ((0.87, 0.76, 0.85, 0.80, 0.93), Verdict.SELF_GENERATED),
    4: ((0.86, 0.79, 0.86, 0.84, 0.72), Verdict.REFUSAL),
    5: ((0.78, 0.89, 0.74, 0.79, 0.89), Verdict.SELF_GENERATED),
}


@pytest.mark.parametrize(("figures", "verdict"), EXAMPLES.values(), ids=EXAMPLES)
def test_the_study_s_five_examples_get_the_study_s_verdicts(figures, verdict):
    assert thesis_rule(metrics(*figures), STUDY) is verdict
    assert decided(metrics(*figures)).rule_verdict is verdict


@pytest.mark.parametrize("name", ALL)
def test_a_value_on_its_threshold_is_not_below_it(name):
    at = dict.fromkeys(ALL, 0.8)
    assert metrics_below(metrics(**at), STUDY) == []
    assert metrics_below(metrics(**{**at, name: math.nextafter(0.8, 0)}), STUDY) == [name]


@pytest.mark.parametrize("name", ALL)
def test_each_metric_has_a_threshold_of_its_own(name):
    by = profile(0.5, rules={name: {"threshold": 0.9}})
    assert metrics_below(metrics(0.7, 0.7, 0.7, 0.7, 0.7), by) == [name]


@pytest.mark.parametrize("name", PRIMARY)
def test_any_primary_metric_below_is_enough(name):
    low = dict.fromkeys(ALL, 0.9) | {name: 0.1}
    assert thesis_rule(metrics(**low), STUDY) is Verdict.SELF_GENERATED
    assert thesis_rule(metrics(**{**low, "qa": 0.1}), STUDY) is Verdict.REFUSAL


@pytest.mark.parametrize("name", ["qrd", "qa"])
def test_an_auxiliary_metric_below_is_not(name):
    assert thesis_rule(metrics(**dict.fromkeys(ALL, 0.9) | {name: 0.1}), STUDY) is Verdict.GROUNDED


@pytest.mark.parametrize("name", ALL)
def test_an_undefined_metric_is_not_compared(name):
    assert metrics_below(metrics(**dict.fromkeys(ALL, -1.0) | {name: None}), STUDY) == [n for n in ALL if n != name]


def test_no_metric_at_all_is_grounded_by_the_rule_alone():
    assert thesis_rule(metrics(), STUDY) is Verdict.GROUNDED


# --- groundedness ----------------------------------------------------------------------------------------------------


def test_the_profile_s_probability_decides_between_grounded_and_self_generated():
    assert decided(found=evidence(CARRIED)).verdict is Verdict.GROUNDED
    got = decided(found=evidence(MADE_UP))
    assert (got.verdict, got.reasons) == (Verdict.SELF_GENERATED, (Reason.NOT_IN_DOCUMENTS,))
    assert got.rule_verdict is Verdict.GROUNDED


def test_a_probability_on_the_threshold_is_self_generated():
    assert decided(found=evidence(-0.25)).verdict is Verdict.SELF_GENERATED
    assert decided(found=evidence(math.nextafter(-0.25, 0) + 1e-12)).verdict is Verdict.GROUNDED


def test_the_threshold_is_the_profile_s():
    strict = STUDY.groundedness.model_copy(update={"threshold": 0.02})
    found = evidence(CARRIED)  # σ(-2 · .2 / .1) = .018
    assert decided(found=found, by=profile(0.8, groundedness=strict)).verdict is Verdict.GROUNDED
    stricter = strict.model_copy(update={"threshold": 0.01})
    assert decided(found=found, by=profile(0.8, groundedness=stricter)).verdict is Verdict.SELF_GENERATED


def test_the_shares_follow_from_the_probability_and_the_refusals_that_wording_misses():
    shares = decided(found=evidence(-0.3)).probabilities
    made_up = 1 / (1 + math.exp(-1))  # -2 · -.05 / .1
    assert shares.refusal == STUDY.refusal_missed
    assert shares.self_generated == pytest.approx((1 - STUDY.refusal_missed) * made_up)
    assert shares.grounded == pytest.approx((1 - STUDY.refusal_missed) * (1 - made_up))


def test_metrics_below_their_thresholds_are_reasons_of_a_negative_verdict_only():
    low = metrics(0.1, 0.1, 0.1, 0.1, 0.1)
    got = decided(low, found=evidence(CARRIED))
    assert (got.verdict, got.reasons, got.rule_verdict) == (Verdict.GROUNDED, (), Verdict.REFUSAL)
    got = decided(low, found=evidence(MADE_UP))
    assert got.verdict is Verdict.SELF_GENERATED
    assert got.reasons == (*BELOW.values(), Reason.NOT_IN_DOCUMENTS)


def test_missing_facts_and_contradictions_are_reasons_of_a_self_generated_answer():
    found = evidence(MADE_UP, contradictions=1.0, missing=(FACT,))
    assert decided(found=found).reasons == (
        Reason.MISSING_FACT,
        Reason.CONTRADICTS_DOCUMENTS,
        Reason.NOT_IN_DOCUMENTS,
    )
    assert decided(found=evidence(MADE_UP, contradictions=0.0)).reasons == (Reason.NOT_IN_DOCUMENTS,)
    assert decided(found=evidence(CARRIED, missing=(FACT,))).reasons == ()


def test_a_fact_alone_is_the_reason_where_every_sentence_is_carried():
    sure = AlignedSentence(answer_start=0, answer_end=5, document=0, document_id="d0", start=0, end=5, score=0.9)
    found = replace(evidence(MADE_UP, missing=(FACT,)), alignment=(sure,))
    assert decided(found=found).reasons == (Reason.MISSING_FACT,)
    found = replace(found, alignment=(sure, replace(sure, score=0.5)))
    assert decided(found=found).reasons == (Reason.MISSING_FACT, Reason.NOT_IN_DOCUMENTS)


def test_an_answer_without_features_has_even_odds():
    cautious = STUDY.groundedness.model_copy(update={"bias": -1.0})
    for by in (STUDY, profile(0.8, groundedness=cautious)):
        got = decided(found=evidence(), by=by)
        assert got.probabilities.self_generated == pytest.approx((1 - STUDY.refusal_missed) / 2)


@pytest.mark.parametrize("answer", ["Hello! How can I help you?", "Thank you!", "Yes.", "You're welcome."])
@pytest.mark.parametrize("documents", [[], ["Nine."]])
def test_an_answer_that_states_nothing_made_nothing_up(answer, documents):
    got = decided(it=interaction("When?", answer, documents), found=evidence(MADE_UP))
    assert (got.verdict, got.reasons) == (Verdict.GROUNDED, ())
    assert got.probabilities.self_generated == pytest.approx(0.27, abs=0.01)


@pytest.mark.parametrize("answer", ["\u200b", "\ufeff", "\x01\x02"])
def test_characters_that_nobody_sees_are_an_empty_answer(answer):
    got = decided(it=interaction("When?", answer, ["Nine."]), found=evidence())
    assert got.reasons[-1] is Reason.EMPTY_ANSWER


def test_a_refusal_that_goes_on_to_say_what_the_documents_carry_is_partial():
    it = interaction(
        "Is there parking?",
        "I am sorry, I cannot find anything about parking in the documents. Parking costs two euros per hour.",
        ["Parking costs two euros per hour."],
    )
    assert read_answer(it.answer, it.question).kind is RefusalKind.FULL
    got = decided(it=it, found=evidence(CARRIED))
    assert (got.verdict, got.refusal.kind, got.reasons) == (Verdict.GROUNDED, RefusalKind.PARTIAL, ())
    assert decided(it=it, found=evidence(MADE_UP)).verdict is Verdict.REFUSAL


# --- what no feature needs to see ------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["", "  ", "\n\t\u00a0"])
def test_an_empty_answer_is_a_refusal(answer):
    got = decided(metrics(sdq=0.9, sdrd=0.9, qrd=0.9), interaction("When?", answer, ["Nine."]), found=evidence())
    assert got.verdict is Verdict.REFUSAL
    assert got.refusal.kind is RefusalKind.FULL
    assert got.reasons == (Reason.EMPTY_ANSWER,)
    assert got.probabilities.refusal > 0.99
    assert got.rule_verdict is Verdict.GROUNDED


@pytest.mark.parametrize("grounding", [CARRIED, MADE_UP, None])
def test_a_full_refusal_by_its_wording_is_one_whatever_the_evidence_says(grounding):
    got = decided(FINE, interaction("When?", "I don't know.", ["Nine."]), found=evidence(grounding))
    assert (got.verdict, got.rule_verdict) == (Verdict.REFUSAL, Verdict.GROUNDED)
    assert got.reasons == (Reason.REFUSAL_WORDING,)
    assert got.refusal.kind is RefusalKind.FULL
    assert got.probabilities.refusal == STUDY.refusal_precision


@pytest.mark.parametrize(
    ("grounding", "verdict", "reasons"),
    [(CARRIED, Verdict.GROUNDED, ()), (MADE_UP, Verdict.SELF_GENERATED, (Reason.NOT_IN_DOCUMENTS,))],
)
def test_a_partial_refusal_leaves_the_verdict_to_what_else_is_said(grounding, verdict, reasons):
    got = decided(FINE, interaction("What is paid?", PARTIAL, ["All of it."]), found=evidence(grounding))
    assert (got.verdict, got.refusal.kind, got.reasons) == (verdict, RefusalKind.PARTIAL, reasons)


@pytest.mark.parametrize("documents", [[], [""], [" ", "\n"]])
def test_an_answer_without_documents_is_self_generated(documents):
    got = decided(metrics(qa=0.9), interaction("When?", "At nine.", documents), support(), evidence())
    assert (got.verdict, got.reasons) == (Verdict.SELF_GENERATED, (Reason.NO_DOCUMENTS,))
    assert got.probabilities.self_generated > 0.5


def test_without_documents_and_off_the_question_it_is_a_refusal():
    got = decided(metrics(qa=0.1), interaction("When?", "Ask somebody else.", []), support(), evidence())
    assert (got.verdict, got.reasons) == (Verdict.REFUSAL, (Reason.ANSWER_OFF_QUESTION, Reason.NO_DOCUMENTS))
    assert (got.refusal.kind, got.refusal.correct) == (RefusalKind.FULL, True)
    assert max(astuple(got.probabilities)) == got.probabilities.refusal


@pytest.mark.parametrize("named", [support(), support(" \n")])
def test_an_answer_for_which_the_generator_named_no_support_is_self_generated(named):
    got = decided(metrics(qrd=0.9, qa=0.9), PLAIN, named)
    assert (got.verdict, got.reasons) == (Verdict.SELF_GENERATED, (Reason.NO_SUPPORT,))
    assert got.rule_verdict is Verdict.GROUNDED


def test_support_that_was_named_although_nothing_was_retrieved_does_not_help():
    got = decided(metrics(sdq=0.9, sda=0.9, qa=0.9), interaction("When?", "At nine.", []), NAMED)
    assert (got.verdict, got.reasons) == (Verdict.SELF_GENERATED, (Reason.NO_DOCUMENTS,))


def test_an_empty_answer_without_documents_has_both_reasons():
    got = decided(metrics(), interaction("When?", "", []), support(), evidence())
    assert (got.verdict, got.reasons) == (Verdict.REFUSAL, (Reason.NO_DOCUMENTS, Reason.EMPTY_ANSWER))


# --- correct refusals and over-refusals ------------------------------------------------------------------------------

HELD = profile(0.8, question_held=-0.1, question_not_held=-0.3)


@pytest.mark.parametrize(
    ("documents", "qrd", "held", "correct"),
    [
        ([], None, None, True),
        ([" "], None, None, True),
        (["Nine."], 0.2, -0.01, True),  # off the question
        (["Nine."], 0.9, -0.05, False),
        (["Nine."], None, -0.1, False),  # on its threshold
        (["Nine."], 0.9, -0.2, None),
        (["Nine."], 0.9, -0.3, None),
        (["Nine."], 0.9, -0.31, True),
        (["Nine."], 0.9, None, None),
    ],
)
def test_whether_a_refusal_was_right_follows_from_the_documents(documents, qrd, held, correct):
    refused = interaction("When?", "I don't know.", documents)
    got = decided(metrics(qrd=qrd), refused, support(*documents), evidence(question_held=held), HELD)
    assert (got.verdict, got.refusal.correct) == (Verdict.REFUSAL, correct)


@pytest.mark.parametrize("grounding", [CARRIED, MADE_UP])
def test_only_a_refusal_can_be_a_correct_one(grounding):
    assert decided(found=evidence(grounding, question_held=-0.01)).refusal.correct is None


# --- properties ------------------------------------------------------------------------------------------------------


@anything
def test_probabilities_are_three_shares_of_one(it, named, given_metrics, found, by):
    shares = astuple(judged(it, named, given_metrics, found, by).probabilities)
    assert all(0 <= share <= 1 for share in shares)
    assert sum(shares) == pytest.approx(1)


@anything
def test_a_grounded_verdict_has_no_reasons_and_a_negative_one_has_some(it, named, given_metrics, found, by):
    got = judged(it, named, given_metrics, found, by)
    assert bool(got.reasons) is got.verdict.negative
    assert len(set(got.reasons)) == len(got.reasons)


@anything
def test_reasons_are_exactly_what_can_be_seen(it, named, given_metrics, found, by):
    got = judged(it, named, given_metrics, found, by)
    assume(got.verdict.negative)
    documents = any(d.text.strip() for d in it.retrieved_documents)
    missing = not documents or not any(d.text.strip() for d in named.documents)
    seen = {BELOW[name] for name in metrics_below(given_metrics, by)}
    seen |= {Reason.NO_DOCUMENTS if not documents else Reason.NO_SUPPORT} if missing else set()
    seen |= {Reason.EMPTY_ANSWER} if not it.answer.strip() else set()
    seen |= {Reason.REFUSAL_WORDING} if it.answer.startswith("I ") else set()
    if got.verdict is Verdict.SELF_GENERATED and not missing:
        seen |= {Reason.NOT_IN_DOCUMENTS}
        seen |= {Reason.MISSING_FACT} if found.missing else set()
        seen |= {Reason.CONTRADICTS_DOCUMENTS} if found.features["contradictions"] else set()
    assert set(got.reasons) == seen


@given(any_metrics, any_evidence, any_profile)
def test_the_verdict_turns_where_the_probability_of_self_generated_passes_its_threshold(given_metrics, found, by):
    got = judged(PLAIN, NAMED, given_metrics, found, by)
    nothing = found.features["grounding"] is None
    made_up = 0.5 if nothing else by.groundedness.probability(found.features)
    assert (got.verdict is Verdict.SELF_GENERATED) is (made_up >= by.groundedness.threshold)
    assert got.verdict is not Verdict.REFUSAL
    assert got.rule_verdict is thesis_rule(given_metrics, by)


@given(st.sampled_from(["", "I don't know."]), any_support, any_metrics, any_evidence, any_profile)
def test_an_answer_that_refuses_is_most_likely_a_refusal(answer, named, given_metrics, found, by):
    got = judged(interaction("When?", answer, ["Nine."]), named, given_metrics, found, by)
    assert got.verdict is Verdict.REFUSAL
    assert got.probabilities.refusal > 0.5


@given(any_metrics, any_evidence, any_profile)
def test_an_unsupported_answer_is_almost_certainly_not_grounded(given_metrics, found, by):
    for it, named in ((interaction("When?", "At nine.", []), NAMED), (PLAIN, support())):
        got = judged(it, named, given_metrics, found, by)
        assert got.verdict.negative
        assert got.probabilities.grounded < 0.01


@given(any_metrics, any_evidence, any_profile, st.floats(0, 1))
def test_less_grounding_never_makes_an_answer_more_grounded(given_metrics, found, by, less):
    before = found.features["grounding"]
    assume(before is not None)
    worse = evidence(before - less)
    shares = [judged(PLAIN, NAMED, given_metrics, e, by).probabilities for e in (found, worse)]
    assert shares[1].grounded <= shares[0].grounded


@anything
def test_a_refusal_always_has_a_kind_and_a_correctness_belongs_to_a_refusal(it, named, given_metrics, found, by):
    got = judged(it, named, given_metrics, found, by)
    if got.verdict is Verdict.REFUSAL:
        assert got.refusal.kind is RefusalKind.FULL
    else:
        assert got.refusal.kind is not RefusalKind.FULL
        assert got.refusal.correct is None


def test_the_reading_decides_and_not_the_wording_read_anew():
    told = Reading(kind=RefusalKind.FULL, sentences=())  # by closeness, say
    got = classify(PLAIN, NAMED, FINE, told, evidence(CARRIED), profile=STUDY)
    assert (got.verdict, got.reasons) == (Verdict.REFUSAL, (Reason.REFUSAL_WORDING,))
