"""The formulas and the scripted reader of benchmarks/chunks/paired.py."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.chunks.overlap import contains, paired, rouge_l_recall, token_f1
from benchmarks.chunks.readers import Context, ScriptedReader, bm25

TEXTS = ("Snapshots are kept for 30 days. Invoices come by mail.", "Parcels are free.")


@pytest.mark.parametrize(
    ("answer", "reference", "f1", "contained", "recall"),
    [
        ("Thirty days.", "thirty days", 1, 1, 1),
        ("It takes the thirty days", "Thirty days!", 2 * 2 / (4 + 2), 1, 1),  # "the" does not count
        ("days thirty", "thirty days", 1, 0, 0.5),
        ("thirty thirty", "thirty", 2 * 1 / 3, 1, 1),  # each word as often as in both
        ("nothing", "thirty days", 0, 0, 0),
        ("", "thirty days", 0, 0, 0),
        ("thirty", "", 0, 0, 0),
        ("a x b y c", "x y z", 2 * 2 / (4 + 3), 0, 2 / 3),
    ],
)
def test_scores_by_hand(answer, reference, f1, contained, recall):
    assert token_f1(answer, reference) == pytest.approx(f1)
    assert contains(answer, reference) == contained
    assert rouge_l_recall(answer, reference) == pytest.approx(recall)


@given(st.text("ab ", max_size=20), st.text("ab ", max_size=20))
def test_scores_are_shares(answer, reference):
    for score in (token_f1, contains, rouge_l_recall):
        assert 0 <= score(answer, reference) <= 1


def test_paired_differences():
    found = paired([1.0, 0.5, 0.0, 1.0], [0.0, 0.5, 0.5, 0.0], draws=500, seed=1)
    assert (found.mean, found.better, found.worse) == (pytest.approx(0.375), 2, 1)
    assert -0.5 <= found.low < found.mean < found.high <= 1
    assert found == paired([1.0, 0.5, 0.0, 1.0], [0.0, 0.5, 0.5, 0.0], draws=500, seed=1)


def test_the_same_answers_differ_by_nothing():
    found = paired([0.3, 0.7], [0.3, 0.7], draws=50, seed=1)
    assert (found.mean, found.low, found.high, found.better, found.worse) == (0, 0, 0, 0, 0)


def test_the_scripted_reader_copies_the_nearest_sentences_in_their_order():
    def read(most, *texts):
        context = Context(id="q", question="How long are snapshots kept, and parcels?", texts=texts, sentences=most)
        return ScriptedReader().answers([context])

    assert read(1, *TEXTS) == ["Snapshots are kept for 30 days."]
    assert read(2, *reversed(TEXTS)) == ["Parcels are free. Snapshots are kept for 30 days."]
    assert read(1) == [""]


def test_bm25_prefers_rare_words_and_short_texts():
    common, rare, none = bm25("are snapshots", ["Parcels are", "Snapshots were", "Nothing"])
    assert none == 0
    long, short = bm25("snapshots", ["snapshots " + "and more " * 9, "snapshots"])
    assert short > long > 0
    assert rare == pytest.approx(common)
