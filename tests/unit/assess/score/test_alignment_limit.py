from __future__ import annotations

import numpy as np
import pytest

from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.score import alignment_limit as reach
from monitor.assess.score.alignment_limit import within_reach
from monitor.assess.score.features import passages_of

ANSWER = "Deleted snapshots are kept for thirty days."
TEXTS = [
    "Invoices are sent by mail. Deleted snapshots are kept for thirty days. The office opens at nine.",
    "",
    "A volume has a limit. Snapshots cost nothing.",
]


def reached(monkeypatch, cells):
    monkeypatch.setattr(reach, "MOST_CELLS", cells)
    tokens, *documents = HashEmbedder().encode([ANSWER, *TEXTS])
    passages = [passages_of(text) for text in TEXTS]
    found = within_reach(ANSWER, tokens, TEXTS, documents, passages)
    return [[text[t["start"] : t["end"]] for t in each] for text, each in zip(TEXTS, found, strict=True)], documents


def test_all_of_it_where_there_is_time(monkeypatch):
    found, documents = reached(monkeypatch, 10_000)
    assert [len(words) for words in found] == [len(each) for each in documents]


def test_beyond_the_limit_the_passages_that_share_most_words_stay(monkeypatch):
    found, _ = reached(monkeypatch, 7 * 15)
    assert [" ".join(words) for words in found] == [
        "Invoices are sent by mail Deleted snapshots are kept for thirty days",
        "",
        "Snapshots cost nothing",
    ]


@pytest.mark.parametrize("cells", [0, 1, 7 * 6])
def test_nothing_where_not_even_one_passage_fits(monkeypatch, cells):
    found, _ = reached(monkeypatch, cells)
    assert found == [[], [], []]


def test_an_answer_without_tokens_reaches_everything():
    nothing = np.zeros(0, HashEmbedder().encode(["a"])[0].dtype)
    documents = HashEmbedder().encode(TEXTS)
    assert within_reach("", nothing, TEXTS, documents, [passages_of(t) for t in TEXTS]) == documents
