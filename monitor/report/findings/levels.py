"""Finds values of a label whose share of a signal stands out from that of their peers, in all four weeks together."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from monitor.report.findings.cells import DAY, Cells, Slice
from monitor.report.findings.evidence import Floats, dispersion, t_tail

FEWEST = 100  # answers of the value, and of its peers
LEAST_RATIO, LEAST_APART = 2.0, 0.05
PEERS = 4  # from which on the usual differences between peers are known
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
    differ as a rule; so it is divided by the root mean square of the differences among the peers, without the value
    itself and with the extremes drawn in (D. Spiegelhalter, Handling over-dispersion of performance indicators, Quality
    and Safety in Health Care 14 (2005), 347–351), and has no more degrees of freedom than there are peers.
    """
    totals, matchings = (counts.astype(float) for counts in cells.by(label, signal, hours=DAY))
    size, hits = totals.sum(axis=1), matchings.sum(axis=1)
    everything, matching = size.sum(), hits.sum()
    if not 0 < matching < everything:
        return []
    rest, missed = everything - size, matching - hits
    slices = cells.slices(label)
    enough = np.array([bool(its.value) for its in slices]) & (np.minimum(size, rest) >= FEWEST)
    places = np.flatnonzero(enough)
    days = [dispersion(totals[place], matchings[place], 1) for place in places]
    spread = np.array([phi for phi, _ in days])
    scores = _scores(size[places], hits[places], spread, everything, matching)
    found = []
    for at, place in enumerate(places):
        peers, freedom = np.delete(places, at), days[at][1]
        usual = _usual(size[peers], hits[peers], np.delete(spread, at))
        if usual > 1:
            freedom = min(freedom, len(peers))
        t = float(scores[at]) / usual
        found.append(
            Level(
                slice=slices[place],
                signal=signal,
                p=t_tail(t, freedom),
                t=t,
                matching=int(hits[place]),
                total=int(size[place]),
                matching_peers=int(missed[place]),
                total_peers=int(rest[place]),
            )
        )
    return found


def _scores(size: Floats, hits: Floats, spread: Floats, everything: float, matching: float) -> Floats:
    """The difference of each value from the rest of everything, in standard errors; 0 < matching < everything."""
    share, rest = matching / everything, everything - size
    apart = hits / size - (matching - hits) / rest
    scores: Floats = apart / np.sqrt(share * (1 - share) * (spread / size + 1 / rest))
    return scores


def _usual(size: Floats, hits: Floats, spread: Floats) -> float:
    """By how much more than by chance values differ from each other; at least 1."""
    if len(size) < PEERS or not 0 < hits.sum() < size.sum():
        return 1.0
    scores = _scores(size, hits, spread, size.sum(), hits.sum())
    low, high = np.quantile(scores, [_WINSORISED, 1 - _WINSORISED])
    return max(1.0, sqrt(float((np.clip(scores, low, high) ** 2).mean())))


def stands_out(level: Level) -> bool:
    """Whether the difference is large enough to act on, however sure it is."""
    own, peers = level.matching / level.total, level.matching_peers / level.total_peers
    return own >= LEAST_RATIO * peers and own - peers >= LEAST_APART
