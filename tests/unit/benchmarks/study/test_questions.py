from __future__ import annotations

import numpy as np
import pytest

from benchmarks.study.questions import Entry, Question, faq_parts, retrieve, squad_parts, with_documents
from tests.factories.assess.interactions import TableEmbedder


def squad(groups: int = 20, each: int = 6) -> list[Question]:
    return [
        Question(id=f"{g}-{n}", text=f"{g} {n}?", documents=(f"text {g}",), answerable=n % 2 == 0, group=str(g))
        for g in range(groups)
        for n in range(each)
    ]


def faq() -> list[Entry]:
    platforms = ["aws"] * 20 + ["gcp"] * 10 + ["ibm"] * 10 + ["azure"] * 10
    return [Entry(id=str(n), question=f"q{n}?", answer=f"a{n}", platform=p) for n, p in enumerate(platforms)]


def test_no_context_is_both_fitted_and_reported_on():
    parts = squad_parts(squad(), answerable=30, unanswerable=15, seed=1)

    assert not {q.group for q in parts.fitting} & {q.group for q in parts.reported}
    assert len({q.group for q in parts.fitting}) == 5
    assert len(parts.fitting) == 30


def test_as_many_of_each_kind_are_reported_as_asked_for_and_none_twice():
    reported = squad_parts(squad(), answerable=30, unanswerable=15, seed=1).reported

    assert [q.answerable for q in reported] == [True] * 30 + [False] * 15
    assert len({q.id for q in reported}) == 45


def test_the_seed_decides_the_draw():
    first, again, other = (squad_parts(squad(), answerable=30, unanswerable=15, seed=s) for s in (1, 1, 2))

    assert first == again
    assert first.reported != other.reported


def test_more_than_there_are_cannot_be_drawn():
    with pytest.raises(ValueError, match="60 rows were asked for where there are 45"):
        squad_parts(squad(), answerable=60, unanswerable=15, seed=1)


def test_faq_parts_are_of_the_studys_platforms_and_share_no_entry():
    fitting, reported = faq_parts(faq(), answerable=8, unanswerable=9, seed=1)

    for part in (fitting, reported):
        assert sum(e.platform == "aws" for e in part) == 8
        assert sum(e.platform in {"gcp", "ibm"} for e in part) == 9
        assert len(part) == 17
    assert not {e.id for e in fitting} & {e.id for e in reported}


def test_the_nearest_texts_are_retrieved_in_the_order_of_their_cosine():
    embedder = TableEmbedder({"q": (1, 0, 0), "far": (0, 1, 0), "near": (1, 0.1, 0), "nearer": (1, 0.05, 0)})

    assert retrieve(["q"], ["far", "near", "nearer"], embedder, 2).tolist() == [[2, 1]]


def test_a_question_on_what_the_chatbot_knows_counts_as_answerable_whatever_is_retrieved():
    entries = [e for e in faq() if e.id in {"0", "20"}]

    questions = with_documents(entries, ["a5", "a0"], np.array([[0], [1]]))

    assert [(q.text, q.documents, q.answerable) for q in questions] == [
        ("q0?", ("a5",), True),
        ("q20?", ("a0",), False),
    ]
    assert questions[0].group != questions[1].group
