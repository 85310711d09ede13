"""Which interactions to offer to people next.

Every other offer teaches: it is one on which the profile is least sure, or is contradicted. The others are a simple
random sample, without which no figure about the verdicts would be unbiased. Candidates come in an order of chance, that
of a hash of app and id (`Reviews.candidates`); the random sample is always a beginning of that order. Those in it that
were labelled for another reason belong to it too: left out, the sample would lack just the doubtful ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.core.model import Probabilities, Verdict
from monitor.review.label import Drawn

UNSUPPORTED = 0.5  # faithfulness below which the judge speaks against `grounded`
SUPPORTED = 0.8  # and from which it speaks against `self_generated`


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored interaction with its live verdict, the judge's newest faithfulness score and who has labelled it.

    `drawn` says why those people were offered it, `RANDOM` where the random draw has met it; None without a label.
    """

    app: str
    id: str
    occurred_at: datetime
    verdict: Verdict
    rule_verdict: Verdict
    probabilities: Probabilities
    faithfulness: float | None = None
    people: frozenset[str] = frozenset()
    drawn: Drawn | None = None

    @property
    def margin(self) -> float:
        """Between the two largest probabilities, in [0, 1]: the smaller, the nearer to another verdict."""
        p = self.probabilities
        second, first = sorted((p.grounded, p.refusal, p.self_generated))[1:]
        return first - second

    @property
    def contradiction(self) -> float:
        """How far the judge's score is from what the verdict lets expect, in [0, 1]; 0 where the two are compatible."""
        if self.faithfulness is None:
            return 0.0
        if self.verdict is Verdict.GROUNDED and self.faithfulness < UNSUPPORTED:
            return 1 - self.faithfulness
        if self.verdict is Verdict.SELF_GENERATED and self.faithfulness >= SUPPORTED:
            return self.faithfulness
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A candidate with the reason why it is offered.

    `passed` are those that the random draw met on its way to this one and that people had labelled before: they are in
    the random sample from now on.
    """

    candidate: Candidate
    drawn: Drawn
    passed: tuple[Candidate, ...] = ()


def draw(candidates: Sequence[Candidate], count: int, *, random_only: bool = False) -> list[Offer]:
    """At most `count` of those that nobody has labelled: one that teaches, a random one, and so on.

    `candidates` are in the order of chance. Nothing is remembered between draws but labels: their number says whose
    turn it is, and what was not labelled is offered again.
    """
    labelled = sum(1 for c in candidates if c.people)
    turns = range(labelled, labelled + count)
    at_random = _at_random(candidates, count if random_only else sum(turn % 2 for turn in turns))
    taken = {id(offer.candidate) for offer in at_random}
    rest = [c for c in candidates if not c.people and id(c) not in taken]
    teaching = _teaching(rest, (labelled + 1) // 2) if not random_only else iter(())
    chance, offers = iter(at_random), []
    for turn in turns:
        first, second = (chance, teaching) if random_only or turn % 2 else (teaching, chance)
        offer = next(first, None) or next(second, None)
        if offer is not None:
            offers.append(offer)
    return offers


def second_opinions(candidates: Sequence[Candidate], count: int, *, by: str) -> list[Offer]:
    """At most `count` of those that others have labelled and `by` has not, those of the random sample first."""
    theirs = [c for c in candidates if c.people and by not in c.people]
    theirs.sort(key=lambda c: c.drawn is not Drawn.RANDOM)
    return [Offer(candidate=c, drawn=c.drawn or Drawn.CHOSEN) for c in theirs[:count]]


def _at_random(candidates: Iterable[Candidate], count: int) -> list[Offer]:
    offers: list[Offer] = []
    passed: list[Candidate] = []
    for candidate in candidates:
        if len(offers) == count:
            break
        if not candidate.people:
            offers.append(Offer(candidate=candidate, drawn=Drawn.RANDOM, passed=tuple(passed)))
            passed = []
        elif candidate.drawn is not Drawn.RANDOM:
            passed.append(candidate)
    return offers


def _teaching(candidates: Sequence[Candidate], turn: int) -> Iterator[Offer]:
    """By each reason in turn, for which the strongest comes first."""
    by_margin = sorted(candidates, key=lambda c: c.margin)
    strongest_first = {
        Drawn.MARGIN: by_margin,
        Drawn.RULE: [c for c in by_margin if c.rule_verdict is not c.verdict],
        Drawn.JUDGE: sorted((c for c in candidates if c.contradiction), key=lambda c: -c.contradiction),
    }
    queues = {reason: iter(found) for reason, found in strongest_first.items() if found}
    taken: set[int] = set()
    while queues:
        reason = list(queues)[turn % len(queues)]
        candidate = next((c for c in queues[reason] if id(c) not in taken), None)
        if candidate is None:
            del queues[reason]
            continue
        taken.add(id(candidate))
        turn += 1
        yield Offer(candidate=candidate, drawn=reason)
