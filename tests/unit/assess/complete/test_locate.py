from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz import fuzz

from monitor.assess.complete.locate import MOST_COMPARED, PART, PLAIN
from monitor.assess.complete.locate import locate as locate_all
from monitor.core.model import Document, Match, SupportingDocument
from tests.rig.assess.shapes import reworded

ONE = Document(id="one", text="Red. Blue. Red.")
TWO = Document(id="two", text="Blue. Green.")


def locate(piece, documents):
    (found,) = locate_all([piece], documents)
    return found


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


WORDS = [
    f"{a}{b}{c}" for a in ("lan", "mer", "sto", "vi", "que") for b in ("d", "ra", "llo") for c in ("en", "ix", "o")
]


def prose(length, seed):
    chance = Random(seed)
    return " ".join(chance.choices(WORDS, k=length // 4))[:length]


def documents_of(*texts):
    return [Document(id=f"d{n}", text=text) for n, text in enumerate(texts)]


def pieces_of(*texts):
    return [SupportingDocument(text=text) for text in texts]


@pytest.mark.parametrize("length", [120, 900, 3_000, 20_000])
def test_a_reworded_piece_is_found_in_long_documents(length):
    texts = [prose(40_000, seed) for seed in range(3)]
    start = texts[1].index(" ", 12_000) + 1
    (found,) = locate_all(pieces_of(reworded(texts[1][start : start + length], 0.03, seed=1)), documents_of(*texts))
    assert (found.document_id, found.match, found.cut_short) == ("d1", Match.FUZZY, False)
    assert abs(found.start - start) <= 30
    assert abs(found.end - start - length) <= 30


def test_case_and_white_space_do_not_matter_in_long_documents():
    text = prose(30_000, 1)
    (found,) = locate_all(
        pieces_of(text[20_000:20_400].upper().replace(" ", "\n ")), documents_of(prose(9_000, 2), text)
    )
    assert (found.document_id, found.match) == ("d1", Match.FOLDED)
    assert text[found.start : found.end] == text[20_000:20_400].strip()


def test_the_piece_s_own_document_goes_first_in_long_documents_too():
    text = prose(20_000, 1)
    documents = documents_of(text, text, text)
    piece = SupportingDocument(text=reworded(text[5_000:5_300], 0.03), document_id="d2")
    assert locate_all([piece], documents)[0].document_id == "d2"
    exact = SupportingDocument(text=text[5_000:5_300], document_id="d1")
    found = locate_all([*pieces_of(*["zz"] * PLAIN), exact], documents)[-1]
    assert (found.document_id, found.start, found.match) == ("d1", 5_000, Match.EXACT)


def test_every_one_of_many_pieces_is_found_as_the_first_ones_are():
    texts = [prose(400, seed) for seed in range(100)]
    quoted = [text[20:140].strip() for text in texts]
    found = locate_all(pieces_of(*quoted, *(text.upper() for text in quoted)), documents_of(*texts))
    starts = [text.index(piece) for text, piece in zip(texts, quoted, strict=True)]
    expected = [(f"d{n}", start, start + len(quoted[n])) for n, start in enumerate(starts)]
    assert [place(piece) for piece in found] == [*expected, *expected]
    assert [piece.match for piece in found] == [Match.EXACT] * 100 + [Match.FOLDED] * 100


def test_pieces_shorter_than_a_run_of_the_index_are_found():
    documents = documents_of(prose(9_000, 1) + " Zu Zut", prose(9_000, 2))
    found = locate_all(pieces_of(*["zz"] * PLAIN, "Zut", "zu", "ZUT", "qq"), documents)[PLAIN:]
    assert [piece.match for piece in found] == [Match.EXACT, Match.FOLDED, Match.FOLDED, None]
    assert not any(piece.cut_short for piece in found)


def test_a_search_that_is_cut_short_says_so():
    text = prose(300_000, 1)
    (found,) = locate_all(pieces_of(reworded(text, 0.03)), documents_of(text))
    assert (found.match, found.cut_short) == (None, True)
    short, long = locate_all(
        pieces_of(reworded(text[:500], 0.03), "not in there at all, not a word of it"), documents_of(text)
    )
    assert (short.match, short.cut_short) == (Match.FUZZY, False)
    assert (long.match, long.cut_short) == (None, False)


def test_a_search_among_many_alike_places_is_cut_short():
    documents = documents_of(*[f"the same words again and again, number {n} " * 200 for n in range(100)])
    (found,) = locate_all(pieces_of("the same words over and over again, but number 9 is not there"), documents)
    assert (found.match, found.cut_short) == (None, True)


def compared_characters(monkeypatch, pieces, documents):
    """The characters that rapidfuzz compares for the pieces."""
    compared = []
    original = fuzz.partial_ratio_alignment

    def counting(part, window, *, score_cutoff):
        compared.append(len(part) + len(window))
        assert len(part) <= PART
        return original(part, window, score_cutoff=score_cutoff)

    with monkeypatch.context() as patch:
        patch.setattr(fuzz, "partial_ratio_alignment", counting)
        locate_all(pieces, documents)
    return sum(compared)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_the_characters_compared_grow_with_the_piece_and_end(monkeypatch, share):
    counts = []
    for length in (8_000, 16_000, 32_000, 64_000, 128_000):
        text = prose(2 * length, 1)
        counts.append(compared_characters(monkeypatch, pieces_of(reworded(text[:length], share)), documents_of(text)))
    assert all(after <= 2.5 * before + 10_000 for before, after in pairwise(counts))
    assert max(counts) <= 2 * MOST_COMPARED


def test_the_characters_compared_do_not_grow_with_pieces_times_documents(monkeypatch):
    counts = []
    for number in (50, 100, 200, 400):
        texts = [prose(1_000, seed) for seed in range(number)]
        pieces = pieces_of(*(reworded(text[100:400], 0.2) for text in texts))
        counts.append(compared_characters(monkeypatch, pieces, documents_of(*texts)))
    assert all(after <= 2.5 * before + 10_000 for before, after in pairwise(counts))
    assert max(counts) <= 2 * MOST_COMPARED
