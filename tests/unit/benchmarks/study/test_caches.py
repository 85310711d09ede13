"""What is kept on disk: vectors and answers. A run again asks nothing."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest

from benchmarks.study.language_model import PROMPT, CachedAnswers, ask_all
from benchmarks.study.questions import Question
from benchmarks.study.vectors import cached_embedder
from monitor.assess.llm.exchange import NoAnswer, Spend
from monitor.core.errors import Fatal
from monitor.simulate.fakes.flow import ScriptedLanguageModel
from tests.factories.assess.interactions import TableEmbedder

TABLE = {"a": (1, 0, 0), "b": (0, 1, 0), "c": (0, 0, 1)}
QUESTIONS = [
    Question(id=str(n), text=f"Question {n}?", documents=("One.", "Two."), answerable=True, group="g") for n in range(2)
]


def said(answer: str, *support: str, declined: bool = False) -> str:
    return json.dumps({"answer": answer, "supporting_documents": support, "declined": declined})


def scripted(*answers: str | Exception) -> ScriptedLanguageModel:
    return ScriptedLanguageModel(answers={PROMPT.name: answers})


def test_vectors_are_embedded_once_and_found_again(tmp_path):
    inner = TableEmbedder(TABLE)
    with cached_embedder(inner, tmp_path / "vectors") as first:
        first.embed(["a", "b", "a"])
    with cached_embedder(inner, tmp_path / "vectors") as second:
        found = second.embed(["c", "a", "b"])

    assert inner.asked == [["a", "b"], ["c"]]
    assert found.tolist() == [[0, 0, 1], [1, 0, 0], [0, 1, 0]]
    assert found.dtype == np.float32


def test_vectors_of_a_failed_run_are_kept(tmp_path):
    inner = TableEmbedder(TABLE)
    with suppress(KeyError), cached_embedder(inner, tmp_path) as embedder:
        embedder.embed(["a"])
        embedder.embed(["of no vector"])
    with cached_embedder(inner, tmp_path) as again:
        again.embed(["a"])

    assert inner.asked == [["a"], ["of no vector"]]


def test_no_text_is_no_vector(tmp_path):
    with cached_embedder(TableEmbedder(TABLE), tmp_path) as embedder:
        assert embedder.embed([]).shape == (0, 3)


def test_answers_are_asked_for_once(tmp_path):
    inner = scripted(said("Here.", "One.", " "), said("No idea.", declined=True))
    model = CachedAnswers(inner, tmp_path, server="here")

    first = ask_all(QUESTIONS, model, concurrency=1)
    again = ask_all(QUESTIONS, model, concurrency=1)

    assert first == again
    assert [(a.answer, a.support, a.declined) for a in first] == [("Here.", ("One.",), False), ("No idea.", (), True)]
    assert len(inner.asked) == 2


def test_the_model_sees_question_and_documents_in_their_order(tmp_path):
    inner = scripted(said("Here."))

    ask_all(QUESTIONS[:1], CachedAnswers(inner, tmp_path, server="here"), concurrency=1)

    (request,) = inner.asked
    assert [(b.name, b.text) for b in request.blocks] == [
        ("question", "Question 0?"),
        ("document 1", "One."),
        ("document 2", "Two."),
    ]


def test_another_server_is_asked_anew(tmp_path):
    inner = scripted(said("Here."))
    for server in ("here", "there"):
        ask_all(QUESTIONS[:1], CachedAnswers(inner, tmp_path, server=server), concurrency=1)

    assert len(inner.asked) == 2


def test_a_question_that_gets_no_answer_in_the_form_is_left_out_and_not_kept(tmp_path):
    model = CachedAnswers(scripted(NoAnswer("malformed", "?", Spend()), said("Here.")), tmp_path, server="here")

    assert ask_all(QUESTIONS[:1], model, concurrency=1) == [None]
    (answered,) = ask_all(QUESTIONS[:1], model, concurrency=1)
    assert answered.answer == "Here."


def test_a_server_that_refuses_for_good_ends_it_and_what_was_answered_stays(tmp_path):
    inner = scripted(said("Here."), Fatal("no such model"), said("There."))
    model = CachedAnswers(inner, tmp_path, server="here")
    with pytest.raises(Fatal, match="no such model"):
        ask_all(QUESTIONS, model, concurrency=1)

    assert [a.answer for a in ask_all(QUESTIONS, model, concurrency=1)] == ["Here.", "There."]
