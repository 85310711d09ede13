from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from monitor.assess.judge.correctness.grade import Grade
from monitor.assess.llm.exchange import BudgetSpent, Spend
from monitor.probe.agreement.coefficients import Agreement
from monitor.probe.agreement.labels import ScoredAnswer
from monitor.probe.agreement.measure import Judged, compared, judge_all, measure
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
        return Grade(
            scores=tuple(score + bool(contexts) for score in scores),
            reason=None if scores else "truncated",
            spend=Spend(calls=len(scores)),
        )


class OneContext:
    def find(self, question, reference):
        return [f"{question} {reference}"]


def judged(scores, *, contexts=None, concurrency=1):
    grader = FakeGrader(scores)
    return judge_all(LABELS, contexts or {"none": NoContexts()}, grader, concurrency=concurrency), grader


def measured(scores, *, repeats=1):
    return measure(judged(scores)[0]["none"], repeats=repeats)


def test_each_kind_of_contexts_is_measured():
    kinds = {"one": OneContext(), "none": NoContexts()}
    found, grader = judged({"a": [4], "b": [3], "c": [1], "d": [0]}, contexts=kinds, concurrency=2)
    assert list(found) == ["one", "none"]
    with_one, none = (measure(one, repeats=1) for one in found.values())
    assert with_one.agreement.bias == pytest.approx(3 / 4)
    assert none.agreement.bias == pytest.approx(-1 / 4)
    assert (none.agreement.count, none.ungraded, none.spend.calls) == (4, {}, 4)
    assert ("a?", ("a? R.",), "R.", "a") in grader.asked


def test_answers_without_a_grade_are_counted_by_reason_and_left_out():
    found = measured({"a": [5], "b": [], "c": [1], "d": []})
    assert found.ungraded == {"truncated": 2}
    assert found.agreement == Agreement(count=2, pearson=1.0, spearman=1.0, kappa=1.0, bias=0.0)


def test_not_sure_is_left_out_of_one_agreement_and_measured_by_another():
    found = measured({"a": [5], "b": [0], "c": [2], "d": [0]})
    assert (found.agreement.count, found.above_0.count) == (4, 2)
    assert found.above_0.bias == pytest.approx(1 / 2)  # a: 5 beside 5; c: 2 beside 1
    assert found.unsure.count == 4
    # Not sure: b and d by the judge, d by people. Observed 1/4; by chance 1/2 · 3/4 + 1/2 · 1/4.
    assert found.unsure.kappa == pytest.approx(1 - (1 / 4) / (1 / 2))
    assert (found.table[3][0], found.table[0][0], found.table[5][5], found.table[1][2]) == (1, 1, 1, 1)


def test_the_tilt_is_the_first_order_less_the_second_where_all_judgings_succeeded():
    found = measured({"a": [5, 4], "b": [3, 3], "c": [2, 1], "d": [0]}, repeats=2)
    assert found.tilt == pytest.approx(2 / 3)


@pytest.mark.parametrize(("repeats", "scores"), [(1, [5]), (2, [5]), (2, [])])
def test_there_is_no_tilt_without_both_orders(repeats, scores):
    assert measured(dict.fromkeys(HUMAN, scores), repeats=repeats).tilt is None


def test_a_spent_budget_ends_it():
    with pytest.raises(BudgetSpent):
        judged({"a": BudgetSpent("spent"), "b": [3], "c": [1], "d": [0]})


def test_kinds_are_compared_on_the_answers_that_both_have_scored():
    before = Judged(labels=LABELS, grades=[Grade(scores=s) for s in ((4,), (), (1,), (0,))])
    after = Judged(labels=LABELS, grades=[Grade(scores=s) for s in ((5,), (3,), (1,), (0,))])
    found, sure = (compared(before, after, above_0=above_0) for above_0 in (False, True))
    assert (found.answers, sure.answers) == (3, 2)
    assert found.changes["bias"].value == pytest.approx(1 / 3)
    assert sure.changes["bias"].value == pytest.approx(1 / 2)
