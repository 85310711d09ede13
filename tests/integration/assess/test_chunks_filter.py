"""`monitor.chunks.filter` with the real model, as a chatbot would use it."""

from __future__ import annotations

import pytest

from monitor import chunks
from monitor.assess import answer as answers

DOCUMENTS = [
    "Shipping takes three days. We ship to all of Europe.",
    "Warranty\n\nThe warranty runs for two years and covers defects in material.",
    "The warranty runs for two years and covers defects in material. Our shop was founded in 1990.",
]


@pytest.fixture(autouse=True)
def state(encoder_cache, tmp_path, monkeypatch):
    (tmp_path / "cache").symlink_to(encoder_cache)
    monkeypatch.setenv("MONITOR_STATE_DIR", str(tmp_path))
    answers.embedded_model.cache_clear()


def test_it_keeps_what_is_relevant_once_and_says_where_it_stands():
    (kept,) = chunks.filter("How long is the warranty?", DOCUMENTS)
    assert kept.text == DOCUMENTS[1]
    assert (kept.document, DOCUMENTS[kept.document][kept.start : kept.end]) == (1, kept.text)
    assert 0.4 < kept.relevance <= 1


def test_it_keeps_nothing_where_nothing_is_relevant():
    assert chunks.filter("Who composed the opera Carmen?", DOCUMENTS) == []


@pytest.mark.parametrize(
    ("question", "documents"), [("", []), ("Why?", [""]), ("", ["Text."]), ("\ud800\x00", ["\ud800"])]
)
def test_empty_and_hostile_texts_are_no_errors(question, documents):
    assert chunks.filter(question, documents) == []


def test_one_text_instead_of_a_list_is_an_error():
    with pytest.raises(TypeError, match="a list of texts"):
        chunks.filter("How long is the warranty?", DOCUMENTS[1])
