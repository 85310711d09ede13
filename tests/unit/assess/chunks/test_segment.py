"""Documents are cut so that nothing is lost, and nothing grows, whatever the text. By hand: tests/golden/chunks/."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.chunks.segment import LONGEST_HEADING, MOST_CHUNKS, cut_documents, most_promising, segment
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.sentences import LONGEST, sentences_of
from monitor.core.text.words import stems
from tests.factories.assess.cuts import a_cut, hashed_cuts, vectors_of

HOSTILE = {
    "empty": "",
    "white space": " \n\t\u2028\x1c",
    "surrogates": "\ud800 before \udfff after. \ud83d",
    "U+0000": "\x00",
    "U+0000 within": "a\x00b. \x00 C",
    "no space": "x" * 100_000,
    "no space, in Chinese": "文" * 20_000,
    "sentences in Chinese": "今天下雨。" * 500,
    "only marks": "!?…" * 2_000,
    "marks and lines": "***\n---\n\n|||\n" * 200,
    "combining marks": "\u0301" * 3_000,
    "spaces within": "a" + " " * 5_000 + "b",
    "bare lines": "\n".join("ABCDEFGH" * 200),
    "emoji": "👩‍👩‍👧‍👦" * 300,
    "right to left": "\u202eא ב. " * 300,
}
odd = st.text(alphabet=st.sampled_from("aAb1é.!?…。'\")\n\t\r -*•文\u00a0\u2028\x1c\x00\ud800\u0301"), max_size=200)
texts = odd | st.text(max_size=100)
thetas = st.floats(-1, 1)


def random_vectors(text, seed=0, dimensions=3):
    """Unit vectors by chance, of which about every fourth is zero."""
    chance = np.random.default_rng(seed)
    rows = chance.standard_normal((len(sentences_of(text)), dimensions))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    rows[chance.random(len(rows)) < 0.25] = 0
    return rows.astype(np.float16)


def check(found, text, document=0):
    """Chunks hold every character that is not white space, once, in order, and none is too long."""
    spans = [(chunk.start, chunk.end) for chunk in found]
    assert all(0 <= start < end <= len(text) and end - start <= LONGEST for start, end in spans)
    assert all(before[1] <= after[0] for before, after in pairwise(spans))
    assert all(text[start:end] == text[start:end].strip() for start, end in spans)
    edges = [0, *(place for span in spans for place in span), len(text)]
    assert not any(text[a:b].strip() for a, b in zip(edges[::2], edges[1::2], strict=True))
    assert {chunk.document for chunk in found} <= {document}


@given(texts, st.integers(0, 9))
def test_chunks_cover_the_text_whatever_the_vectors(text, seed):
    check(cut_documents([text], [random_vectors(text, seed)]), text)


@pytest.mark.parametrize("kind", HOSTILE)
def test_chunks_cover_hostile_texts(kind):
    check(hashed_cuts(HOSTILE[kind]), HOSTILE[kind])
    check(cut_documents([HOSTILE[kind]], [random_vectors(HOSTILE[kind])]), HOSTILE[kind])


@given(texts, thetas, st.integers(0, 9))
def test_each_sentence_is_in_one_chunk_in_order_whatever_theta(text, theta, seed):
    spans = [a_cut(start=start, end=end) for start, end in sentences_of(text)]
    sentences = [Titled(span, index % 3 == seed % 3) for index, span in enumerate(spans)]
    found = segment(sentences, random_vectors(text, seed), theta=theta)
    assert [number for chunk in found for number in chunk] == list(range(len(sentences)))
    assert all(len(chunk) for chunk in found)
    assert all(sentences[chunk[-1]].end - sentences[chunk[0]].start <= LONGEST for chunk in found)


class Titled:
    """A sentence with the place of a span."""

    def __init__(self, span, heading):
        self.start, self.end, self.heading = span.start, span.end, heading


@given(st.integers(0, 12), thetas, thetas, st.integers(0, 9))
def test_a_higher_theta_cuts_wherever_a_lower_one_does(count, one, other, seed):
    sentences = [Titled(span, False) for span in short_sentences(count)]
    lower, higher = (
        {chunk[0] for chunk in segment(sentences, random_vectors("Kalo. " * count, seed), theta=theta)}
        for theta in sorted((one, other))
    )
    assert lower <= higher


@given(st.lists(st.booleans(), max_size=12), thetas, st.integers(0, 9))
def test_no_chunk_but_the_last_ends_after_headings_alone(headings, theta, seed):
    sentences = [Titled(*each) for each in zip(short_sentences(len(headings)), headings, strict=True)]
    for chunk in segment(sentences, random_vectors("Kalo. " * len(headings), seed), theta=theta)[:-1]:
        assert not all(headings[number] for number in chunk)


def short_sentences(count):
    """So many sentences that all of them fit into a chunk."""
    return [a_cut(start=start, end=end) for start, end in sentences_of("Kalo. " * count)]


@given(st.lists(texts, max_size=4))
def test_documents_keep_their_numbers_and_are_cut_as_if_alone(documents):
    found = hashed_cuts(*documents)
    assert [chunk.document for chunk in found] == sorted(chunk.document for chunk in found)
    for number, text in enumerate(documents):
        own = [chunk for chunk in found if chunk.document == number]
        check(own, text, number)
        alone = hashed_cuts(text)
        assert [(c.start, c.end, c.words, c.numbers) for c in own] == [
            (c.start, c.end, c.words, c.numbers) for c in alone
        ]
        np.testing.assert_array_equal([c.vector for c in own], [c.vector for c in alone])


@given(texts, st.integers(0, 9))
def test_a_chunk_has_a_unit_vector_or_none(text, seed):
    for chunk in cut_documents([text], [random_vectors(text, seed)]):
        assert np.linalg.norm(chunk.vector) == pytest.approx(1, abs=1e-3) or not chunk.vector.any()


@given(odd)
def test_a_chunk_has_the_words_of_its_sentences(text):
    found = hashed_cuts(text)
    said = [stem for start, end in sentences_of(text) for stem in stems(text[start:end])]
    assert sorted(word for chunk in found for word in chunk.words.elements()) == sorted(said)


@pytest.mark.parametrize("end", [".", "!", "?", ":", "…", "。", '."', ".)", ",", "؟"])
def test_a_line_that_ends_like_a_sentence_is_no_heading(end):
    text = f"Parking{end}\n\nDogs stay outside."
    assert len(cut_documents([text], [vectors_of([[1, 0], [0, 1]])])) == 2


@pytest.mark.parametrize(("length", "chunks"), [(LONGEST_HEADING, 1), (LONGEST_HEADING + 1, 2)])
def test_a_long_line_is_no_heading(length, chunks):
    text = "P" * length + "\n\nDogs stay outside."
    assert len(cut_documents([text], [vectors_of([[1, 0], [0, 1]])])) == chunks


def test_vectors_of_another_text_are_refused():
    with pytest.raises(ValueError, match=r"zip\(\)"):
        cut_documents(["One.", "Two."], [vectors_of([[1, 0]])])


def test_up_to_the_limit_all_chunks_are_examined():
    chunks = [a_cut("stone", start=at, end=at + 1) for at in range(MOST_CHUNKS)]
    assert most_promising(chunks, "Where?") == (chunks, 1.0)
    assert most_promising([], "Where?") == ([], 1.0)


def test_of_more_chunks_those_that_hold_most_words_of_the_question_are_examined_in_their_order():
    asked, half, other = "parking hours", "parking", "stone"
    texts = [other, half, asked] * MOST_CHUNKS
    chunks = [a_cut(text, start=at * 10, end=at * 10 + 2) for at, text in enumerate(texts)]
    kept, share = most_promising(chunks, "What are the parking hours?")
    assert kept == [chunk for chunk in chunks if len(chunk.words) == 2]
    assert share == pytest.approx(1 / 3)


def test_of_chunks_that_hold_as_much_the_first_are_examined():
    chunks = [a_cut("stone", start=at * 10, end=at * 10 + 1) for at in range(MOST_CHUNKS)]
    late = a_cut("parking", start=MOST_CHUNKS * 10, end=MOST_CHUNKS * 10 + MOST_CHUNKS)
    kept, share = most_promising([*chunks, late], "parking")
    assert kept == [*chunks[:-1], late]
    assert share == pytest.approx((2 * MOST_CHUNKS - 1) / (2 * MOST_CHUNKS))


def test_hashed_vectors_cut_where_sentences_have_nothing_in_common():
    (one,) = hashed_cuts("parking is free. parking is free.")
    assert (one.start, one.end) == (0, 33)
    assert len(hashed_cuts("Parking costs two euros here. Dogs stay outside please.")) == 2
    assert HashEmbedder().sentences([""])[0].shape == (0, 64)
