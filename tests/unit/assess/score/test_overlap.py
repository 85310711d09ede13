"""Overlap compared with a plain count over sets and strings."""

from __future__ import annotations

from dataclasses import asdict
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assess.score import overlap as module
from monitor.assess.score.overlap import GRAM, Overlap, overlap
from monitor.core.text.cache import LONGEST_CACHED
from monitor.core.text.words import stems

NAMES = ("content", "new_content", "bigrams", "quoted", "copied")
NOTHING = Overlap(content=None, new_content=None, bigrams=None, quoted=None, copied=None)
FACT = "Deleted snapshots are kept for thirty days."


def share(held):
    return sum(held) / len(held) if held else None


def counted(answer, question, documents):
    words = stems(answer)
    content = [word for word in words if word not in module._COMMON]
    held = {word for document in documents for word in stems(document)}
    pairs = {pair for document in documents for pair in pairwise(stems(document))}
    plain = [" ".join(text.casefold().split()) for text in (answer, *documents)]
    found = [
        any(plain[0][at : at + GRAM] in document for document in plain[1:])
        for at in range(max(0, len(plain[0]) - GRAM + 1))
    ]
    runs = "".join("x" if each else " " for each in found).split()
    return Overlap(
        content=share([word in held for word in content]),
        new_content=share([word in held for word in content if word not in stems(question)]),
        bigrams=share([pair in pairs for pair in pairwise(words)]),
        quoted=share(found),
        copied=max(map(len, runs), default=0) / len(found) if found else None,
    )


words = st.sampled_from(
    ["snapshot", "Snapshots", "kept", "for", "the", "30", "days", "in", "Köln", "今天", "下雨了", "。", "."]
)
texts = st.lists(words, max_size=14).map(" ".join)
odd = texts | st.text(st.sampled_from("aab \n.É今天🙂\x00\ud800"), max_size=40) | st.text(max_size=40)


@given(odd, odd, st.lists(odd, max_size=3))
def test_agrees_with_counting(answer, question, documents):
    assert asdict(overlap(answer, question, documents)) == pytest.approx(asdict(counted(answer, question, documents)))


@given(texts, st.lists(texts, max_size=3))
def test_shares_lie_between_zero_and_one_and_more_documents_take_none_away(answer, documents):
    fewer, more = overlap(answer, "", documents[:1]), overlap(answer, "", documents)
    for name in NAMES:
        low, high = getattr(fewer, name), getattr(more, name)
        assert (low is None) == (high is None)
        assert low is None or 0 <= low <= high <= 1


@given(odd)
def test_an_answer_is_wholly_held_by_itself(answer):
    assert set(asdict(overlap(answer, "", [answer])).values()) <= {1.0, None}


def test_by_hand():
    got = overlap("The snapshots vanish soon.", "When do snapshots vanish?", ["snapshots stay soon"])
    assert got.content == pytest.approx(2 / 3)  # snapshots and soon of snapshots, vanish, soon
    assert got.new_content == 1  # soon
    assert got.bigrams == 0
    assert got.quoted == pytest.approx(3 / 19)  # "snapshot", "napshots", "apshots " of 26 - 7 pieces
    assert got.copied == pytest.approx(3 / 19)


def test_the_longest_run_counts_and_not_their_sum():
    answer = f"{FACT} Meanwhile nobody answers. {FACT[:20]}"
    got = overlap(answer, "", [FACT])
    assert got.copied == pytest.approx((len(FACT) - GRAM + 1) / (len(answer) - GRAM + 1))
    assert got.quoted > got.copied


def test_a_run_may_go_on_from_one_document_to_another():
    got = overlap("kept for thirty days in Berlin", "", ["kept for thirty da", "thirty days in Berlin"])
    assert (got.quoted, got.copied) == (1, 1)


def test_repeated_pieces_count_each_time():
    one = overlap("snapshots vanish", "", ["snapshots"])
    twice = overlap("snapshots snapshots vanish", "", ["snapshots"])
    assert (one.content, twice.content) == (pytest.approx(1 / 2), pytest.approx(2 / 3))


def test_scripts_without_spaces_are_counted_by_pairs_of_characters():
    held = overlap("快照保存三十天", "", ["删除的快照保存三十天。"])
    other = overlap("快照保存九十天", "", ["删除的快照保存三十天。"])
    assert held.content == held.bigrams == 1
    assert other.content == pytest.approx(4 / 6)
    assert overlap("データは三十日間保存されます", "", ["無関係な文"]).content == 0


def test_case_and_white_space_and_endings_do_not_count():
    got = overlap("KEPT  for\nthirty\tdays", "", ["kept for thirty days"])
    assert set(asdict(got).values()) == {1.0}
    assert overlap("retained", "", ["retaining"]).content == 1


@pytest.mark.parametrize("answer", ["", " \n", "...", "\x00", "🙂"])
def test_an_answer_without_words_has_no_shares(answer):
    assert overlap(answer, "What?", [FACT]) == NOTHING


def test_an_empty_whole_has_no_share():
    got = overlap("is it", "", [FACT])
    assert (got.content, got.new_content, got.quoted, got.copied) == (None, None, None, None)
    assert got.bigrams == 0
    got = overlap("vanish", "vanish?", [FACT])
    assert (got.content, got.new_content, got.bigrams) == (0, None, None)
    assert overlap("12345678", "", [FACT]).quoted == 0


@pytest.mark.parametrize("documents", [[], [""], ["", " \n"], ["short"]])
def test_without_documents_nothing_is_held(documents):
    assert set(asdict(overlap("Snapshots vanish soon.", "", documents)).values()) == {0.0}


def test_documents_too_long_to_be_remembered_are_read_all_the_same():
    filler = "Unrelated words fill this page. " * (LONGEST_CACHED // 30)
    assert len(filler) > LONGEST_CACHED
    got = overlap(FACT, "", [filler + FACT])
    assert set(asdict(got).values()) == {1.0}


@pytest.mark.parametrize("piece", ["a", " ", "a ", ".", "\n", "今", "🙂", "a.", "aaaaaaaa "])
def test_long_runs_of_one_sign_are_counted(piece):
    text = piece * (60_000 // len(piece))
    assert set(asdict(overlap(text, text, [text])).values()) <= {1.0, None}
    assert set(asdict(overlap(text, "", ["zzzzzzzzz"])).values()) <= {0.0, None}
