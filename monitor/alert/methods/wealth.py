"""Evidence that a rate is above its target, as the wealth of bets against it: an e-detector of Shiryaev–Roberts form.

Bettor θ claims that the odds of a bad answer are θ times the target's. At target p, with q = θp / (1 − p + θp), a
look that brings n answers, k of them bad, after w minutes, turns the wealth M into

    (M + w) · (q/p)ᵏ · ((1 − q)/(1 − p))ⁿ⁻ᵏ,

which is (M + w) · Π (1 + λ(x − p)) over the answers x ∈ {0, 1} with the stake λ = (q/p − 1)/(1 − p) ∈ (0, 1/p). The
statistic is the mean over the bettors, in minutes; the alarm is at A.

How often the alarm is false. Let every answer be bad with a conditional probability of at most its target, given the
past. Then each factor has a conditional mean of at most 1, so E[Mₜ | past] ≤ Mₜ₋₁ + wₜ: the wealth minus the elapsed
time is a supermartingale, and so is the mean over bettors. Stopped at the time T of the alarm, E[M_T] ≤ E[T]; since
M_T ≥ A, the mean time to a false alarm is E[T] ≥ A minutes (all the more if T may be infinite). The proof assumes
nothing about the traffic, how often one looks, how answers are batched, or how they depend on each other; the target
may change between looks. It does assume that an answer's probability depends on the past alone, so a topic that comes
in bursts with a rate above the target breaks the guarantee even if the rate of the whole week is below it.

Source: J. Shin, A. Ramdas and A. Rinaldo, E-detectors: a nonparametric framework for sequential change detection, New
England Journal of Statistics in Data Science 2 (2024); with w = n, as there, it bounds the run length in answers.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

# Geometric, so that one of them is always near the true odds, for rises between one fifth and twelvefold.
ODDS: Floats = np.array([1.25 * 1.6**i for i in range(6)])
NOTHING: Floats = np.full(len(ODDS), -np.inf)
CAP, RESOLVE = 100.0, 0.01  # see `settle`


def advance(log_wealth: Floats, bad: ArrayLike, total: ArrayLike, minutes: ArrayLike, target: ArrayLike) -> Floats:
    """The log wealth after a look that brought `total` answers, `bad` of them bad, `minutes` after the previous look.

    `log_wealth` has the shape (…, bettors); the others broadcast to its leading dimensions. `minutes` are above 0,
    targets between 0 and 1. A look without answers changes nothing: the caller adds its time to the next look.
    """
    k, n, w, p = (np.asarray(value, dtype=np.float64)[..., np.newaxis] for value in (bad, total, minutes, target))
    q = ODDS * p / (1 - p + ODDS * p)
    grown = np.logaddexp(log_wealth, np.log(w)) + k * np.log(q / p) + (n - k) * np.log((1 - q) / (1 - p))
    return np.where(n > 0, grown, log_wealth)


def log_statistic(log_wealth: Floats) -> Floats:
    """The log of the mean wealth: shape (…, bettors) to (…); -inf for no wealth."""
    mean: Floats = np.logaddexp.reduce(log_wealth, axis=-1) - np.log(len(ODDS))
    return mean


def settle(log_wealth: Floats, firing: Bools, line: float) -> tuple[Floats, Bools]:
    """The wealth that each series goes on with after a look, and whether it fires; `line` is in minutes.

    `firing`, of the wealth's leading shape, says whether each series fired before. A series fires from `line` on. While
    it fires, the statistic is capped at `CAP` times the line, so that the end of an incident shows soon. It resolves
    below `RESOLVE` times the line and starts anew without wealth, as the guarantee for the next alarm requires.

    The ratio of the two trades flapping against late resolution. At 10,000 (simulated at 100 and 1,000 answers an hour)
    a fourfold rate over two days fires again 0.04 and 0.3 times, a doubled rate 0 and 0.01 times; at 1,000 a fourfold
    rate fires again 0.5 and 1.8 times. The alert resolves 48 to 65 minutes after the end of a fourfold rate at 100/h or
    a doubled rate at 1,000/h, and eight hours after the end of a doubled rate at 100/h. Capping the mean instead of
    each bettor keeps the bettors who were wrong about the incident poor, and so it resolves four times as fast.
    """
    statistic = log_statistic(log_wealth)
    fires = statistic >= np.log(np.where(firing, RESOLVE * line, line))
    excess = np.where(fires, np.maximum(statistic - np.log(CAP * line), 0.0), 0.0)
    return np.where((firing & ~fires)[..., np.newaxis], -np.inf, log_wealth - excess[..., np.newaxis]), fires
