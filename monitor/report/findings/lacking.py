"""Groups the questions that no retrieved document answered, by meaning, and finds those that stand out.

Whether a group stands out is a scan, as for outages: around each question asked, those at least as similar as
`threshold` says are a region, and the share of questions missed in it is compared with that outside (Fisher, one side).
The regions follow from the questions alone, whatever became of them; so with Bonferroni's factor for all of them the
chance that any is named where questions are missed at random is at most FALSE_ALARM. Questions asked word for word
count as one here: they retrieve the same documents.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.core.figures.proportions import Share, greater

FALSE_ALARM: Final = 0.01
_ABOVE = 0.4  # of the way from the usual similarity of two questions to the same question
_FEWEST, _FEWEST_DAYS = 10, 3  # answers without a document, and days with such answers, that call for action
_LEAST_SHARE = 0.01  # of all answers
_MOSTLY = 0.5
Vectors = NDArray[np.float32]
Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedQuestion:
    """A question as it was asked in `answers` answers, word for word.

    The documents of `missed` of them do not answer it; of those, so many are refusals or self-generated, and so many
    days have one. `text` is how it is read, with what a follow-up borrows; `shown` its own words, from the answer `id`.
    """

    text: str
    shown: str
    id: str
    answers: int
    missed: int
    refusals: int = 0
    self_generated: int = 0
    days: frozenset[int] = frozenset()
    follow_up: bool = False

    @property
    def mostly_missed(self) -> bool:
        return self.missed >= _MOSTLY * self.answers


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionGroup:
    """Similar questions that were missed, with the sums of their answers; `typical` is the one nearest to all.

    Of `alike` questions of the week that are like the typical one, answered ones included, `alike_missed` are missed.
    `q` bounds the chance of such a group where questions are missed at random; None: it was not tested.
    """

    typical: AskedQuestion
    questions: int
    missed: int
    refusals: int
    self_generated: int
    days: int
    alike: int
    alike_missed: int
    q: float | None = None

    @property
    def negative(self) -> int:
        return self.refusals + self.self_generated

    def calls_for_action(self, answers: int) -> bool:
        """Whether it is sure, and large enough to write a document for, among so many `answers`.

        Most questions like these are missed, and most of their answers are negative: else a document may be there.
        """
        return (
            self.q is not None
            and self.q <= FALSE_ALARM
            and self.missed >= max(_FEWEST, _LEAST_SHARE * answers)
            and self.days >= _FEWEST_DAYS
            and self.alike_missed > _MOSTLY * self.alike
            and self.negative > _MOSTLY * self.missed
        )


def word_for_word(questions: Sequence[AskedQuestion]) -> tuple[QuestionGroup, ...]:
    """Each missed question as a group of its own, those missed most often first; nothing is tested."""
    return _sorted([_group([one], one, alike=1, alike_missed=1) for one in questions if one.missed])


def by_meaning(
    questions: Sequence[AskedQuestion], vectors: Vectors, *, missed_asked: int, answered_asked: int
) -> tuple[QuestionGroup, ...]:
    """Groups of the missed questions, those missed most often first. `vectors`, shape (n, d), are of all questions.

    `missed_asked` and `answered_asked` are how many questions were asked that are mostly missed, or are not; those
    given may be a sample of each.
    """
    units = _units(vectors)
    threshold = _threshold(units)
    places = [place for place, one in enumerate(questions) if one.missed]
    lost = np.array([one.mostly_missed for one in questions], bool)
    of_missed, of_answered = missed_asked / max(int(lost.sum()), 1), answered_asked / max(int((~lost).sum()), 1)
    tests = missed_asked + answered_asked
    found = []
    for members in _joined(units[places], threshold):
        at = [places[member] for member in members]
        centre = _typical(questions, units, at)
        near = units @ units[centre] >= threshold
        alike_missed = round(of_missed * int((near & lost).sum()))
        alike = alike_missed + round(of_answered * int((near & ~lost).sum()))
        group = _group([questions[place] for place in at], questions[centre], alike=alike, alike_missed=alike_missed)
        found.append((group, near, np.isin(np.arange(len(questions)), at)))
    return _sorted(_tested(found, lost, tests))


def _tested(
    found: Sequence[tuple[QuestionGroup, NDArray[np.bool_], NDArray[np.bool_]]], lost: NDArray[np.bool_], tests: int
) -> list[QuestionGroup]:
    """The groups with their q; each is tested without the questions of those before it that are clear."""
    left, tested = np.ones(len(lost), bool), []
    for group, near, own in sorted(found, key=lambda one: -one[0].missed):
        inside, outside = (
            Share(matching=int((part & lost).sum()), total=int(part.sum())) for part in (near & left, ~near & left)
        )
        q = min(1.0, tests * greater(inside, outside))
        if q <= FALSE_ALARM:
            left &= ~own
        tested.append(_with_q(group, q))
    return tested


def _with_q(group: QuestionGroup, q: float) -> QuestionGroup:
    return QuestionGroup(**{name: getattr(group, name) for name in group.__slots__ if name != "q"}, q=q)


def _group(its: Sequence[AskedQuestion], typical: AskedQuestion, *, alike: int, alike_missed: int) -> QuestionGroup:
    return QuestionGroup(
        typical=typical,
        questions=len(its),
        missed=sum(one.missed for one in its),
        refusals=sum(one.refusals for one in its),
        self_generated=sum(one.self_generated for one in its),
        days=len(frozenset[int]().union(*(one.days for one in its))),
        alike=alike,
        alike_missed=alike_missed,
    )


def _typical(questions: Sequence[AskedQuestion], units: Vectors, members: Sequence[int]) -> int:
    """The question nearest to the mean of all answers; a follow-up, which does not stand alone, only among its like."""
    weights = np.array([questions[place].missed for place in members], np.float32)
    nearness = units[list(members)] @ (weights @ units[list(members)])
    alone = [n for n, place in enumerate(members) if not questions[place].follow_up] or range(len(members))
    return members[max(alone, key=lambda n: (float(nearness[n]), -members[n]))]


def _sorted(groups: Sequence[QuestionGroup]) -> tuple[QuestionGroup, ...]:
    return tuple(sorted(groups, key=lambda group: (-group.missed, -group.questions, group.typical.text)))


def _units(vectors: Vectors) -> Vectors:
    """The vectors scaled to length 1; NaN and infinity count as 0."""
    clean = np.nan_to_num(vectors, posinf=0.0, neginf=0.0).astype(np.float32)
    lengths = np.linalg.norm(clean, axis=1, keepdims=True)
    units: Vectors = np.divide(clean, lengths, out=np.zeros_like(clean), where=lengths > 0)
    return units


def _threshold(units: Vectors) -> float:
    """The cosine from which on questions are similar: well above the median of two questions, as models differ."""
    pairs = (units @ units.T)[np.triu_indices(len(units), 1)]
    usual = float(np.median(pairs)) if len(pairs) else 0.0
    return usual + _ABOVE * (1 - usual)


def _joined(units: Vectors, threshold: float) -> list[list[int]]:
    """Agglomerative clustering with average linkage, while the mean cosine of two groups reaches `threshold`.

    Follows chains of nearest neighbours, n² steps in all (F. Murtagh, A survey of recent advances in hierarchical
    clustering algorithms, The Computer Journal 26 (1983), 354–359). A group that is too far from all others is done:
    no later group is nearer to it than its parts were.
    """
    groups: list[list[int]] = [[place] for place in range(len(units))]
    near: Floats = units.astype(np.float64) @ units.T.astype(np.float64)
    np.fill_diagonal(near, -np.inf)
    sizes = np.ones(len(units))
    open_, chain = np.ones(len(units), bool), list[int]()
    while open_.any():
        if not chain:
            chain.append(int(np.argmax(open_)))
        one = chain[-1]
        other = int(np.argmax(near[one]))
        if len(chain) > 1 and near[one, chain[-2]] >= near[one, other]:
            other = chain[-2]  # of equally near ones, the way back: else the chain might go round for ever
        if near[one, other] < threshold:
            open_[one] = False
            near[one] = near[:, one] = -np.inf
            chain.pop()
        elif len(chain) > 1 and other == chain[-2]:
            del chain[-2:]
            mean = (sizes[one] * near[one] + sizes[other] * near[other]) / (sizes[one] + sizes[other])
            groups[one] += groups[other]
            groups[other] = []
            sizes[one] += sizes[other]
            open_[other] = False
            near[other] = near[:, other] = -np.inf
            mean[~open_] = mean[one] = -np.inf
            near[one] = near[:, one] = mean
        else:
            chain.append(other)
    return [sorted(group) for group in groups if group]
