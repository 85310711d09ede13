"""Finds values of a label whose share of a signal stands out from that of their peers, in all four weeks together."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from monitor.report.findings.cells import DAY, Cells, Slice
from monitor.report.findings.evidence import dispersion, t_tail

FEWEST = 100  # answers of the value, and of its peers
LEAST_RATIO, LEAST_APART = 2.0, 0.05
PEERS = 5  # from which on the usual differences between peers are known
_WINSORISED = 0.1  # of the peers, at each end


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A value with the counts of its answers, and of those of its peers."""

    slice: Slice
    signal: str
    p: float
    t: float
    matching: int
    total: int
    matching_peers: int
    total_peers: int


def levels(cells: Cells, label: str, signal: str) -> list[Level]:
    """The test of every value with enough answers against all others.

    The difference in standard errors, which hold the dispersion between days. Where there are `PEERS` or more, values
    differ as a rule; so the differences are divided by their own root mean square with the extremes drawn in (D.
    Spiegelhalter, Handling over-dispersion of performance indicators, Quality and Safety in Health Care 14 (2005),
    347–351).
    """
    totals, matchings = cells.by(label, signal, hours=DAY)
    found = []
    for its, n, k in zip(cells.slices(label), totals, matchings, strict=True):
        size, hits = int(n.sum()), int(k.sum())
        rest, missed = int(totals.sum()) - size, int(matchings.sum()) - hits
        if not its.value or size < FEWEST or rest < FEWEST or not 0 < hits + missed < size + rest:
            continue
        share = (hits + missed) / (size + rest)
        own = np.full(len(n), hits / size)
        spread, freedom = dispersion(n.astype(float), k.astype(float), own, 1)
        apart = hits / size - missed / rest
        t = apart / sqrt(share * (1 - share) * (spread / size + 1 / rest))
        found.append((its, t, freedom, hits, size, missed, rest))
    usual = 1.0
    if len(found) >= PEERS:
        scores = np.array([t for _, t, *_ in found])
        low, high = np.quantile(scores, [_WINSORISED, 1 - _WINSORISED])
        usual = max(1.0, sqrt(float((np.clip(scores, low, high) ** 2).mean())))
    return [
        Level(
            slice=its,
            signal=signal,
            p=t_tail(t / usual, freedom),
            t=t / usual,
            matching=hits,
            total=size,
            matching_peers=missed,
            total_peers=rest,
        )
        for its, t, freedom, hits, size, missed, rest in found
    ]


def stands_out(level: Level) -> bool:
    """Whether the difference is large enough to act on, however sure it is."""
    own, peers = level.matching / level.total, level.matching_peers / level.total_peers
    return own >= LEAST_RATIO * peers and own - peers >= LEAST_APART
