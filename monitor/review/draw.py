"""Chooses which interactions to offer to people next.

Every other offer is informative. While calibration lacks labels of a class, it is an answer that is likely of that
class, by its score. After that it is one that is rare for its app (without a reference period: the profile is unsure
about it), or whose verdict is contradicted. The others are a simple random sample; without it no figure about the
verdicts would be unbiased. Candidates come in a random order, by a hash of app
and id (`Reviews.candidates`), and the random sample is always a prefix of that order. Interactions in the prefix that
were labelled for another reason belong to the sample too: without them it would lack just the doubtful ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from monitor.assess.judge.word import SUPPORTED, UNSUPPORTED
from monitor.core.model import Probabilities, Verdict
from monitor.review.label import Drawn


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A stored interaction with its live verdict, the judge's newest faithfulness score and who labelled it.

    `drawn` is why it was offered to them, `RANDOM` once the random draw has reached it; None without a label. It is
    `usable` unless it refuses or has nothing to be checked by, as far as its verdict tells.
    """

    app: str
    id: str
    occurred_at: datetime
    verdict: Verdict
    rule_verdict: Verdict
    probabilities: Probabilities
    rank: float | None = None  # among the usual answers of the app; None without a reference
    faithfulness: float | None = None
    usable: bool = True
    people: frozenset[str] = frozenset()
    drawn: Drawn | None = None

    def likely(self, class_: Verdict) -> float:
        """The probability of *grounded* or *self-generated*, in [0, 1], if it is one of the two."""
        p = self.probabilities
        either = p.grounded + p.self_generated
        made_up = p.self_generated / either if either else 0.5
        return made_up if class_ is Verdict.SELF_GENERATED else 1 - made_up

    @property
    def margin(self) -> float:
        """The gap between the two largest probabilities, in [0, 1]; a small one means another verdict is near."""
        p = self.probabilities
        second, first = sorted((p.grounded, p.refusal, p.self_generated))[1:]
        return first - second

    @property
    def doubt(self) -> float:
        """In [0, 1], the lowest is offered first: the rank, so that rare answers come first, or without it the margin.

        Of an app whose good answers look made up, the margin would offer those.
        """
        return self.margin if self.rank is None else self.rank

    @property
    def contradiction(self) -> float:
        """How strongly the judge's score contradicts the verdict, in [0, 1]; 0 if the two are compatible."""
        if self.faithfulness is None:
            return 0.0
        if self.verdict is Verdict.GROUNDED and self.faithfulness < UNSUPPORTED:
            return 1 - self.faithfulness
        if self.verdict is Verdict.SELF_GENERATED and self.faithfulness >= SUPPORTED:
            return self.faithfulness
        return 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A candidate and why it is offered.

    `passed` holds the labelled candidates that the random draw met on its way to this one. They join the random sample.
    """

    candidate: Candidate
    drawn: Drawn
    passed: tuple[Candidate, ...] = ()


def draw(
    candidates: Sequence[Candidate], count: int, *, random_only: bool = False, lacks: Verdict | None = None
) -> list[Offer]:
    """At most `count` unlabelled candidates: an informative one, a random one, and so on.

    `candidates` are in random order. `lacks` is the class of which calibration lacks labels. Only labels are remembered
    between draws: their number tells which kind comes next, and an offer without a label is made again.
    """
    labelled = sum(1 for c in candidates if c.people)
    turns = range(labelled, labelled + count)
    random_offers = _at_random(candidates, count if random_only else sum(turn % 2 for turn in turns))
    taken = {id(offer.candidate) for offer in random_offers}
    rest = [c for c in candidates if not c.people and id(c) not in taken]
    informative = _informative(rest, (labelled + 1) // 2, lacks) if not random_only else iter(())
    at_random, offers = iter(random_offers), []
    for turn in turns:
        first, second = (at_random, informative) if random_only or turn % 2 else (informative, at_random)
        offer = next(first, None) or next(second, None)
        if offer is not None:
            offers.append(offer)
    return offers


def second_opinions(candidates: Sequence[Candidate], count: int, *, by: str) -> list[Offer]:
    """At most `count` candidates that others have labelled and `by` has not, those of the random sample first."""
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


def _informative(candidates: Sequence[Candidate], turn: int, lacks: Verdict | None) -> Iterator[Offer]:
    """Yields offers of the class that is lacking, then for each reason in turn, the strongest of each first."""
    if lacks is not None:
        of_class = sorted((c for c in candidates if c.usable), key=lambda c: -c.likely(lacks))
        yield from (Offer(candidate=candidate, drawn=Drawn.CLASS) for candidate in of_class)
        known = set(map(id, of_class))
        candidates = [candidate for candidate in candidates if id(candidate) not in known]
    by_doubt = sorted(candidates, key=lambda c: c.doubt)
    strongest_first = {
        Drawn.MARGIN: by_doubt,
        Drawn.RULE: [c for c in by_doubt if c.rule_verdict is not c.verdict],
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
