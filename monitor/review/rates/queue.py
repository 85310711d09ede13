"""Which items of a plan a person is to label next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from monitor.core.model import Verdict
from monitor.review.rates.estimate import Labels
from monitor.review.rates.plan import Item, Plan


def open_items(plan: Plan, labels: Labels, *, by: str) -> list[Item]:
    """The items that `by` can label: first those without a label, then those that need one more person.

    One more person is asked where a single one calls the answer negative, and where people are divided. Negative labels
    are few, so a wrong one weighs much more than a wrong *grounded*.
    """
    new, again = list[Item](), list[Item]()
    for item in plan.items:
        given = labels.get((item.app, item.id))
        if given is None:
            new.append(item)
        elif given and by not in given and _unsettled(given.values()):
            again.append(item)
    return new + again


def _unsettled(given: Iterable[Verdict]) -> bool:
    votes = Counter(given).most_common(2)
    if len(votes) == 1:
        verdict, number = votes[0]
        return number == 1 and verdict.negative
    return votes[0][1] == votes[1][1]
