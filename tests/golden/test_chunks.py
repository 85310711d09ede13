"""Chunks, their scores and their diagnoses, worked out by hand; each row says how in `worked`.

A file's `with` holds the constants that its figures are worked out with, whatever the shipped ones are.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from monitor.assess import threshold
from monitor.assess.chunks import diagnose, rank, redundant, relevance, segment
from monitor.assess.chunks.segment import Said
from monitor.assess.threshold import Spread
from monitor.core.diagnosis import Diagnosis, Repeated
from monitor.core.model import Verdict
from tests.factories.assess.cuts import a_cut, tokens_of, vectors_of
from tests.factories.assess.diagnoses import a_chunk, a_diagnosis

FILES = {
    path.stem: json.loads(path.read_text(encoding="utf-8")) for path in Path(__file__).parent.glob("chunks/*.json")
}
CLOSE = 2e-6
HALF = 5e-4  # vectors in half precision


def rows(file, part="rows"):
    """The rows of a part of a file, each with the constants of the file."""
    found = FILES[file]
    return [
        pytest.param({**row, "with": {**found.get("with", {}), **row.get("with", {})}}, id=row["name"])
        for row in found[part]
    ]


@pytest.fixture
def given_constants(monkeypatch, row):
    """The module of the row with the constants that it is worked out with."""

    def give(module):
        for name, value in row["with"].items():
            monkeypatch.setattr(module, name, value)

    return give


def test_every_row_says_how_it_is_worked_out():
    parts = [part for file in FILES.values() for part in file.values() if isinstance(part, list)]
    found = [row for part in parts for row in part]
    assert len(found) > 40
    assert all(len(row["worked"]) > 10 for row in found)


@pytest.mark.parametrize("row", rows("segment", "sentences"))
def test_sentences_are_joined(row, given_constants):
    given_constants(segment)
    sentences, start = [], 0
    for sentence in row["sentences"]:
        end = start + sentence["length"]
        sentences.append(SimpleNamespace(start=start, end=end, heading=sentence.get("heading", False)))
        start = end + 1
    vectors = vectors_of([sentence["vector"] for sentence in row["sentences"]])
    assert [list(chunk) for chunk in segment.segment(sentences, vectors, theta=row["theta"])] == row["expected"]


@pytest.mark.parametrize("row", rows("segment", "texts"))
def test_documents_are_cut(row):
    cut = segment.cut_documents(row["texts"], [vectors_of(vectors) for vectors in row["vectors"]])
    assert [(c.document, row["texts"][c.document][c.start : c.end]) for c in cut] == [
        (expected["document"], expected["text"]) for expected in row["expected"]
    ]
    for chunk, expected in zip(cut, row["expected"], strict=True):
        if "vector" in expected:
            np.testing.assert_allclose(chunk.vector, expected["vector"], atol=HALF)
        if "words" in expected:
            assert (chunk.words, chunk.numbers) == (expected["words"], frozenset(expected["numbers"]))


@pytest.mark.parametrize("row", rows("redundant"))
def test_repetitions_are_found(row, given_constants):
    given_constants(redundant)
    chunks = [
        a_cut(
            vector=c["vector"],
            words=Counter(c["words"]),
            numbers=frozenset(c.get("numbers", ())),
            sentences=tuple(Said(text, len(text.split())) for text in c.get("sentences", ())),
        )
        for c in row["chunks"]
    ]
    found = redundant.repetitions(chunks)
    assert [repeated and repeated.chunk for repeated in found] == [
        expected and expected["chunk"] for expected in row["expected"]
    ]
    for repeated, expected in zip(found, row["expected"], strict=True):
        if expected is not None:
            assert repeated.cosine == pytest.approx(expected["cosine"], abs=CLOSE)
            assert repeated.tfidf == pytest.approx(expected["tfidf"], abs=CLOSE)
            assert repeated.verbatim == pytest.approx(expected.get("verbatim", 0), abs=CLOSE)
    if "tfidf" in row:
        np.testing.assert_allclose(redundant.tfidf(chunks), row["tfidf"], atol=CLOSE)


@pytest.mark.parametrize("row", rows("relevance", "bm25"))
def test_words_are_weighed(row, given_constants):
    given_constants(relevance)
    found = relevance.bm25(row["question"], [a_cut(text) for text in row["chunks"]])
    assert found.tolist() == pytest.approx(row["expected"], abs=CLOSE)


@pytest.mark.parametrize("row", rows("relevance", "max_sim"))
def test_tokens_find_their_best(row):
    chunks = [a_cut(document=document, start=start, end=end) for document, start, end in row["chunks"]]
    documents = [tokens_of(tokens) for tokens in row["documents"]]
    found = relevance.max_sim(tokens_of(row["question"]), chunks, documents)
    assert found.tolist() == pytest.approx(row["expected"], abs=HALF)


@pytest.mark.parametrize("row", rows("relevance", "relevance"))
def test_meaning_and_words_make_the_relevance(row, given_constants):
    given_constants(relevance)
    q, chunk = row["question"], row["chunk"]
    question = relevance.read_question(q["text"], tokens_of(q["tokens"]), vectors_of(q["sentences"]))
    found = relevance.relevances(question, [a_cut(chunk["text"], chunk["vector"])], [tokens_of(row["document"])])
    for name, expected in row["expected"].items():
        assert getattr(found, name).tolist() == [pytest.approx(expected, abs=HALF)]


@pytest.mark.parametrize("row", rows("rank", "hybrid_order"))
def test_chunks_are_ranked(row):
    assert rank.hybrid_order(np.array(row["bm25"]), np.array(row["semantic"])) == row["expected"]


@pytest.mark.parametrize("row", rows("rank", "kendall_tau"))
def test_the_retriever_s_order_is_compared(row):
    chunks = [a_cut(document=document) for document in row["documents"]]
    found = rank.kendall_tau(row["order"], chunks)
    assert found == (row["expected"] if row["expected"] is None else pytest.approx(row["expected"], abs=CLOSE))


@pytest.mark.parametrize("row", rows("threshold"))
def test_the_threshold_is_taken_from_the_scores(row, given_constants):
    given_constants(threshold)
    assert threshold.dynamic_threshold(row["scores"], Spread(**row["usual"]), tuple(row["limits"])) == pytest.approx(
        row["expected"]
    )


def chunks_of(row):
    """The chunks side by side, with all that repeats another as like it as can be."""
    found, start = [], 0
    for chunk in row["chunks"]:
        repeats = None if chunk.get("repeats") is None else Repeated(chunk=chunk["repeats"], cosine=1.0, tfidf=1.0)
        end = start + chunk["size"]
        found.append(
            a_chunk(0, start, end, relevance=chunk["relevance"], used=chunk.get("used", False), repeats=repeats)
        )
        start = end
    return found


@pytest.mark.parametrize("row", rows("diagnose"))
def test_diagnoses_are_made(row, given_constants):
    given_constants(diagnose)
    found = diagnose.diagnose(Verdict(row["verdict"]), chunks_of(row), FILES["diagnose"]["threshold"])
    assert found is Diagnosis(row["expected"])


def test_every_diagnosis_and_every_verdict_has_a_row():
    found = FILES["diagnose"]["rows"]
    assert {row["expected"] for row in found} == set(Diagnosis)
    assert {row["verdict"] for row in found} == set(Verdict)


@pytest.mark.parametrize("row", rows("diagnose", "kept"))
def test_the_filter_keeps_what_is_relevant_and_new(row):
    found = a_diagnosis(chunks=tuple(chunks_of(row)), threshold=FILES["diagnose"]["threshold"])
    assert [at for at, chunk in enumerate(found.chunks) if found.kept(chunk)] == row["expected"]
