from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.assess.explain_chunks import (
    MOST_PLACES,
    Standing,
    better_order,
    counted_words,
    diagnosed,
    diagnosis_advice,
    diagnosis_named,
    findings,
    order_words,
    read_chunks,
    summary_words,
    worth_reading_first,
)
from monitor.core.diagnosis import Chunk, Diagnosis, Repeated
from tests.factories.assess.diagnosed_rows import DIAGNOSED, TEXTS, diagnosed_row
from tests.factories.assess.explained_rows import ROW


def read(found=DIAGNOSED, **changed):
    return read_chunks(diagnosed_row(found, **changed), found)


def test_each_chunk_has_its_words_and_its_text():
    chunks = read()
    assert [c.words for c in chunks] == [
        "not relevant",
        "not relevant",
        "kept, used",
        "kept",
        "repeats chunk 3",
    ]
    assert [c.text for c in chunks][:2] == ["Dogs may not come in.", "Cats may."]
    assert (chunks[4].document_id, chunks[4].text) == ("d2", TEXTS[2])


def test_a_chunk_that_is_both_off_the_question_and_a_repetition_is_off_the_question():
    chunk = replace(DIAGNOSED.chunks[1], repeats=Repeated(chunk=0, cosine=0.95, tfidf=0.9))
    (found,) = read(replace(DIAGNOSED, chunks=(chunk,)))
    assert (found.standing, found.words) == (Standing.NOT_RELEVANT, "not relevant")


@pytest.mark.parametrize(
    "documents",
    [[], [{"id": "d0", "text": ""}, {"id": "d1", "text": ""}, {"id": "d2", "text": ""}], [{"id": "d0", "text": "No."}]],
)
def test_chunks_of_texts_that_are_gone_are_counted_all_the_same(documents):
    chunks = read(retrieved_documents=documents)
    assert len(chunks) == 5
    assert [c.text for c in chunks[1:]] == [None] * 4


def test_rows_without_a_diagnosis_or_without_evidence_have_no_chunks():
    assert (diagnosis_named(ROW), diagnosed(ROW)) == (None, None)
    erased = diagnosed_row(evidence={})
    assert (diagnosis_named(erased), diagnosed(erased)) == (Diagnosis.GENERATOR_INVENTED, None)
    assert diagnosed({**erased, "evidence": None}) is None
    assert diagnosed(diagnosed_row()) == DIAGNOSED


def test_kept_chunks_come_first_and_then_those_that_are_used():
    used = replace(DIAGNOSED.chunks[1], used=True)
    chunks = read(replace(DIAGNOSED, chunks=(DIAGNOSED.chunks[0], used, *DIAGNOSED.chunks[2:])))
    assert [c.number for c in worth_reading_first(chunks)] == [3, 4, 2, 5, 1]


def test_chunks_are_counted_in_words():
    chunks = read()
    assert counted_words(chunks) == "2 kept, 2 not relevant, 1 repeats another"
    assert counted_words([*chunks[:1], chunks[4], chunks[4]]) == "1 not relevant, 2 repeat others"
    assert summary_words(chunks) == ("5 chunks: 2 kept, 2 not relevant, 1 repeats another; the answer uses 1 of them")
    assert summary_words(chunks[:2]) == "2 chunks, none relevant; the answer uses none of them"
    assert summary_words(chunks[:1]) == "1 chunk, none relevant; the answer uses none of them"


def test_the_better_order_is_that_of_the_best_chunks():
    assert better_order(DIAGNOSED) == [2, 3, 1]
    assert order_words(DIAGNOSED) == "the retriever's order of the documents: 1 2 3; by relevance: 2 3 1; τ = −0.33"


def test_an_order_that_is_right_or_of_one_document_is_not_spelt_out():
    right = replace(DIAGNOSED, tau=1.0, chunks=DIAGNOSED.chunks[2:])
    assert order_words(right) == "the retriever's order of the 2 documents is the one by relevance"
    assert order_words(replace(DIAGNOSED, tau=None, chunks=DIAGNOSED.chunks[:2])) is None


def test_a_long_order_is_cut():
    chunks = tuple(
        Chunk(document=n, start=0, end=1, relevance=0.5, bm25=0.5, semantic=0.5, rank=40 - n) for n in range(40)
    )
    words = order_words(replace(DIAGNOSED, tau=-1.0, chunks=chunks))
    assert "the retriever's order of the documents: 1 2 3 4 5 6 7 8 9 10 11 12 …; by relevance: 40 39 38" in words
    assert words.count(" …") == 2
    assert sum(word.strip(";").isdigit() for word in words.split()) == 2 * MOST_PLACES


def test_what_else_is_to_be_known_is_said():
    worst = replace(DIAGNOSED, lost_in_the_middle=True, examined=0.4, used_rank=3)
    order, place, lost, examined = findings(worst)
    assert order.startswith("the retriever's order")
    assert place == "the first document that the answer uses came at place 3"
    assert lost.startswith("lost in the middle: the best chunk stands in the middle")
    assert examined == "only 40% of the retrieved text was read, as it is too long"
    assert list(findings(replace(DIAGNOSED, tau=None, used_rank=1))) == []


def test_what_was_lost_in_the_middle_is_to_be_put_first():
    ignored = replace(DIAGNOSED, diagnosis=Diagnosis.GENERATOR_IGNORED)
    assert "put the best documents first" not in diagnosis_advice(diagnosed_row(ignored))
    assert "put the best documents first" in diagnosis_advice(diagnosed_row(replace(ignored, lost_in_the_middle=True)))


def test_nothing_at_fault_needs_no_advice():
    assert diagnosis_advice(ROW) is None
    assert diagnosis_advice(diagnosed_row(replace(DIAGNOSED, diagnosis=Diagnosis.HEALTHY))) is None
