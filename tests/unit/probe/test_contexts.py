from __future__ import annotations

import json
from dataclasses import dataclass, field
from importlib.resources import files

import numpy as np
import pytest

from monitor.assess.chunks.relevance import K1, B, idf_of
from monitor.assess.embed.hashing import HashEmbedder
from monitor.core.errors import Retriable
from monitor.probe.contexts import (
    MOST_FOUND,
    ByQuestion,
    ByQuestionAndReference,
    Collection,
    FromRetriever,
    NoContexts,
)
from monitor.probe.target import ChatbotAnswer, ChatbotFailed

OPENING = "The shop opens at nine."
RETURNS = "Parcels can be returned for free."
PAYING = "Zoe pays with euros."
DOCUMENTS = [OPENING, RETURNS, PAYING]


@dataclass
class CountingEmbedder(HashEmbedder):
    embedded: list = field(default_factory=list)

    def embed(self, texts):
        self.embedded.append(list(texts))
        return super().embed(texts)


@dataclass
class SilentEmbedder:
    """Sees no likeness anywhere."""

    model: str = "silent"
    dimensions: int = 2

    def embed(self, texts):
        return np.array([[1.0, 0.0] if text in DOCUMENTS else [0.0, 1.0] for text in texts], np.float32)


@dataclass
class FakeRetriever:
    answer: ChatbotAnswer | Exception
    place: str = "command retrieve"
    asked: list = field(default_factory=list)

    def ask(self, question, *, history, conversation):
        self.asked.append((question, tuple(history), conversation))
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def close(self):
        pass


def test_the_reference_finds_what_the_question_alone_does_not():
    collection = Collection(DOCUMENTS, SilentEmbedder())
    question, reference = "Which parcels?", "Those with euros, by Zoe."
    assert ByQuestion(collection).find(question, reference) == [RETURNS]
    assert ByQuestionAndReference(collection).find(question, reference) == [PAYING, RETURNS]


def test_the_rank_is_half_bm25_and_half_cosine():
    collection = Collection(DOCUMENTS, HashEmbedder())
    query = "shop parcels parcels zoe"
    cosines = HashEmbedder().embed(DOCUMENTS) @ HashEmbedder().embed([query])[0]
    lengths = np.array([5, 6, 4])
    bm25 = idf_of(1, 3) * (K1 + 1) / (1 + K1 * (1 - B + B * lengths / 5))  # each document holds one of the words once
    ranks = 0.5 * np.clip(cosines, 0, 1) + 0.5 * bm25 / bm25.max()
    assert collection.best(query) == [DOCUMENTS[place] for place in np.argsort(-ranks)]


def test_documents_that_share_nothing_are_not_found():
    assert Collection(DOCUMENTS, SilentEmbedder()).best("weather") == []


def test_no_more_than_the_best_few_are_found():
    documents = [f"The shop number {n} opens." for n in range(50)]
    collection = Collection(documents, HashEmbedder())
    assert len(collection.best("shop")) == MOST_FOUND
    assert collection.best("shop number 17 opens", 1) == [documents[17]]


def test_documents_are_embedded_once_and_a_query_embeds_itself_only():
    embedder = CountingEmbedder()
    collection = Collection([OPENING, f" {OPENING}\n", "", RETURNS], embedder)
    collection.best("one")
    collection.best("two")
    assert embedder.embedded == [[OPENING, RETURNS], ["one"], ["two"]]
    assert len(collection) == 2


def test_long_documents_are_cut():
    embedder = CountingEmbedder()
    Collection(["x" * 100_000], embedder)
    assert [len(text) for text in embedder.embedded[0]] == [4_000]


@pytest.mark.parametrize(("documents", "query"), [([], "shop"), (["", " "], "shop"), (DOCUMENTS, " \n")])
def test_nothing_is_found_in_nothing_and_for_nothing(documents, query):
    assert Collection(documents, HashEmbedder()).best(query) == []


def test_twice_the_documents_take_the_look_ups_of_a_word_no_more_often():
    """A query reads the postings of its own words, not the texts."""
    some, twice = (Collection([f"shop {n}" for n in range(size)], HashEmbedder()) for size in (50, 100))
    assert len(some._postings["shop"][0]) * 2 == len(twice._postings["shop"][0])
    assert all(len(collection._postings["7"][0]) == 1 for collection in (some, twice))


def test_the_passages_behind_answers_of_the_support_bot_are_found():
    folder = files("monitor.simulate") / "knowledge"
    passages, questions = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("passages.jsonl", "questions.jsonl")
    )
    texts = {passage["id"]: passage["text"] for passage in passages}
    collection = Collection(list(texts.values()), HashEmbedder())

    def share_found(contexts):
        found = [set(contexts.find(asked["question"], asked["grounded"][0])) for asked in questions]
        sought = [{texts[id_] for id_ in asked["passages"]} for asked in questions]
        return sum(len(f & s) for f, s in zip(found, sought, strict=True)) / sum(map(len, sought))

    assert share_found(ByQuestionAndReference(collection)) > 0.99
    assert share_found(ByQuestion(collection)) < 0.9


def test_no_contexts_are_none():
    assert NoContexts().find("question", "reference") == ()


def test_the_apps_own_retriever_is_asked_with_question_and_reference():
    retriever = FakeRetriever(ChatbotAnswer(text="", documents=("One.", " ", *(f"{n}." for n in range(9)))))
    found = FromRetriever(retriever, conversation="monitor-probe-1").find("When?", "At nine.")
    assert found == ["One.", "0.", "1.", "2.", "3."]
    assert retriever.asked == [("When?\nAt nine.", (), "monitor-probe-1")]


@pytest.mark.parametrize(("reason", "raised"), [("out_of_reach", Retriable), ("timeout", ChatbotFailed)])
def test_a_retriever_that_fails_stops_the_run_only_if_it_is_out_of_reach(reason, raised):
    retriever = FakeRetriever(ChatbotFailed(reason, "no answer in 30 s"))
    with pytest.raises(raised, match="no answer in 30 s"):
        FromRetriever(retriever, conversation="monitor-probe-1").find("When?", "At nine.")


def test_a_retriever_that_has_answered_and_fails_later_costs_that_item_only():
    retriever = FakeRetriever(ChatbotAnswer(text="", documents=("One.",)))
    contexts = FromRetriever(retriever, conversation="monitor-probe-1")
    assert contexts.find("When?", "At nine.") == ["One."]
    retriever.answer = ChatbotFailed("out_of_reach", "reset")
    with pytest.raises(ChatbotFailed, match="reset"):
        contexts.find("When?", "At nine.")
