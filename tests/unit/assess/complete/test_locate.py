from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.complete.locate import locate
from monitor.core.model import Document, Match, SupportingDocument

ONE = Document(id="one", text="Red. Blue. Red.")
TWO = Document(id="two", text="Blue. Green.")


def place(piece):
    return piece.document_id, piece.start, piece.end


def test_the_first_occurrence_in_the_first_document_is_taken():
    assert place(locate(SupportingDocument(text="Blue."), [ONE, TWO])) == ("one", 5, 10)
    assert place(locate(SupportingDocument(text="Green."), [ONE, TWO])) == ("two", 6, 12)


def test_a_position_that_the_event_gave_is_kept_where_the_text_stands_there():
    given_piece = SupportingDocument(text="Red.", document_id="one", start=11, end=15)
    assert locate(given_piece, [ONE, TWO]) == replace(given_piece, match=Match.EXACT)


def test_a_wrong_position_is_put_right():
    for wrong in ({"start": 1, "end": 5}, {"start": 11, "end": 99}, {"start": 900, "end": 904}):
        piece = SupportingDocument(text="Red.", document_id="one", **wrong)
        assert place(locate(piece, [ONE, TWO])) == ("one", 0, 4)


def test_a_position_in_an_unknown_document_is_put_right():
    piece = SupportingDocument(text="Green.", document_id="gone", start=6, end=12)
    assert place(locate(piece, [ONE, TWO])) == ("two", 6, 12)


def test_text_that_stands_nowhere_has_no_offsets():
    piece = locate(SupportingDocument(text="Yellow.", document_id="one", start=0, end=7), [ONE, TWO])
    assert (piece.start, piece.end, piece.match) == (None, None, None)
    assert piece.text == "Yellow."


def test_nothing_is_located_in_no_documents():
    assert locate(SupportingDocument(text="Red."), []) == SupportingDocument(text="Red.")


def test_an_empty_piece_is_left_as_it_is():
    assert locate(SupportingDocument(text=""), [ONE]) == SupportingDocument(text="")


@given(st.text(alphabet="ab é文🤷", max_size=8), st.lists(st.text(alphabet="ab é文🤷", max_size=20), max_size=4))
def test_a_located_piece_is_the_text_at_its_place(text, documents):
    found = locate(SupportingDocument(text=text), [Document(id=str(n), text=t) for n, t in enumerate(documents)])
    assert found.text == text
    if text.strip() and any(text in document for document in documents):
        assert found.match is Match.EXACT
        assert documents[int(found.document_id)][found.start : found.end] == text
    else:
        assert found.match in {None, Match.FOLDED}


SOURCE = Document(
    id="long",
    text="Snapshots are “kept”\nfor  thirty days — then purged. Deleting a straße is final. Nothing else is stored.",
)


@pytest.mark.parametrize(
    ("text", "match", "passage"),
    [
        (
            'snapshots ARE "kept" for thirty days - then purged.',
            Match.FOLDED,
            "Snapshots are “kept”\nfor  thirty days — then purged.",
        ),
        ("deleting a STRASSE is final", Match.FOLDED, "Deleting a straße is final"),
        (
            "Snapshots are kept for thirty days, then purged.",
            Match.FUZZY,
            "Snapshots are “kept”\nfor  thirty days — then purged",
        ),
        ("Nothing else is stored ever after.", None, None),
        ("purgd", None, None),  # too short to be told by likeness
    ],
)
def test_a_piece_is_found_however_it_is_written(text, match, passage):
    found = locate(SupportingDocument(text=text), [ONE, SOURCE])
    assert found.match is match
    assert found.text == text
    if passage is None:
        assert place(found) == (None, None, None)
    else:
        assert found.document_id == "long"
        assert SOURCE.text[found.start : found.end] == passage


def test_an_exact_occurrence_goes_before_a_similar_one_in_an_earlier_document():
    similar = Document(id="similar", text="The limit is forty requests in each minute, for all.")
    exact = Document(id="exact", text="See: the limit is forty requests each minute for all.")
    found = locate(SupportingDocument(text="the limit is forty requests each minute for all"), [similar, exact])
    assert (found.document_id, found.match) == ("exact", Match.EXACT)


@given(st.text(max_size=40), st.text(max_size=80))
def test_offsets_are_always_within_the_document(text, document):
    found = locate(SupportingDocument(text=text), [Document(id="d", text=document)])
    if found.match is not None:
        assert 0 <= found.start < found.end <= len(document)
