from __future__ import annotations

from dataclasses import replace

import pytest

from monitor.core.diagnosis import Diagnosis
from monitor.core.reason_words import DIAGNOSIS_ADVICE, DIAGNOSIS_WORDS
from monitor.web.interaction.diagnosis.view import COLOURS, FOLDED, MOST_OPEN, MOST_RANKED, diagnosis_view
from tests.factories.assess.diagnosed_rows import DIAGNOSED, TEXTS, diagnosed_row
from tests.factories.assess.explained_rows import ROW

CARD = "4111 1111 1111 1111"


def view(found=DIAGNOSED, *, clear=False, **changed):
    return diagnosis_view(diagnosed_row(found, **changed), clear=clear)


def texts(document):
    """The text of each chunk of a document, by block."""
    return [["".join(piece.text for piece in chunk.pieces) for chunk in block.chunks] for block in document.blocks]


def whole(document):
    return "".join("".join(block) for block in texts(document))


def words(number):
    """That many of five characters each."""
    return "".join(f"{chr(97 + n // 26)}{chr(97 + n % 26)}x. " for n in range(number))


def cut(text, size, relevant):
    """A document in chunks of `size` characters, those whose number is in `relevant` about the question."""
    chunks = tuple(
        replace(
            DIAGNOSED.chunks[0],
            start=at,
            end=min(at + size, len(text)),
            relevance=0.9 if at // size in relevant else 0.1,
            rank=at // size + 2,
        )
        for at in range(0, len(text), size)
    )
    found = replace(DIAGNOSED, chunks=chunks, tau=None)
    return view(found, retrieved_documents=[{"id": "d0", "text": text}])


def test_the_diagnosis_is_in_words_with_advice():
    its = view(verdict="self_generated")
    assert (its.name, its.colour) == ("generator invented", "bad")
    assert its.words == DIAGNOSIS_WORDS[Diagnosis.GENERATOR_INVENTED]
    assert its.advice == DIAGNOSIS_ADVICE[Diagnosis.GENERATOR_INVENTED]
    assert its.summary.startswith("5 chunks: 2 kept")
    assert set(COLOURS) == set(Diagnosis)


def test_each_document_is_cut_into_its_chunks():
    dogs, parking, garage = view().documents
    assert texts(dogs) == [["Dogs may not come in.", "Cats may."]]
    assert texts(parking) == [["Parking costs two euros per hour, also at night.", "It is paid at the gate."]]
    assert [chunk.colour for chunk in parking.blocks[0].chunks] == ["good", "good"]
    (repeated,) = garage.blocks[0].chunks
    assert (repeated.colour, repeated.read.repeated) == ("warn", 3)
    assert [d.place for d in (dogs, parking, garage)] == [3, 1, 2]
    assert [d.worth_opening for d in (dogs, parking, garage)] == [False, True, False]
    assert [d.kept for d in (dogs, parking, garage)] == [False, True, False]


def test_a_late_document_is_open_for_a_kept_chunk_and_not_for_the_best_rank_alone():
    first = replace(DIAGNOSED.chunks[0], start=0, end=9, relevance=0.1, used=False, repeats=None)
    chunks = tuple(replace(first, document=at, relevance=0.9 if at == 5 else 0.1, rank=at + 2) for at in range(6))
    documents = [{"id": f"d{at}", "text": "Cats may."} for at in range(6)]

    def opened(best):
        ranked = tuple(replace(c, rank=1 if c.document == best else c.document + 2) for c in chunks)
        found = view(replace(DIAGNOSED, chunks=ranked, tau=None), retrieved_documents=documents)
        return [place for place, document in enumerate(found.documents) if document.worth_opening]

    assert opened(best=4) == [5]
    assert opened(best=2) == [2, 5]


def test_passages_stay_marked_within_chunks():
    chunk = view().documents[1].blocks[0].chunks[0]
    assert [(p.text, p.mark) for p in chunk.pieces] == [("Parking costs two euros per hour, also at night.", "passage")]


def test_a_passage_over_two_chunks_is_marked_in_both():
    whole = {**ROW["evidence"]["alignment"][0], "start": 0, "end": len(TEXTS[1])}
    row = diagnosed_row()
    evidence = {**row["evidence"], "alignment": [whole]}
    chunks = diagnosis_view({**row, "evidence": evidence}, clear=False).documents[1].blocks[0].chunks
    assert [piece.mark for chunk in chunks for piece in chunk.pieces] == ["passage", "passage"]


def test_many_chunks_in_a_row_that_were_not_kept_are_folded():
    text = words(40)
    document = cut(text, 5, {10, 30}).documents[0]
    assert [(len(block.chunks), block.summary) for block in document.blocks] == [
        (10, "Chunks 1 to 10: 10 not relevant"),
        (1, ""),
        (19, "Chunks 12 to 30: 19 not relevant"),
        (1, ""),
        (9, "Chunks 32 to 40: 9 not relevant"),
    ]
    assert whole(document) == text


def test_a_document_with_very_many_chunks_is_folded_at_its_end():
    text = words(300)
    for relevant in (set(range(300)), set(range(0, 300, 2)), set(range(0, 300, 5))):
        its = cut(text, 5, relevant)
        (document,) = its.documents
        assert sum(len(block.chunks) for block in document.blocks if not block.summary) <= MOST_OPEN
        assert len(document.blocks) <= 2 * MOST_OPEN + 1
        assert whole(document) == text
        assert (len(its.ranked), its.more_ranked) == (MOST_RANKED, 260)


def test_what_was_not_read_of_a_text_is_there_all_the_same():
    short = replace(DIAGNOSED, examined=0.5, chunks=DIAGNOSED.chunks[2:3])
    documents = view(short).documents
    assert texts(documents[0]) == [[TEXTS[0]]]
    assert documents[0].blocks[0].chunks[0].read is None
    assert whole(documents[1]) == TEXTS[1]


@pytest.mark.parametrize(
    "gone",
    [[], [{"id": "d0", "text": ""}] * 3, [{"id": "d0", "text": "Dogs [name]"}, {"id": "d1", "text": "Parking"}]],
)
def test_offsets_beyond_the_text_are_cut_off(gone):
    documents = view(retrieved_documents=gone).documents
    assert [whole(document) for document in documents] == [d["text"] for d in gone]


def test_chunks_that_overlap_repeat_no_text():
    twice = replace(DIAGNOSED, chunks=(DIAGNOSED.chunks[0], replace(DIAGNOSED.chunks[1], start=5)))
    assert whole(view(twice).documents[0]) == TEXTS[0]


def test_personal_data_is_masked_even_where_a_chunk_cuts_it():
    text = f"The card {CARD} is blocked. Write to ada@example.org."
    within = text.index("1111")
    chunks = tuple(
        replace(DIAGNOSED.chunks[0], start=start, end=end) for start, end in ((0, within), (within, len(text)))
    )
    found, documents = replace(DIAGNOSED, chunks=chunks), [{"id": "d0", "text": text}]
    masked = whole(view(found, retrieved_documents=documents).documents[0])
    assert not any(character.isdigit() for character in masked)
    assert "ada" not in masked
    assert whole(view(found, clear=True, retrieved_documents=documents).documents[0]) == text


def test_what_cannot_be_seen_is_written_out():
    its = view(replace(DIAGNOSED, by="judge\u202e"), retrieved_documents=[{"id": "d", "text": "\u202e" + TEXTS[0]}])
    assert whole(its.documents[0]).startswith("⟨U+202E⟩Dogs")
    assert its.by == "judge⟨U+202E⟩"


def test_a_row_of_an_earlier_release_has_no_diagnosis_and_an_erased_one_no_chunks():
    assert diagnosis_view(ROW, clear=False) is None
    erased = view(evidence={}, retrieved_documents=[], answer="")
    assert (erased.name, erased.summary, erased.documents) == ("generator invented", "", ())


def test_the_run_that_is_folded_is_longer_than_the_limit():
    text = words(FOLDED + 1)
    assert cut(text[: 5 * FOLDED], 5, set()).documents[0].blocks[0].summary == ""
    assert cut(text, 5, set()).documents[0].blocks[0].summary == "Chunks 1 to 4: 4 not relevant"
