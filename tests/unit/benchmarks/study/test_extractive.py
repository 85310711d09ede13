from __future__ import annotations

import numpy as np
import pytest

from benchmarks.study.extractive import (
    NEVER,
    REFUSALS,
    Nearest,
    answer,
    fit_floor,
    nearest_sentences,
    refusal,
    shared_words,
)
from benchmarks.study.questions import Question
from monitor.assess.classify.refusal import refusal_kind
from monitor.core.model import RefusalKind
from tests.factories.assess.interactions import TableEmbedder


def question(text: str, *documents: str) -> Question:
    return Question(id=text, text=text, documents=documents, answerable=True, group="g")


def test_the_share_of_words_weighs_rare_ones_more():
    first, second, neither = shared_words("Which tide floods?", ["The tide floods.", "The tide ebbs.", "The moon."])

    # N = 3: "which" stands in none of them, "tide" in two, "flood" in one
    which, tide, floods = np.log1p(4 / np.array([1, 3, 2]))
    assert first == pytest.approx((tide + floods) / (which + tide + floods))
    assert second == pytest.approx(tide / (which + tide + floods))
    assert neither == 0


def test_a_question_without_words_shares_none():
    assert shared_words("???", ["Something."]).tolist() == [0.0]


def test_the_best_sentence_is_so_by_cosine_and_words_together():
    ebbs, floods = "The river ebbs.", "The tide floods."
    embedder = TableEmbedder({"The tide?": (1, 0, 0), ebbs: (1, 1, 0), floods: (1, 0.9, 0)})

    (best,) = nearest_sentences([question("The tide?", f"{ebbs} {floods}")], embedder)

    assert best.sentence == floods
    assert best.confidence == pytest.approx((1 / np.sqrt(1.81) + 1.0) / 2)


def test_sentences_of_all_documents_are_looked_at():
    embedder = TableEmbedder({"Q": (1, 0, 0), "One.": (0, 1, 0), "Two.": (0, 1, 1), "Three.": (1, 0, 0)})

    (best,) = nearest_sentences([question("Q", "One. Two.", "Three.")], embedder)

    assert best == Nearest("Three.", pytest.approx(0.5))


def test_a_question_without_any_sentence_is_an_error():
    with pytest.raises(ValueError, match="no document"):
        nearest_sentences([question("Q", " ")], TableEmbedder({"Q": (1, 0, 0)}))


def test_the_floor_parts_what_can_be_answered_from_what_cannot():
    confidence = np.array([0.9, 0.8, 0.4, 0.3, 0.2])
    answerable = np.array([True, True, True, False, False])

    assert fit_floor(confidence, answerable) == pytest.approx(0.3)


def test_the_floor_does_not_follow_the_share_of_the_unanswerable():
    confidence = np.array([0.9, 0.5, 0.5, 0.4])
    answerable = np.array([True, True, False, False])

    same = fit_floor(confidence, answerable)
    many = fit_floor(np.r_[confidence, np.repeat([0.5, 0.4], 50)], np.r_[answerable, np.zeros(100, bool)])

    assert same == many


def test_below_the_floor_it_declines_and_still_says_what_it_looked_at():
    asked = [question("sure?", "Yes."), question("unsure?", "No.")]
    sure, unsure = answer(asked, [Nearest("Yes.", 0.8), Nearest("No.", 0.5)], 0.5)

    assert (sure.answer, sure.support, sure.declined) == ("Yes.", ("Yes.",), False)
    assert (unsure.answer, unsure.support, unsure.declined) == (refusal("unsure?"), ("No.",), True)


def test_without_a_floor_it_always_answers():
    (given,) = answer([question("unsure?", "No.")], [Nearest("No.", -1.0)], NEVER)

    assert not given.declined


def test_refusals_differ_and_each_question_has_its_own():
    questions = [f"question {n}" for n in range(200)]

    assert {refusal(q) for q in questions} == set(REFUSALS)
    assert [refusal(q) for q in questions] == [refusal(q) for q in questions]


def test_the_monitor_reads_most_of_the_refusals_as_such():
    read = [refusal_kind(text) is RefusalKind.FULL for text in REFUSALS]

    assert sum(read) >= len(REFUSALS) - 1
