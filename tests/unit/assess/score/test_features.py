"""The features of an interaction, with hashed words: missing values, excluded sentences, and what changes a feature."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.classify.refusal import Role, read_answer
from monitor.assess.embed.batch import encode_batch
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.score.alignment import align
from monitor.assess.score.features import FEATURES, AnswerPart, gather_evidence, passages_of
from monitor.assess.score.grounding import CONTRADICTION, NAME, NUMBER, SentenceSupport, grounding
from monitor.assess.score.overlap import overlap
from monitor.core.evidence import MissingFact
from monitor.core.model import Origin, Support, SupportingDocument
from monitor.core.text.cache import LONGEST_CACHED
from monitor.core.text.sentences import sentence_spans
from tests.factories.assess.interactions import interaction, metrics, support

CLOSE = 1e-5
QUESTION = "How long are deleted snapshots kept?"
KEPT = "Deleted snapshots are kept for 30 days."
MAILED = "Invoices are sent from Berlin by mail."
DOCUMENTS = [f"The console lists every volume. {KEPT}", MAILED]
SIMILARITIES = "sdq", "sdrd", "sda", "qrd", "qa"
OF_ANSWER_AND_DOCUMENTS = [
    name for name in FEATURES if name not in {*SIMILARITIES, "detector", "question_held", "support_elsewhere"}
]


def judged(answer, left_out=()):
    return [AnswerPart(s, e, not any(piece in answer[s:e] for piece in left_out)) for s, e in sentence_spans(answer)]


def found(answer, documents=DOCUMENTS, *, question=QUESTION, left_out=(), sentences=None, **given_parts):
    one = interaction(question, answer, documents)
    (encoded,) = encode_batch([one], HashEmbedder())
    return gather_evidence(
        one,
        given_parts.get("support", support()),
        given_parts.get("metrics", metrics()),
        encoded,
        judged(answer, left_out) if sentences is None else sentences,
        detected=given_parts.get("detected"),
    )


def values(*answers, **given_parts):
    return [found(answer, **given_parts).features for answer in answers]


# --- what is there and what is missing -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "documents", "question"),
    [
        (KEPT, DOCUMENTS, QUESTION),
        (KEPT, [], QUESTION),
        (KEPT, ["", " \n"], QUESTION),
        ("", DOCUMENTS, QUESTION),
        ("...", DOCUMENTS, QUESTION),
        (KEPT, DOCUMENTS, ""),
        ("", [], ""),
    ],
)
def test_every_feature_has_a_value_or_none_in_the_order_of_their_list(answer, documents, question):
    got = found(answer, documents, question=question).features
    assert list(got) == list(FEATURES)
    assert all(value is None or isinstance(value, float) for value in got.values())


def test_with_all_texts_there_every_feature_but_the_detectors_has_a_value():
    given_metrics = metrics(sdq=0.1, sdrd=0.2, sda=0.3, qrd=0.4, qa=0.5)
    got = found(f"{KEPT} {MAILED}", support=support(KEPT), metrics=given_metrics).features
    assert [name for name, value in got.items() if value is None] == ["detector"]
    assert {name: got[name] for name in SIMILARITIES} == asdict(given_metrics)


def test_the_detectors_probability_joins_the_row():
    assert found(KEPT, detected=0.25).features["detector"] == 0.25


@pytest.mark.parametrize("documents", [[], [""], [" \n", ""], ["..."]])
def test_without_documents_nothing_is_said_of_how_they_carry_the_answer(documents):
    got = found(f"{KEPT} In 1815, Napoleon lost.", documents)
    assert {got.features[name] for name in OF_ANSWER_AND_DOCUMENTS} == {None}
    assert got.features["question_held"] is None
    assert got.alignment == ()


@pytest.mark.parametrize("documents", [[], [""], [" \n", ""]])
def test_without_documents_no_fact_counts_as_missing_from_them(documents):
    assert found(f"{KEPT} In 1815, Napoleon lost.", documents).missing == ()


@pytest.mark.parametrize("answer", ["", " ", "?!", "…"])
def test_an_answer_without_words_has_no_features_of_its_own(answer):
    got = found(answer)
    assert {got.features[name] for name in OF_ANSWER_AND_DOCUMENTS} == {None}
    assert got.features["question_held"] is not None
    assert (got.alignment, got.missing) == ((), ())


# --- the values ------------------------------------------------------------------------------------------------------


def test_an_answer_that_stands_in_its_documents_is_wholly_carried():
    (got,) = values(KEPT)
    for name in ("grounding", "aligned", "weakest_sentence"):
        assert got[name] == pytest.approx(0, abs=1e-3)
    for name in ("missing_numbers", "missing_names", "missing_facts", "contradictions", "more_sentences"):
        assert got[name] == 0
    for name in ("content_overlap", "bigram_overlap", "quoted", "longest_copy"):
        assert got[name] == 1


def test_sentences_beyond_the_first_count_less_and_less():
    rows = values(KEPT, f"{KEPT} {KEPT}", " ".join([KEPT] * 4))
    assert [row["more_sentences"] for row in rows] == [0, 0.5, 0.75]


def test_missing_facts_are_numbers_and_names_together_and_count_up_to_three():
    one, many = values(f"{KEPT} It costs $250.", f"{KEPT} It costs $250, $350, $450 and $550.")
    assert (one["missing_numbers"], one["missing_facts"]) == (1, 1)
    assert (many["missing_numbers"], many["missing_facts"]) == (4, 3)


def test_the_row_is_the_alignments_and_the_overlaps():
    answer = f"{KEPT} Volumes vanish after weekends, says nobody."
    spans = sentence_spans(answer)
    encoder = HashEmbedder()
    (tokens,) = encoder.encode([answer])
    aligned = align(tokens, spans, encoder.encode(DOCUMENTS), [passages_of(d) for d in DOCUMENTS])
    whole = grounding([SentenceSupport(support=a.support, weight=a.weight, rare=a.rare, fault=0) for a in aligned])
    (got,) = values(answer)
    assert got["aligned"] == pytest.approx(whole.mean, abs=CLOSE)
    assert got["weakest_sentence"] == pytest.approx(whole.weakest, abs=CLOSE)
    assert got["weakest_sentence"] < -0.05
    assert got["grounding"] == pytest.approx(whole.score, abs=CLOSE)
    shared = overlap("\n".join(answer[start:end] for start, end in spans), QUESTION, DOCUMENTS)
    assert got["content_overlap"] == shared.content
    assert got["new_content_overlap"] == shared.new_content
    assert got["bigram_overlap"] == shared.bigrams
    assert (got["quoted"], got["longest_copy"]) == (shared.quoted, shared.copied)


def test_pairs_say_which_sentence_stands_where():
    answer = f"{MAILED} {KEPT}"
    one, other = found(answer).alignment
    for pair, text, number in ((one, MAILED, 1), (other, KEPT, 0)):
        assert answer[pair.answer_start : pair.answer_end] == text
        assert DOCUMENTS[number][pair.start : pair.end] == text
        assert pair.document_id == f"d{number}"
        assert pair.score == pytest.approx(1, abs=1e-3)
        assert not pair.contradicts


def of_one_sentence(answer, fault):
    """The grounding of an answer with a single sentence that has this fault."""
    encoder = HashEmbedder()
    (tokens,) = encoder.encode([answer])
    (a,) = align(tokens, [(0, len(answer))], encoder.encode(DOCUMENTS), [passages_of(d) for d in DOCUMENTS])
    return grounding([SentenceSupport(support=a.support, weight=a.weight, rare=a.rare, fault=fault)]).score


# --- facts -----------------------------------------------------------------------------------------------------------


def test_a_changed_number_is_missing_and_lowers_the_grounding():
    answer = KEPT.replace("30", "90")
    got, same = found(answer), found(KEPT)
    assert got.features["missing_numbers"] == 1
    assert same.features["missing_numbers"] == 0
    (fact,) = got.missing
    assert (fact.kind, answer[fact.start : fact.end]) == ("number", fact.text)
    assert "90" in fact.text
    assert got.features["contradictions"] == 1  # the passage has another figure of the same kind
    assert got.features["grounding"] == pytest.approx(of_one_sentence(answer, CONTRADICTION), abs=CLOSE)


def test_a_number_of_another_kind_is_missing_and_contradicts_nothing():
    answer = KEPT.replace("30 days", "90 euros")
    got = found(answer)
    assert (got.features["missing_numbers"], got.features["contradictions"]) == (1, 0)
    assert got.features["grounding"] == pytest.approx(of_one_sentence(answer, NUMBER), abs=CLOSE)


def test_a_number_in_words_is_carried_as_well_as_the_same_in_figures():
    figures, words, other = values(KEPT, KEPT.replace("30", "thirty"), KEPT.replace("30", "forty"))
    assert words["aligned"] == pytest.approx(0, abs=CLOSE)
    assert words["grounding"] >= figures["grounding"] - CLOSE
    assert other["grounding"] < words["grounding"]


def test_a_sentence_of_number_words_alone_is_still_aligned():
    (got,) = values("Thirty.")
    assert got["aligned"] is not None


def test_a_number_of_the_question_is_not_missing():
    answer = KEPT.replace("30", "90")
    assert found(answer, question="Are they kept for 90 days?").features["missing_numbers"] == 0


def test_a_missing_name_is_counted_apart_and_is_a_lesser_fault():
    got, same = values(MAILED.replace("Berlin", "Hamburg"), MAILED)
    assert (got["missing_names"], same["missing_names"]) == (1, 0)
    assert got["missing_numbers"] == 0
    assert got["grounding"] == pytest.approx(of_one_sentence(MAILED.replace("Berlin", "Hamburg"), NAME), abs=CLOSE)


def test_a_sentence_that_denies_its_passage_is_a_contradiction():
    answer = f"{MAILED} {KEPT.replace('are kept', 'are not kept')}"
    got = found(answer)
    assert got.features["contradictions"] == 1
    assert [pair.contradicts for pair in got.alignment] == [False, True]
    assert got.features["grounding"] < found(f"{MAILED} {KEPT}").features["grounding"] - CONTRADICTION


# --- what is left out ------------------------------------------------------------------------------------------------

ASIDE = "I hope this helps Napoleon in 1815!"


def test_sentences_that_state_nothing_are_left_out():
    alone, with_aside = found(KEPT), found(f"{KEPT} {ASIDE}", left_out=["hope"])
    assert dict(with_aside.features) == pytest.approx(dict(alone.features), abs=CLOSE)
    assert with_aside.alignment == alone.alignment
    assert with_aside.missing == ()
    assert found(f"{KEPT} {ASIDE}").features["missing_numbers"] == 1


def test_refusing_and_courteous_sentences_are_left_out_as_the_reading_says():
    answer = f"{KEPT} I hope this helps! I could not find anything about billing in the documents."
    reading = read_answer(answer, QUESTION)
    sentences = [AnswerPart(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]
    assert [s.states for s in sentences] == [True, False, False]
    got = found(answer, sentences=sentences)
    assert got.features["aligned"] == pytest.approx(found(KEPT).features["aligned"], abs=1e-3)
    assert len(got.alignment) == 1


def test_all_sentences_count_if_none_states_anything():
    answer = f"{KEPT} {MAILED}"
    assert found(answer, left_out=["are"]) == found(answer)


# --- question and support --------------------------------------------------------------------------------------------


def test_a_question_in_the_words_of_the_documents_is_held_best():
    held, half, off = (
        found(KEPT, question=question).features["question_held"]
        for question in ("Deleted snapshots are kept?", "Deleted pictures are kept?", "Who wrote Faust?")
    )
    assert 0 >= held > half > off


def test_support_is_elsewhere_where_it_was_not_located():
    here = SupportingDocument(text=KEPT, document_id="d0", start=32, end=71)
    there = SupportingDocument(text="Snapshots never vanish.")
    empty = SupportingDocument(text=" ")

    def elsewhere(*pieces):
        return found(KEPT, support=Support(origin=Origin.LOGGED, documents=pieces)).features["support_elsewhere"]

    assert elsewhere(here) == 0
    assert elsewhere(here, there) == 0.5
    assert elsewhere(there, empty) == 1
    assert elsewhere() is None
    assert elsewhere(empty) is None


# --- any text --------------------------------------------------------------------------------------------------------

pieces = st.text(st.sampled_from("abK .!?\n30,%-文。不🙂É\ud800'"), max_size=40) | st.sampled_from([KEPT, MAILED])


@given(pieces, pieces, st.lists(pieces, max_size=3))
def test_any_texts_have_finite_features_and_offsets_that_hold(question, answer, documents):
    reading = read_answer(answer, question)
    sentences = [AnswerPart(s.start, s.end, s.role is Role.CONTENT) for s in reading.sentences]
    got = found(answer, documents, question=question, sentences=sentences)
    assert list(got.features) == list(FEATURES)
    assert all(value is None or math.isfinite(value) for value in got.features.values())
    for pair in got.alignment:
        number = int(pair.document_id.removeprefix("d"))
        assert 0 <= pair.start < pair.end <= len(documents[number])
        assert (pair.answer_start, pair.answer_end) in {(s.start, s.end) for s in sentences}
    for fact in got.missing:
        assert isinstance(fact, MissingFact)
        assert 0 <= fact.start < fact.end <= len(answer)


@given(pieces)
def test_passages_are_the_sentences(text):
    assert list(passages_of(text)) == sentence_spans(text)


def test_a_document_too_long_to_be_remembered_is_cut_all_the_same():
    text = f"{KEPT} " * (LONGEST_CACHED // len(KEPT) + 1)
    assert list(passages_of(text)) == sentence_spans(text)
