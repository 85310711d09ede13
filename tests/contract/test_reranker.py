"""The promise of every reranker: a score per text in [0, 1], or none at all, and never an error that stops an event."""

from __future__ import annotations

import pytest

from monitor.assess.ports import MOST_RERANKED, Reranker
from monitor.assess.rerank.onnx import OnnxReranker
from monitor.simulate.fakes.rerank import WordReranker
from tests.factories.assess.tiny_model import TinyModel, word_tokenizer

QUESTION = "Which day are returns free?"
GOOD, BAD = "Are returns free?", "Zoe pays 42 euros."
ODDITIES = ["", " \n", "\ud800", "[SEP]", "🎉", "returns " * 5_000, "店舗は月曜日に開きます。", "\x00"]


@pytest.fixture(params=["words", "onnx"])
def reranker(request, tmp_path) -> Reranker:
    if request.param == "words":
        return WordReranker()
    model = TinyModel(tokenizer=word_tokenizer(), ranks=True)
    return OnnxReranker(model.write(tmp_path / "model"), device="cpu", threads=1)


def test_a_text_that_answers_scores_higher(reranker):
    good, bad, worse = reranker.rank(QUESTION, [GOOD, BAD, ""])
    assert 1 >= good > bad >= worse >= 0


def test_scores_are_in_the_order_of_the_texts_and_do_not_depend_on_the_others(reranker):
    texts = [GOOD, BAD, GOOD * 30, BAD * 9, *ODDITIES]
    together = reranker.rank(QUESTION, texts)
    assert together == [pytest.approx(reranker.rank(QUESTION, [text])[0], abs=1e-6) for text in texts]
    assert all(0 <= score <= 1 for score in together)


def test_no_texts_have_no_scores(reranker):
    assert reranker.rank(QUESTION, []) == []


@pytest.mark.parametrize("question", ["", " \n"])
def test_without_a_question_there_is_no_order(reranker, question):
    assert reranker.rank(question, [GOOD, BAD]) is None


@pytest.mark.parametrize("question", ["?" * 5_000, "\ud800 returns", "returns " * 5_000])
def test_any_question_gives_scores_or_none(reranker, question):
    scores = reranker.rank(question, [GOOD, BAD])
    assert scores is None or all(0 <= score <= 1 for score in scores)


def test_the_number_of_texts_is_bounded(reranker):
    assert len(reranker.rank(QUESTION, [GOOD] * MOST_RERANKED)) == MOST_RERANKED
    with pytest.raises(ValueError, match="51 texts are more than 50"):
        reranker.rank(QUESTION, [GOOD] * (MOST_RERANKED + 1))


def test_it_has_a_name(reranker):
    assert reranker.model
