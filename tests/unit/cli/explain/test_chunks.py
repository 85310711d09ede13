from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console, Group

from monitor.cli.explain.chunks import SHOWN, SHOWN_IN_DETAIL, chunk_figures, chunk_table, diagnosis_line
from monitor.cli.explain.details import details_panel
from monitor.cli.explain.panel import explanation
from monitor.core.diagnosis import Diagnosis
from monitor.core.reason_words import DIAGNOSIS_ADVICE, DIAGNOSIS_WORDS
from tests.factories.assess.diagnosed_rows import DIAGNOSED, TEXTS, chunk, diagnosed_row
from tests.factories.assess.explained_rows import ROW


def printed(*parts, width=80):
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(Group(*parts))
    return console.file.getvalue()


def table(row, width=80):
    return [" ".join(line.split()) for line in printed(*chunk_table(row), width=width).splitlines()]


def with_many(number):
    more = tuple(chunk(0, "Cats may.", 0.1, 6 + n) for n in range(number))
    return replace(DIAGNOSED, chunks=(*DIAGNOSED.chunks, *more))


def test_the_kept_chunks_come_first_with_their_places_and_what_became_of_them():
    assert table(diagnosed_row(), width=120) == [
        "the retrieved documents in 5 chunks: 2 kept, 2 not relevant, 1 repeats another; the answer uses 1 of them",
        "chunk place rank relevance document text",
        f"3 2 1 █████▍ 0.90 kept, used d1 {TEXTS[1][:48]}",
        "4 2 3 ███▋ 0.60 kept d1 It is paid at the gate.",
        f"5 3 2 ████▊ 0.80 repeats chunk 3 d2 {TEXTS[2]}",
        "1 1 4 █▎ 0.20 not relevant d0 Dogs may not come in.",
        "2 1 5 ▋ 0.10 not relevant d0 Cats may.",
        "place: of its document, by the retriever; rank: of the chunk, by words and meaning; relevant from 0.50",
        "the retriever's order of the documents: 1 2 3; by relevance: 2 3 1; τ = −0.33",
        "the first document that the answer uses came at place 2",
    ]


def test_what_is_not_shown_is_counted():
    lines = table(diagnosed_row(with_many(15)))
    assert sum("not relevant d0" in line for line in lines) == SHOWN - 3
    assert "and 12 more: 12 not relevant" in lines


def test_one_more_chunk_is_shown_and_not_counted():
    lines = table(diagnosed_row(with_many(SHOWN - 4)))
    assert sum("not relevant d0" in line for line in lines) == SHOWN - 2
    assert not [line for line in lines if "more:" in line]


@pytest.mark.parametrize("width", [80, 60, 40])
def test_the_panel_is_as_wide_as_the_terminal_and_names_the_diagnosis(width):
    row = diagnosed_row(with_many(300), verdict="self_generated")
    text = printed(explanation(row), width=width)
    assert max(map(len, text.splitlines())) <= width
    flat = " ".join(word for word in text.split() if word != "│")
    assert f"generator invented: {DIAGNOSIS_WORDS[Diagnosis.GENERATOR_INVENTED]}" in flat
    assert DIAGNOSIS_ADVICE[Diagnosis.GENERATOR_INVENTED] in flat
    assert len(text.splitlines()) < 120


def test_at_80_columns_no_figure_is_cut():
    long = [{"id": "https://example.org/a/very/long/address", "text": text} for text in TEXTS]
    lines = table(diagnosed_row(with_many(95), retrieved_documents=long))
    assert any(line.startswith("3 2 1 █████▍ 0.90 kept, used https://exa… Parking costs") for line in lines)


def test_the_details_have_every_figure():
    text = printed(details_panel(diagnosed_row(), None), width=100)
    lines = [" ".join(line.strip("│ ").split()) for line in text.splitlines()]
    assert "5 3 2 0.80 0.40 0.80 0.93 0.41 repeats chunk 3" in lines
    assert "threshold 0.50, best relevance 0.90, from embedding and BM25" in lines
    assert "Kendall's τ of both orders −0.33; place of the first document used 2; lost in the middle: no;" in text


def test_the_details_of_very_many_chunks_end_somewhere():
    text = printed(*chunk_figures(diagnosed_row(with_many(100))))
    assert f"and {105 - SHOWN_IN_DETAIL} more chunks: --json has them all" in text
    assert len(text.splitlines()) < SHOWN_IN_DETAIL + 10


def test_a_row_of_an_earlier_release_has_nothing_of_it():
    assert diagnosis_line(ROW) is None
    assert [*chunk_table(ROW), *chunk_figures(ROW)] == []
    assert "diagnosis" not in printed(explanation(ROW))


def test_after_an_erasure_the_diagnosis_remains():
    row = diagnosed_row(evidence={"alignment": [], "missing": []}, retrieved_documents=[], answer="")
    assert "diagnosis      generator invented" in printed(explanation(row))
    assert list(chunk_table(row)) == []


def test_a_diagnosis_without_chunks_says_so():
    empty = replace(
        DIAGNOSED, diagnosis=Diagnosis.RETRIEVAL_MISSED, chunks=(), relevance=None, tau=None, used_rank=None
    )
    assert table(diagnosed_row(empty)) == ["the retrieved documents have no text to read"]
    assert table(diagnosed_row(empty, retrieved_documents=[])) == []
    assert "best relevance none" in printed(*chunk_figures(diagnosed_row(empty)))


def test_texts_cannot_control_the_terminal_and_lost_ones_are_said_to_be_lost():
    hostile = [{"id": "d\x1b[2J", "text": f"\x1b]0;x\x07\n{text}"} for text in TEXTS]
    text = printed(*chunk_table(diagnosed_row(retrieved_documents=hostile)))
    assert "\x1b" not in text
    assert "\x07" not in text
    assert printed(*chunk_table(diagnosed_row(retrieved_documents=[]))).count("no longer st") == 5
