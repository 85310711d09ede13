from __future__ import annotations

import math
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.embed.batch import Ragged, embed_batch
from monitor.assess.score.adaptability import adaptability, best_pair
from monitor.core.model import Scores
from tests.factories.assess.interactions import TableEmbedder, interaction, support

NAMES = ("sdq", "sdrd", "sda", "qrd", "qa")
CLOSE = 1e-5

# Ten texts with fixed directions in four dimensions, some of them opposite; their lengths differ by their names.
_RANDOM = np.random.default_rng(7)
TEXTS = ["a", "bb", "ccc", "dddd", "eeeee", "ffffffff", "g" * 20, "h" * 50, "-a", "-bb"]
TABLE = {text: _RANDOM.normal(size=4).tolist() for text in TEXTS[:8]}
TABLE |= {"-a": [-x for x in TABLE["a"]], "-bb": [-x for x in TABLE["bb"]]}

texts = st.sampled_from(["", " \n\t", *TEXTS])
lists = st.lists(texts, max_size=5)
parts = st.tuples(texts, texts, lists, lists)


def scored(*rows, table=TABLE) -> list[Scores]:
    """One score per (question, answer, retrieved documents, supporting documents)."""
    interactions = [interaction(question, answer, documents) for question, answer, documents, _ in rows]
    supports = [support(*pieces) for *_, pieces in rows]
    return adaptability(embed_batch(interactions, supports, TableEmbedder(table)))


def values(scores: Scores) -> list[float | None]:
    return [*asdict(scores.joined).values(), *asdict(scores.maximum).values()]


def same(left: Scores, right: Scores) -> bool:
    pairs = zip(values(left), values(right), strict=True)
    close = all(a == b or (None not in (a, b) and math.isclose(a, b, abs_tol=CLOSE)) for a, b in pairs)
    return close and left.undefined == right.undefined


# --- figures by hand -------------------------------------------------------------------------------------------------

AXES = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1), "-x": (-1, 0, 0), "xxx": (1, 0, 0), "xy": (1, 1, 0)}


def test_five_cosines_of_a_single_document_are_the_textbook_ones():
    # question x, answer xy (at 45°), retrieved y, support xy
    (got,) = scored(("x", "xy", ["y"], ["xy"]), table=AXES)
    half = math.sqrt(0.5)
    assert asdict(got.joined) == pytest.approx({"sdq": half, "sdrd": half, "sda": 1, "qrd": 0, "qa": half}, abs=CLOSE)
    assert got.undefined == {}


def test_joined_documents_weigh_by_their_length():
    # "xxx" is three characters long and "y" one, so the joined vector is (3, 1, 0) / √10
    (got,) = scored(("x", "y", ["xxx", "y"], ["z"]), table=AXES)
    assert got.joined.qrd == pytest.approx(3 / math.sqrt(10), abs=CLOSE)
    assert got.maximum.qrd == pytest.approx(1, abs=CLOSE)
    assert got.joined.sdrd == pytest.approx(0, abs=CLOSE)


def test_the_maximum_takes_the_best_document_and_the_best_pair():
    (got,) = scored(("x", "z", ["-x", "y", "xy"], ["z", "y"]), table=AXES)
    assert got.maximum.qrd == pytest.approx(math.sqrt(0.5), abs=CLOSE)
    assert got.maximum.sdrd == pytest.approx(1, abs=CLOSE)
    assert got.maximum.sda == pytest.approx(1, abs=CLOSE)
    assert got.maximum.sdq == pytest.approx(0, abs=CLOSE)


def test_the_maximum_of_one_opposite_document_is_negative_and_not_zero():
    (got,) = scored(("x", "x", ["-x"], ["-x"]), table=AXES)
    assert asdict(got.maximum) == pytest.approx({"sdq": -1, "sdrd": 1, "sda": -1, "qrd": -1, "qa": 1}, abs=CLOSE)


def test_question_and_answer_have_one_reading_only():
    (got,) = scored(("x", "xy", ["y", "z"], ["z", "x"]), table=AXES)
    assert got.maximum.qa == got.joined.qa


def test_documents_that_cancel_out_give_no_nan():
    (got,) = scored(("x", "x", ["x", "x", "-x"], ["x"]), table={"x": (1, 0, 0), "-x": (-2, 0, 0)})
    assert got.joined.qrd == 0
    assert got.maximum.qrd == pytest.approx(1, abs=CLOSE)


def test_rounding_never_leads_below_minus_one():
    # A float32 unit vector whose product with itself is 1.0000002.
    rows = _RANDOM.normal(size=(2000, 8)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    count = len(rows)
    vectors = np.concatenate([np.zeros((1, 8), np.float32), rows, -rows])
    starts = np.arange(count + 1)
    left, right = np.arange(1, count + 1), np.arange(count + 1, 2 * count + 1)
    assert (vectors[left] * vectors[left]).sum(axis=1).max() > 1  # else this test shows nothing
    opposite = best_pair(vectors, Ragged(items=left, starts=starts), Ragged(items=right, starts=starts))
    equal = best_pair(vectors, Ragged(items=left, starts=starts), Ragged(items=left, starts=starts))
    assert opposite.min() >= -1
    assert equal.max() <= 1


# --- what is missing -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nothing", ["", " ", "\n\t\u00a0\u2003"])
@pytest.mark.parametrize(
    ("place", "undefined"),
    [
        ("question", {"sdq": "empty_question", "qrd": "empty_question", "qa": "empty_question"}),
        ("answer", {"sda": "empty_answer", "qa": "empty_answer"}),
        (
            "documents",
            {"sdq": "no_documents", "sdrd": "no_documents", "sda": "no_documents", "qrd": "no_documents"},
        ),
        ("support", {"sdq": "no_support", "sdrd": "no_support", "sda": "no_support"}),
    ],
)
def test_a_missing_text_leaves_its_metrics_undefined_and_says_which_is_missing(nothing, place, undefined):
    given_texts = {"question": "x", "answer": "y", "documents": ["y"], "support": ["y"]}
    given_texts[place] = nothing if place in ("question", "answer") else [nothing]
    if place == "documents":  # where nothing was retrieved there is no support either
        given_texts["support"] = []
    (got,) = scored(tuple(given_texts.values()), table=AXES)
    assert got.undefined == undefined
    for reading in (got.joined, got.maximum):
        assert {name for name, value in asdict(reading).items() if value is None} == set(undefined)


def test_support_without_documents_is_compared_with_the_texts_that_are_there():
    (got,) = scored(("x", "y", [], ["xy"]), table=AXES)
    assert got.undefined == {"sdrd": "no_documents", "qrd": "no_documents"}
    assert got.joined.sdq == pytest.approx(math.sqrt(0.5), abs=CLOSE)


def test_every_metric_names_its_missing_text():
    (got,) = scored(("", "", [], []))
    assert set(got.undefined) == set(NAMES)
    assert values(got) == [None] * 10


def test_an_empty_document_among_others_changes_nothing():
    assert same(*scored(("a", "bb", ["ccc", "dddd"], ["ccc"]), ("a", "bb", ["", "ccc", " \n", "dddd"], ["ccc", ""])))


def test_an_empty_batch_gives_no_scores():
    assert scored() == []


# --- properties ------------------------------------------------------------------------------------------------------


@given(st.lists(parts, max_size=8))
def test_values_lie_between_minus_one_and_one_or_are_undefined_with_a_reason(rows):
    for got in scored(*rows):
        assert all(value is None or -1 <= value <= 1 for value in values(got))  # NaN fails the comparison
        for reading in (got.joined, got.maximum):
            assert {name for name, value in asdict(reading).items() if value is None} == set(got.undefined)
        assert set(got.undefined.values()) <= {"no_documents", "no_support", "empty_question", "empty_answer"}


@given(st.lists(parts, max_size=8))
def test_a_batch_scores_each_interaction_as_if_it_were_alone(rows):
    # Lists without documents at the start, in the middle and at the end must not shift the sums of their neighbours.
    together = scored(*rows)
    assert all(same(got, scored(row)[0]) for got, row in zip(together, rows, strict=True))


@pytest.mark.parametrize("place", [0, 1, 2, 3])
def test_an_interaction_without_documents_takes_nothing_from_its_neighbours(place):
    rows = [("a", "bb", ["ccc"], ["ccc"]), ("a", "bb", ["-a", "ccc"], ["-a"]), ("ccc", "a", ["dddd"], ["dddd"])]
    alone = scored(*rows)
    with_gap = scored(*rows[:place], ("a", "bb", [], []), *rows[place:])
    gap = with_gap.pop(place)
    assert set(gap.undefined) == {"sdq", "sdrd", "sda", "qrd"}
    assert all(same(left, right) for left, right in zip(with_gap, alone, strict=True))


@given(parts, st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(row, random):
    question, answer, documents, pieces = row
    shuffled = question, answer, random.sample(documents, len(documents)), random.sample(pieces, len(pieces))
    assert same(*scored(row, shuffled))


@given(texts, texts, texts, texts)
def test_both_readings_agree_on_single_documents(question, answer, document, piece):
    (got,) = scored((question, answer, [document], [piece]))
    assert asdict(got.joined) == pytest.approx(asdict(got.maximum), abs=CLOSE)


@given(parts)
def test_the_maximum_is_the_highest_of_the_single_documents(row):
    question, answer, documents, pieces = row
    got, *singles = scored(row, *((question, answer, [d], [p]) for d in documents for p in pieces))
    for name in NAMES:
        each = [value for single in singles if (value := getattr(single.joined, name)) is not None]
        highest = getattr(got.maximum, name)
        if each:
            assert highest == pytest.approx(max(each), abs=CLOSE)


@given(parts)
def test_giving_every_document_twice_changes_nothing(row):
    question, answer, documents, pieces = row
    assert same(*scored(row, (question, answer, documents * 2, pieces * 2)))
