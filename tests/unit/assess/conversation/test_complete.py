"""What a follow-up borrows from which earlier questions, and how its reading is put together again."""

from __future__ import annotations

import pytest

from monitor.assess.conversation.complete import LONGEST_BORROWED, borrowed_ids, completed, read_again
from monitor.assess.conversation.leaning import cue_of
from monitor.assess.conversation.turn import Turn
from monitor.core.assessment_json import standalone_json
from tests.factories.answers import at

PREMIUM = "What does the premium plan cost?"


def turns(*questions):
    return [Turn(id=f"t-{n}", question=q, occurred_at=at(n)) for n, q in enumerate(questions)]


def completed_after(question, *earlier):
    cue = cue_of(question)
    assert cue is not None
    return completed(question, cue, turns(*earlier))


@pytest.mark.parametrize(
    ("earlier", "question", "expected"),
    [
        ((PREMIUM,), "And for students?", f"{PREMIUM} And for students?"),
        (("Where is the museum?", PREMIUM), "And for students?", f"{PREMIUM} And for students?"),
        # a follow-up to a follow-up borrows what that one had borrowed
        ((PREMIUM, "And for students?"), "Since when?", f"{PREMIUM} And for students? Since when?"),
        ((PREMIUM, "Why?", "thanks"), "And for students?", f"{PREMIUM} And for students?"),
        # of a long question, the last sentences
        (("Hello. " + "I have waited. " * 40 + PREMIUM,), "Why?", f"{'I have waited. ' * 24}{PREMIUM} Why?"),
    ],
)
def test_it_borrows_the_last_question_that_stands_alone_and_all_after_it(earlier, question, expected):
    assert completed_after(question, *earlier).text == expected


@pytest.mark.parametrize("earlier", [(), ("thanks",), ("Why?", ""), ("x" * (LONGEST_BORROWED + 1),)])
def test_without_words_to_lend_it_is_read_as_it_stands(earlier):
    assert completed_after("And for students?", *earlier) is None


def test_what_it_borrows_is_bounded_however_long_the_chain():
    chain = [f"What about {'very ' * 60}plan {n}?" for n in range(9)]
    found = completed_after("Why?", *chain)
    assert sum(piece.end - piece.start for piece in found.borrowed) <= LONGEST_BORROWED


def test_the_cue_and_the_pieces_are_offsets_into_what_was_asked():
    found = completed_after("And what does it cost?", f"  {PREMIUM}  ")
    assert "And what does it cost?"[found.cue_start : found.cue_end] == "it"
    assert [(p.id, p.start, p.end) for p in found.borrowed] == [("t-0", 2, 2 + len(PREMIUM))]


def stored():
    return standalone_json(completed_after("Since when?", PREMIUM, "And for students?"))


def test_the_reading_is_put_together_again_from_the_stored_turns():
    questions = {"t-0": PREMIUM, "t-1": "And for students?"}
    assert borrowed_ids(stored()) == ["t-0", "t-1"]
    read = read_again("Since when?", stored(), questions)
    assert (read.text, read.problem) == (f"{PREMIUM} And for students? Since when?", None)
    assert read.pieces == (("t-0", PREMIUM), ("t-1", "And for students?"))


@pytest.mark.parametrize(
    ("question", "questions", "problem"),
    [
        ("Since when?", {"t-1": "And for students?"}, "the turn t-0 is no longer stored, or was erased"),
        ("Since when?", {"t-0": "", "t-1": ""}, "the turn t-0 or t-1 is no longer stored, or was erased"),
        ("Since when?", {"t-0": PREMIUM.upper(), "t-1": "And for students?"}, "a turn that it leans on has changed"),
        ("Until when?", {"t-0": PREMIUM, "t-1": "And for students?"}, "a turn that it leans on has changed"),
    ],
)
def test_a_reading_that_cannot_be_put_together_says_why(question, questions, problem):
    read = read_again(question, stored(), questions)
    assert read.text is None
    assert problem in read.problem
