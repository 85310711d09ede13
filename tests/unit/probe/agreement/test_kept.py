"""Grades that are kept as they come."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

import pytest

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import BudgetSpent, Spend
from monitor.core.errors import Fatal, WrongSettings
from monitor.probe.agreement.kept import KeptGrader


@dataclass
class FakeGrader:
    grades: dict
    model: str = "fake"
    asked: list = field(default_factory=list)

    def grade(self, *, question, contexts, reference, answer, deadline=None):
        self.asked.append(answer)
        found = self.grades[answer]
        if isinstance(found, Exception):
            raise found
        return found


FIVE = Grade(scores=(5, 4), feedback="Fine.", spend=Spend(calls=2))
NONE = Grade(scores=(), reason="truncated", spend=Spend(calls=2))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "grades.jsonl"


def kept(grades, path, **given):
    return KeptGrader(FakeGrader(grades, **given), judging=("prompts", "2"), path=path)


def grade(grader, answer, contexts=("C.",)):
    return grader.grade(question="Q?", contexts=contexts, reference="R.", answer=answer)


def test_a_second_call_goes_on_where_the_first_was_stopped(file):
    first = kept({"a": FIVE, "b": NONE, "c": BudgetSpent("spent")}, file)
    assert (grade(first, "a"), grade(first, "b")) == (FIVE, NONE)
    with pytest.raises(BudgetSpent):
        grade(first, "c")
    second = kept({"c": FIVE}, file)
    assert grade(second, "a") == Grade(scores=(5, 4))
    assert grade(second, "b") == Grade(scores=(), reason="truncated")
    assert grade(second, "c") == FIVE
    assert (second.reused, second.kept) == (2, 3)
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [row["scores"] for row in rows] == [[5, 4], [], [5, 4]]
    assert (rows[0]["model"], rows[0]["answer"], rows[0]["feedback"]) == ("fake", "a", "Fine.")


@pytest.mark.parametrize("path", [True, False])
def test_what_the_judge_has_seen_is_judged_once(file, path):
    grader = kept({"a": FIVE}, file if path else None)
    grade(grader, "a")
    grade(grader, "a")
    grade(grader, "a", contexts=())
    assert (grader.kept, grader.reused, len(grader._grader.asked)) == (2, 1, 2)
    assert file.exists() == path


def test_grades_of_another_model_are_no_grades(file):
    grade(kept({"a": FIVE}, file), "a")
    other = kept({"a": NONE}, file, model="other")
    assert grade(other, "a") == NONE
    assert len(file.read_text().splitlines()) == 2


def test_a_line_that_was_cut_off_is_judged_again(file):
    first = kept({"a": FIVE, "b": FIVE}, file)
    grade(first, "a")
    whole = file.read_bytes()
    grade(first, "b")
    for end in (1, len(whole) - 1, 3):
        file.write_bytes((whole + file.read_bytes()[len(whole) :])[: len(whole) + end])
        again = kept({"b": FIVE}, file)
        assert again.kept == 1
        grade(again, "b")
        assert kept({}, file).kept == 2


@pytest.mark.parametrize("text", ['{"question": "Q?"}\n', '{"question": "Q?"}', "hello", "\n", '{"key": "x"}\n'])
def test_a_file_that_holds_something_else_is_left_as_it_is(file, text):
    file.write_text(text)
    with pytest.raises(WrongSettings, match="line 1 is not a grade"):
        kept({}, file)
    assert file.read_text() == text


def test_a_file_that_cannot_be_written_is_named(tmp_path, file):
    with pytest.raises(WrongSettings, match="cannot be read and written"):
        kept({}, tmp_path)
    grader = kept({"a": FIVE}, file)
    file.unlink()
    file.mkdir()
    with pytest.raises(Fatal, match="cannot be written"):
        grade(grader, "a")
