"""The work of examining chunks grows with what was retrieved, and no faster.

Work is counted, not timed: lines that the interpreter runs, and bytes of memory. tests/unit/assess/test_growth.py times
it.
"""

from __future__ import annotations

import sys
import tracemalloc
from itertools import product
from string import ascii_lowercase

import numpy as np
import pytest

from monitor.assess.chunks.examine import Retrieved, examine
from monitor.assess.chunks.rank import kendall_tau
from monitor.assess.chunks.redundant import tfidf
from monitor.assess.chunks.relevance import bm25, max_sim, read_question
from monitor.assess.chunks.segment import MOST_CHUNKS, most_promising
from monitor.assess.embed.hashing import HashEmbedder
from monitor.assess.embed.sentences import LONGEST
from monitor.core.evidence import AlignedSentence
from monitor.core.model import Verdict
from tests.factories.assess.cuts import a_cut, hashed_cuts, tokens_of
from tests.rig.assess.shapes import SHAPES

ENCODER = HashEmbedder()
QUESTION = "What does the Kalo cost, and what does the museum charge for parking per hour?"
TWICE = 2.3  # times the work for twice as much: 2 are linear, 4 quadratic
WORDS = [f"{a}{b}{c}" for a, b, c in product(ascii_lowercase, repeat=3)]


def steps(work):
    """How many lines the interpreter runs for `work`; one that loops counts for each pass."""
    taken = 0

    def trace(_frame, event, _):
        nonlocal taken
        taken += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return taken


def peak(work):
    """How many bytes `work` needs at most at a time."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def examination(documents, question=QUESTION, alignment=()):
    """The examination of what is encoded already."""
    retrieved = Retrieved(texts=documents, tokens=ENCODER.encode(documents), sentences=ENCODER.sentences(documents))
    asked = read_question(question, ENCODER.encode([question])[0], ENCODER.sentences([question])[0])
    return lambda: examine(asked, retrieved, Verdict.GROUNDED, alignment)


def unlike(number):
    return f"{WORDS[number].capitalize()} {WORDS[-number]} costs {number} euros."


DOCUMENTS = {
    "unlike documents": lambda count: [unlike(number) for number in range(count)],
    "the same document": lambda count: ["The museum opens at ten and closes at six."] * count,
    "one-word documents": lambda count: [WORDS[number] for number in range(count)],
}
LONG = ("numbered sentences", "one-word sentences", "capitals", "Chinese", "lines", "one word", "figures")


@pytest.mark.parametrize("kind", DOCUMENTS)
@pytest.mark.parametrize("count", [MOST_CHUNKS // 4, 2 * MOST_CHUNKS])
def test_twice_the_documents_take_twice_the_work(kind, count):
    few, many = (steps(examination(DOCUMENTS[kind](n))) for n in (count, 2 * count))
    quadratic = kind == "the same document" and count < MOST_CHUNKS  # all pairs are alike, but their number is bounded
    assert many <= few * (2 * TWICE if quadratic else TWICE)


@pytest.mark.parametrize("shape", LONG)
def test_a_document_twice_as_long_takes_twice_the_work(shape):
    # From here on there are more chunks than are compared with one another; pairs of fewer would grow faster.
    short, long = (steps(examination([SHAPES[shape](size)])) for size in (80_000, 160_000))
    assert long <= short * TWICE


@pytest.mark.parametrize("shape", LONG)
def test_a_question_twice_as_long_takes_at_most_twice_the_work(shape):
    documents = DOCUMENTS["unlike documents"](2 * MOST_CHUNKS)
    short, long = (steps(examination(documents, SHAPES[shape](size))) for size in (20_000, 40_000))
    assert long <= short * TWICE


def test_twice_the_sentences_of_an_answer_take_at_most_twice_the_work():
    def alignment(count):
        pair = {"answer_start": 0, "answer_end": 1, "document_id": "d", "start": 0, "end": 1, "score": 1.0}
        return [AlignedSentence(document=number % 50, **pair) for number in range(count)]

    documents = DOCUMENTS["unlike documents"](50)
    few, many = (steps(examination(documents, alignment=alignment(count))) for count in (100, 200))
    assert many <= few * TWICE


@pytest.mark.parametrize("work", [most_promising, lambda chunks, question: bm25(question, chunks)])
def test_the_words_of_the_question_and_the_chunks_are_not_multiplied(work):
    def of(count):
        chunks = [a_cut(WORDS[number], document=number) for number in range(count)]
        return steps(lambda: work(chunks, " ".join(WORDS[: 10 * count])))

    assert of(4 * MOST_CHUNKS) <= of(2 * MOST_CHUNKS) * TWICE


def test_max_sim_takes_room_for_a_part_of_a_long_question_only():
    question = tokens_of([{"vector": [1, 0], "weight": 1}]).repeat(100_000)
    document = tokens_of([{"vector": [1, 0]}]).repeat(LONGEST)
    document["start"] = np.arange(LONGEST)
    chunk = a_cut(end=LONGEST)
    assert max_sim(question, [chunk], [document]).tolist() == [1]
    assert peak(lambda: max_sim(question, [chunk], [document])) < 8 * question.nbytes


def test_words_that_no_two_chunks_share_take_no_room():
    text = " ".join(WORDS)
    chunks = hashed_cuts(*(text[at : at + LONGEST] for at in range(0, len(text), LONGEST)))[:MOST_CHUNKS]
    words = len({word for chunk in chunks for word in chunk.words})
    assert peak(lambda: tfidf(chunks)) < len(chunks) * words * 8 / 4


def test_the_order_of_many_documents_takes_little_work():
    chunks = [a_cut(document=number) for number in range(MOST_CHUNKS)]
    assert steps(lambda: kendall_tau(range(MOST_CHUNKS)[::-1], chunks)) < 15 * MOST_CHUNKS
