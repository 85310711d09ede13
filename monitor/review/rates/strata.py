"""Divides a frame of answers by score, and the labels among the parts."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

# Where the ranks of scores are cut, the highest score first: there most of the bad answers are, so strata are narrow.
BY_SCORE = (0.02, 0.05, 0.10, 0.20, 0.40, 1.0)
# The share of bad answers that is expected in each stratum. A wrong guess makes the interval wider, never wrong.
EXPECTED = (0.55, 0.30, 0.15, 0.07, 0.03, 0.01)


def sizes(answers: int, cuts: Sequence[float] = BY_SCORE) -> list[int]:
    """The number of answers in each stratum of so many `answers`; their sum is `answers`."""
    ends = [round(answers * cut) for cut in cuts]
    return [end - begin for begin, end in zip([0, *ends], ends, strict=False)]


def turns(labels: int, room: Sequence[int], weights: Sequence[float], expected: Sequence[float]) -> list[int]:
    """The part of each label in turn, such that every beginning of the list is a good allocation of so many labels.

    Of n labels, part h is due

        n_h = n · [½·W_h + ½·W_h·√(g_h(1 − g_h)) / Σ W_k·√(g_k(1 − g_k))],

    W_h its share of the sum of `weights` and g_h the rate that is `expected` there: half by weight, half by where a
    label tells most. The half by weight bounds what a wrong g costs: no variance is more than twice that of an
    allocation by weight alone. Each part gets one label before any gets a second, and none gets more than it has
    `room`; so there are fewer turns than `labels` if there are fewer answers.

    Source: J. Neyman, On the two different aspects of the representative method, Journal of the Royal Statistical
    Society 97 (1934), 558–625; labels are given in turn as seats are by A. Sainte-Laguë (1910).
    """
    spread = [weight * sqrt(g * (1 - g)) for weight, g in zip(weights, expected, strict=True)]
    due = [weight / sum(weights) + part / sum(spread) for weight, part in zip(weights, spread, strict=True)]
    given = [0] * len(room)
    order: list[int] = []
    for _ in range(min(labels, sum(room))):
        open_ = [h for h, places in enumerate(room) if given[h] < places]
        order.append(max(open_, key=lambda h: (given[h] == 0, due[h] / (given[h] + 0.5))))
        given[order[-1]] += 1
    return order
