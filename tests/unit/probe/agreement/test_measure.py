from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import BudgetSpent, Spend
from monitor.probe.agreement.coefficients import Agreement
from monitor.probe.agreement.labels import ScoredAnswer
from monitor.probe.agreement.measure import measure
from monitor.probe.contexts import NoContexts

HUMAN = {"a": 5, "b": 3, "c": 1, "d": 0}
LABELS = [ScoredAnswer(question=f"{name}?", reference="R.", answer=name, score=score) for name, score in HUMAN.items()]


@dataclass
class FakeGrader:
    """Gives the scores of each answer; one more to each where there are contexts."""

    scores: dict
    model: str = "fake"
    asked: list = field(default_factory=list)

    def grade(self, *, question, contexts, reference, answer, deadline=None):
        self.asked.append((question, tuple(contexts), reference, answer))
        scores = self.scores[answer]
        if isinstance(scores, Exception):
            raise scores
        return Grade(scores=tuple(score + bool(contexts) for score in scores), spend=Spend(calls=len(scores)))


class OneContext:
    def find(self, question, reference):
        return [f"{question} {reference}"]


def test_each_kind_of_contexts_is_measured():
    grader = FakeGrader({"a": [4], "b": [3], "c": [1], "d": [0]})
    with_one, none = measure(LABELS, {"one": OneContext(), "none": NoContexts()}, grader, repeats=1, concurrency=2)
    assert (with_one.contexts, none.contexts) == ("one", "none")
    assert with_one.agreement.bias == pytest.approx(3 / 4)
    assert none.agreement.bias == pytest.approx(-1 / 4)
    assert (none.agreement.count, none.ungraded, none.spend.calls) == (4, 0, 4)
    assert ("a?", ("a? R.",), "R.", "a") in grader.asked


def test_answers_without_a_grade_are_counted_and_left_out():
    grader = FakeGrader({"a": [5], "b": [], "c": [1], "d": []})
    found = measure(LABELS, {"none": NoContexts()}, grader, repeats=1, concurrency=1)[0]
    assert found.ungraded == 2
    assert found.agreement == Agreement(count=2, pearson=1.0, spearman=1.0, kappa=1.0, bias=0.0)


def test_the_tilt_is_the_first_order_less_the_second_where_all_judgings_succeeded():
    grader = FakeGrader({"a": [5, 4], "b": [3, 3], "c": [2, 1], "d": [0]})
    found = measure(LABELS, {"none": NoContexts()}, grader, repeats=2, concurrency=3)[0]
    assert found.tilt == pytest.approx(2 / 3)


@pytest.mark.parametrize(("repeats", "scores"), [(1, [5]), (2, [5]), (2, [])])
def test_there_is_no_tilt_without_both_orders(repeats, scores):
    grader = FakeGrader(dict.fromkeys(HUMAN, scores))
    assert measure(LABELS, {"none": NoContexts()}, grader, repeats=repeats, concurrency=1)[0].tilt is None


def test_a_spent_budget_ends_it():
    grader = FakeGrader({"a": BudgetSpent("spent"), "b": [3], "c": [1], "d": [0]})
    with pytest.raises(BudgetSpent):
        measure(LABELS, {"none": NoContexts()}, grader, repeats=1, concurrency=1)
