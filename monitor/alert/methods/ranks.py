"""Evidence that answers rank worse among the earlier ones than chance allows: an e-detector on ranks, without a target.

**Ranks.** A unit is an answer, or a conversation of several answers, each of weight 1/n. A new unit joins the history
of its source; then each of its answers gets p = (W> + u·W=)/W: the weight of all worse answers, plus a share
u ~ U(0, 1) of the weight of equally bad ones (its own among them), over the weight of all. With one answer a unit, p is
uniform and independent of all earlier p as long as the order of the answers tells nothing, however the values are
distributed: then no target and no baseline is needed. Ties cost nothing of that, since u breaks them at random. Source:
V. Vovk, A. Gammerman and G. Shafer, Algorithmic Learning in a Random World, 2nd edition, 2022, §2.2 (smoothed
conformal).

**Bets.** b(p) is a step function that falls from 17 for the worst hundredth to .21 for the better six tenths; ∫b = 1.
Bettor δ stakes the share δ of its wealth: e = 1 + δ·(b̄ − 1), b̄ the weighted mean of b over the unit, so that E[e] = 1.
With w the minutes since the unit before, the wealth goes from M to (M + w)·e, and the statistic is the mean over
bettors (Shiryaev and Roberts). The wealth minus the elapsed minutes is a martingale, so the mean time to a false alarm
at A is A minutes or longer, whatever the traffic and however often one looks: see `wealth.py` for the argument.

Answers of one conversation depend on each other; they share one e, whose mean over exchangeable conversations is 1 too.
A change in the mix of topics is none of the answers of a topic: each topic is ranked in a history of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.alert.answers import BINS, Floats, Ints

STAKES: Floats = np.array([0.01, 0.02, 0.04, 0.08, 0.16])
LIMITS: Floats = np.array([0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 1.0])  # of the cells of p, upper ends
_DRAWN: Floats = np.array([17, 11.4, 6.6, 3.1, 1.25, 0.57, 0.21])
PAYOFFS: Floats = _DRAWN / (_DRAWN @ np.diff(LIMITS, prepend=0.0))  # so that the mean over a uniform p is 1 exactly
WORST = 0.1  # the share of the history that counts as its worst answers, in what is shown
NOTHING: Floats = np.full(len(STAKES), -np.inf)
_PIECE = 256  # answers compared with each other at a time


class Ranked(NamedTuple):
    """For each unit, in order: the mean payoff, the share of its answers among the worst tenth, and its last row."""

    payoffs: Floats
    worst: Floats
    last: Ints


def empty_history() -> Floats:
    """The weight of answers in each bin, worst last."""
    return np.zeros(BINS)


def rank(history: Floats, bins: Ints, units: Ints, weights: Floats, chances: Floats) -> Floats:
    """The rank p in (0, 1] of each answer among the earlier ones; adds the answers to `history`.

    Rows of one unit are adjacent; all other rows of `history` are earlier. All but `history` have the shape (n,).
    """
    p = np.empty(len(bins))
    start = 0
    while start < len(bins):
        end = min(start + _PIECE, len(bins))
        end = int(np.searchsorted(units, units[end - 1], side="right"))  # a unit is not cut in two
        b, u, w = bins[start:end], units[start:end], weights[start:end]
        earlier = (u <= u[:, np.newaxis]) * w  # row i: the weights of the units up to its own
        worse_than = np.concatenate([np.cumsum(history[::-1])[::-1][1:], [0.0]])
        worse = worse_than[b] + (earlier * (b > b[:, np.newaxis])).sum(axis=1)
        equal = history[b] + (earlier * (b == b[:, np.newaxis])).sum(axis=1)
        p[start:end] = (worse + chances[start:end] * equal) / (history.sum() + earlier.sum(axis=1))
        np.add.at(history, b, w)
        start = end
    return p


def ranked(p: Floats, units: Ints, weights: Floats) -> Ranked:
    """Adds up the payoffs of ranks by unit. All have the shape (n,); `units` are 0, …, m - 1 in order."""
    cells = np.minimum(np.searchsorted(LIMITS, p), len(LIMITS) - 1)
    return Ranked(
        payoffs=_by_unit(units, weights * PAYOFFS[cells]),
        worst=_by_unit(units, weights * (p <= WORST)),
        last=np.searchsorted(units, np.arange(units[-1] + 1), side="right") - 1,
    )


def _by_unit(units: Ints, values: Floats) -> Floats:
    return np.bincount(units, weights=values).astype(np.float64)


def log_factors(payoffs: Floats) -> Floats:
    """The log of e of each unit and bettor: shape (m,) to (m, bettors)."""
    return np.log1p(STAKES * (payoffs[:, np.newaxis] - 1.0))


def wealth_path(log_wealth: Floats, factors: Floats, minutes: float) -> Floats:
    """The log wealth after each unit, (m, bettors); `minutes` went by before each of them.

    Mᵢ = (Mᵢ₋₁ + w)·eᵢ = Πᵢ·(M₀ + Σₖ w/Πₖ₋₁) with Πᵢ = e₁ … eᵢ.
    """
    log_products = np.cumsum(factors, axis=0)
    added = np.log(minutes) - (log_products - factors)
    begun = np.logaddexp.accumulate(np.concatenate([log_wealth[np.newaxis], added]), axis=0)
    path: Floats = log_products + begun[1:]
    return path


def log_statistic(path: Floats) -> Floats:
    """The log of the mean wealth over bettors: shape (…, bettors) to (…)."""
    mean: Floats = np.logaddexp.reduce(path, axis=-1) - np.log(len(STAKES))
    return mean
