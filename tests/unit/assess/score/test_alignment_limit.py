from __future__ import annotations

import pytest

from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.score import alignment_limit as reach
from monitor.assess.score.alignment import LONGEST_PASSAGE
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
    found, share = within_reach(ANSWER, len(tokens), TEXTS, documents, passages)
    assert share == pytest.approx(sum(map(len, found)) / sum(map(len, documents)))
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
    documents = HashEmbedder().encode(TEXTS)
    assert within_reach("", 0, TEXTS, documents, [passages_of(t) for t in TEXTS]) == (documents, 1.0)


def test_of_a_passage_that_does_not_fit_whole_pieces_stay():
    text = "word " * 10_000
    documents = HashEmbedder().encode([text])
    (kept,), share = within_reach("word", 10_000, [text], documents, [passages_of(text)])
    most = reach.CELLS_PER_TOKEN * 20_000 // 10_000
    assert most - LONGEST_PASSAGE < len(kept) <= most
    assert share == len(kept) / 10_000


def test_an_answer_of_a_thousand_words_is_compared_with_all_of_a_hundred_thousand():
    texts = ["One word more. " * 333] * 100
    documents = HashEmbedder().encode(texts)
    assert within_reach("word", 1_000, texts, documents, [passages_of(t) for t in texts])[1] == 1.0
