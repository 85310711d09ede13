from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from monitor.complete.locate import locate
from monitor.model import Document, SupportingDocument

ONE = Document(id="one", text="Red. Blue. Red.")
TWO = Document(id="two", text="Blue. Green.")


def place(piece):
    return piece.document_id, piece.start, piece.end


def test_the_first_occurrence_in_the_first_document_is_taken():
    assert place(locate(SupportingDocument(text="Blue."), [ONE, TWO])) == ("one", 5, 10)
    assert place(locate(SupportingDocument(text="Green."), [ONE, TWO])) == ("two", 6, 12)


def test_a_position_that_the_event_gave_is_kept_where_the_text_stands_there():
    given_piece = SupportingDocument(text="Red.", document_id="one", start=11, end=15)
    assert locate(given_piece, [ONE, TWO]) == given_piece


def test_a_wrong_position_is_put_right():
    for wrong in ({"start": 1, "end": 5}, {"start": 11, "end": 99}, {"start": 900, "end": 904}):
        piece = SupportingDocument(text="Red.", document_id="one", **wrong)
        assert place(locate(piece, [ONE, TWO])) == ("one", 0, 4)


def test_a_position_in_an_unknown_document_is_put_right():
    piece = SupportingDocument(text="Green.", document_id="gone", start=6, end=12)
    assert place(locate(piece, [ONE, TWO])) == ("two", 6, 12)


def test_text_that_stands_nowhere_has_no_offsets():
    piece = locate(SupportingDocument(text="red.", document_id="one", start=0, end=4), [ONE, TWO])
    assert (piece.start, piece.end) == (None, None)
    assert piece.text == "red."


def test_nothing_is_located_in_no_documents():
    assert locate(SupportingDocument(text="Red."), []) == SupportingDocument(text="Red.")


def test_an_empty_piece_is_left_as_it_is():
    assert locate(SupportingDocument(text=""), [ONE]) == SupportingDocument(text="")


@given(st.text(alphabet="ab é文🤷", max_size=8), st.lists(st.text(alphabet="ab é文🤷", max_size=20), max_size=4))
def test_a_located_piece_is_the_text_at_its_place(text, documents):
    found = locate(SupportingDocument(text=text), [Document(id=str(n), text=t) for n, t in enumerate(documents)])
    assert found.text == text
    if text and any(text in document for document in documents):
        assert documents[int(found.document_id)][found.start : found.end] == text
    else:
        assert place(found) == (None, None, None)
