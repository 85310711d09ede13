"""Questions grouped by meaning, and the test that a group is no chance."""

from __future__ import annotations

import numpy as np
import pytest

from monitor.report.findings import lacking
from monitor.report.findings.lacking import AskedQuestion, by_meaning, word_for_word


def asked(text, missed, answers=None, **over):
    known = {"text": text, "shown": text, "id": text, "answers": missed if answers is None else answers}
    return AskedQuestion(**{**known, "missed": missed, **over})


def around(centres, spread, rng, dimensions=40):
    """Unit vectors around random centres, whose numbers are given."""
    points = rng.normal(size=(max(centres) + 1, dimensions))
    vectors = points[list(centres)] + spread * rng.normal(size=(len(centres), dimensions))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def by_definition(units, threshold):
    """Average linkage, one step after the other."""
    groups = [[place] for place in range(len(units))]
    while len(groups) > 1:
        pairs = [(a, b) for a in range(len(groups)) for b in range(a)]
        near = [float((units[groups[a]] @ units[groups[b]].T).mean()) for a, b in pairs]
        if max(near) < threshold:
            break
        a, b = pairs[int(np.argmax(near))]
        groups[b] += groups.pop(a)
    return sorted(map(sorted, groups))


@pytest.mark.parametrize("seed", range(20))
def test_groups_are_those_of_average_linkage(seed):
    rng = np.random.default_rng(seed)
    units = around(rng.integers(0, 4, 22), rng.uniform(0.2, 1.2), rng, dimensions=8)
    assert sorted(lacking._joined(units, 0.5)) == by_definition(units.astype(float), 0.5)


def test_vectors_without_a_direction_are_groups_of_their_own():
    vectors = np.array([[1, 0], [1, 0], [0, 0], [np.nan, 1], [np.inf, 1]], np.float32)
    groups = by_meaning([asked(str(n), 1) for n in range(5)], vectors, missed_asked=5, answered_asked=0)
    assert sorted(group.questions for group in groups) == [1, 2, 2]
    assert by_meaning([], np.zeros((0, 2), np.float32), missed_asked=0, answered_asked=0) == ()


def test_a_group_sums_its_answers_and_is_named_by_the_question_nearest_to_all():
    vectors = np.array([[1, 0.3], [1, 0], [1, -0.3], [0, 1], [-1, 0]], np.float32)
    questions = [
        asked("a", 3, refusals=2, self_generated=1, days=frozenset({0, 1})),
        asked("b", 5, refusals=5, days=frozenset({1, 4})),
        asked("c", 4, 6, self_generated=3),
        asked("other", 1),
        asked("answered", 0, 50),
    ]
    first, second = by_meaning(questions, vectors, missed_asked=4, answered_asked=1)
    assert (first.typical.text, first.questions, first.missed) == ("b", 3, 12)
    assert (first.refusals, first.self_generated, first.negative, first.days) == (7, 4, 11, 3)
    assert (second.typical.text, second.questions) == ("other", 1)


def test_a_follow_up_names_a_group_only_of_its_like():
    vectors = np.array([[1, 0.1], [1, 0], [1, -0.1], *[[-1, n] for n in range(4)]], np.float32)
    others = [asked(f"answered {n}", 0, 1) for n in range(4)]
    questions = [asked("first", 1), asked("and those?", 9, follow_up=True), asked("last", 1), *others]
    (group,) = by_meaning(questions, vectors, missed_asked=3, answered_asked=4)
    assert group.typical.text == "first"
    (group,) = by_meaning(questions[1:2] + others, vectors[[1, 3, 4, 5, 6]], missed_asked=1, answered_asked=4)
    assert group.typical.text == "and those?"


def some_questions(rng, missing, number=400, subjects=20):
    """Questions on subjects; those on the first are missed with the chance `missing`, the others in one of ten."""
    subject = rng.integers(0, subjects, number)
    lost = rng.random(number) < np.where(subject == 0, missing, 0.1)
    questions = [
        asked(str(n), 2 * int(lost[n]), 2, refusals=2 * int(lost[n]), days=frozenset({n % 7})) for n in range(number)
    ]
    return questions, around(subject, 0.8, rng), int(lost.sum())


def test_what_is_missed_on_one_subject_stands_out_and_nothing_else():
    rng = np.random.default_rng(3)
    questions, vectors, lost = some_questions(rng, 0.95)
    groups = by_meaning(questions, vectors, missed_asked=lost, answered_asked=len(questions) - lost)
    assert [group.calls_for_action(800) for group in groups] == [True] + [False] * (len(groups) - 1)
    assert groups[0].alike_missed > 0.8 * groups[0].alike
    assert groups[0].q < 1e-6


def test_questions_missed_at_random_stand_out_in_one_week_of_a_hundred_at_most():
    rng = np.random.default_rng(5)
    lowest = []
    for _ in range(100):
        questions, vectors, lost = some_questions(rng, 0.1, number=200)
        groups = by_meaning(questions, vectors, missed_asked=lost, answered_asked=len(questions) - lost)
        lowest.append(min(group.q for group in groups))
    assert sum(q <= lacking.FALSE_ALARM for q in lowest) <= 1


def test_a_sample_of_the_answered_questions_stands_for_all():
    rng = np.random.default_rng(3)
    questions, vectors, lost = some_questions(rng, 0.5)
    kept = [n for n, one in enumerate(questions) if one.missed or n % 2]
    whole, part = (
        by_meaning([questions[n] for n in its], vectors[its], missed_asked=lost, answered_asked=400 - lost)[0]
        for its in (list(range(400)), kept)
    )
    assert part.alike == pytest.approx(whole.alike, rel=0.35)


def test_word_for_word_nothing_is_tested():
    groups = word_for_word([asked("a", 1), asked("b", 4), asked("c", 0, 9)])
    assert [(group.typical.text, group.missed, group.q) for group in groups] == [("b", 4, None), ("a", 1, None)]
    assert not groups[0].calls_for_action(4)
