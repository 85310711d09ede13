"""How unlikely counts are by chance: the tail of Student's t, the information of a share, dispersion between days."""

from __future__ import annotations

from math import atan2, cos, pi, sin, sqrt

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def t_tail(t: float, freedom: int) -> float:
    """P(T ≥ t) for Student's t with that many degrees of freedom ≥ 1.

    Closed form: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions (1964), 26.7.3 and 26.7.4.
    """
    angle = atan2(abs(t), sqrt(freedom))
    c2, term, total = cos(angle) ** 2, 1.0, 0.0
    first = freedom % 2  # the powers of the cosine are odd where the freedom is odd
    for place in range(freedom // 2):
        total += term
        term *= c2 * (2 * place + 1 + first) / (2 * place + 2 + first)
    within = (angle + sin(angle) * cos(angle) * total) * 2 / pi if first else sin(angle) * total
    tail = max(0.0, (1 - within) / 2)
    return tail if t >= 0 else 1 - tail


def information(share: Floats, expected: Floats) -> Floats:
    """Kullback and Leibler's divergence per answer, in nats, of shares ≥ the expected ones (0 < expected < 1).

    By Chernoff's bound n answers with the true share `expected` reach `share` with a probability of at most
    exp(−n · information).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        hit = np.where(share > 0, share * np.log(share / expected), 0.0)
        miss = np.where(share < 1, (1 - share) * np.log((1 - share) / (1 - expected)), 0.0)
    return np.where(share > expected, hit + miss, 0.0)


def dispersion(total: Floats, matching: Floats, groups: int) -> tuple[float, int]:
    """(φ, its degrees of freedom): by how much counts of spans vary more than independent answers do; at least 1.

    Pearson's X² over its degrees of freedom (P. McCullagh and J. A. Nelder, Generalized Linear Models (1989), 4.5),
    where the share is one in each of so many groups of as many successive spans. A group whose share is 0 or 1 says
    how sure φ is, but does not lower it: its spans could not differ.
    """
    n, k = (counts.reshape(groups, -1) for counts in (total, matching))
    share = k.sum(axis=1) / np.maximum(n.sum(axis=1), 1)
    free = np.maximum((n > 0).sum(axis=1) - 1, 0)
    varies = (share > 0) & (share < 1)
    freedom, of_varying = max(1, int(free.sum())), int(free[varies].sum())
    if not of_varying:
        return 1.0, freedom
    n, k, p = n[varies], k[varies], share[varies, np.newaxis]
    x2 = float(((k - n * p) ** 2 / np.maximum(n * p * (1 - p), np.finfo(float).tiny)).sum())
    return max(1.0, x2 / of_varying), freedom
