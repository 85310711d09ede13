"""Evidence that a rate is above its target, as the wealth of bets against it: an e-detector of Shiryaev–Roberts form.

Bettor θ holds that the odds of a bad answer are θ times the target's. At target p, and with q = θp / (1 − p + θp), a
look that brings n answers, k of them bad, after w minutes, turns the wealth M into

    (M + w) · (q/p)ᵏ · ((1 − q)/(1 − p))ⁿ⁻ᵏ,

which is (M + w) · Π (1 + λ(x − p)) over the answers x ∈ {0, 1} with the stake λ = (q/p − 1)/(1 − p) ∈ (0, 1/p). The
statistic is the mean over the bettors, in minutes; the alarm is at A.

How often it is wrong. Let every answer be bad with a conditional probability of at most its target, given all that came
before. Then each factor has a conditional mean of at most 1, so E[Mₜ | before] ≤ Mₜ₋₁ + wₜ: the wealth less the time
gone by is a supermartingale, and so is the mean over bettors. Stopped at the time T of the alarm, E[M_T] ≤ E[T]; as
M_T ≥ A, the mean time to a false alarm is E[T] ≥ A minutes (were T infinite with some chance, all the more). Nothing
was asked of the traffic, of how often one looks, of how answers are batched, or of their dependence; the target may
change between looks. What is asked is that an answer's chance depends on the past alone, so a topic that comes in
bursts with a rate above the target breaks the promise, though the rate of the whole week is below it.

Source: J. Shin, A. Ramdas and A. Rinaldo, E-detectors: a nonparametric framework for sequential change detection, New
England Journal of Statistics in Data Science 2 (2024); with w = n it bounds the run length in answers, as there.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]

# Geometric: the best of them is never far from the true odds, between a rise by a fifth and one by twelve.
ODDS: Floats = np.array([1.25 * 1.6**i for i in range(6)])
NOTHING: Floats = np.full(len(ODDS), -np.inf)
CAP, RESOLVE = 100.0, 0.01  # see `settle`


def advance(log_wealth: Floats, bad: ArrayLike, total: ArrayLike, minutes: ArrayLike, target: ArrayLike) -> Floats:
    """The log wealth after a look that brought `total` answers, `bad` of them bad, `minutes` after the one before.

    `log_wealth` has the shape (…, bettors), and the others broadcast to its leading dimensions. `minutes` are above 0,
    targets between 0 and 1. A look without any answer changes nothing: its time is to be added to the next.
    """
    k, n, w, p = (np.asarray(value, dtype=np.float64)[..., np.newaxis] for value in (bad, total, minutes, target))
    q = ODDS * p / (1 - p + ODDS * p)
    grown = np.logaddexp(log_wealth, np.log(w)) + k * np.log(q / p) + (n - k) * np.log((1 - q) / (1 - p))
    return np.where(n > 0, grown, log_wealth)


def log_statistic(log_wealth: Floats) -> Floats:
    """The log of the mean wealth: shape (…, bettors) to (…); -inf of nothing."""
    mean: Floats = np.logaddexp.reduce(log_wealth, axis=-1) - np.log(len(ODDS))
    return mean


def settle(log_wealth: Floats, firing: Bools, line: float) -> tuple[Floats, Bools]:
    """Whether each series fires after a look, and the wealth that it goes on with; `line` is the alarm's, in minutes.

    `firing` is what it did before, of the wealth's leading shape. It begins at the line. While it fires the statistic
    is held at `CAP` times the line, so that an incident's end shows soon; it ends below `RESOLVE` times the line, and
    what resolves starts anew with nothing, as the promise on the next alarm asks.

    The ratio of the two weighs flaps against a late resolution. At 10,000 (simulated at 100 and 1,000 answers an hour)
    a fourfold rate over two days fires again 0.04 and 0.3 times, a doubled one 0 and 0.01; at 1,000 fourfold has 0.5
    and 1.8. It resolves 48 to 65 minutes after a fourfold rate at 100/h or a doubled one at 1,000/h are over, eight
    hours after a doubled one at 100/h. Holding the mean, not each bettor, keeps those who were wrong about the incident
    poor, and so it resolves four times as soon.
    """
    statistic = log_statistic(log_wealth)
    fires = statistic >= np.log(np.where(firing, RESOLVE * line, line))
    excess = np.where(fires, np.maximum(statistic - np.log(CAP * line), 0.0), 0.0)
    return np.where((firing & ~fires)[..., np.newaxis], -np.inf, log_wealth - excess[..., np.newaxis]), fires
