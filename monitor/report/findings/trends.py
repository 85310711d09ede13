"""Finds the slices whose share of a signal rises over the weeks, or is higher in the last week than before."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

import numpy as np

from monitor.report.findings.cells import DAY, WEEKS, Cells, Slice
from monitor.report.findings.evidence import Floats, dispersion, t_tail

FEWEST = 30  # answers in the last week, and in the weeks before
LEAST_RISE = 0.02  # of the share: less calls for no action, however sure
_DAYS_A_WEEK = 7
_STEADY = 3  # weeks with answers that a steady rise needs


@dataclass(frozen=True, slots=True, kw_only=True)
class Rise:
    """A rise: `steady` over all weeks, or in the last one alone; `weeks` are (matching, total) of each week."""

    slice: Slice
    signal: str
    steady: bool
    p: float
    t: float
    weeks: tuple[tuple[int, int], ...]

    @property
    def size(self) -> float:
        """The share of the last week, less that of the first weeks with answers (or of all weeks before)."""
        *before, (now, of) = self.weeks
        if self.steady:
            before = [week for week in before if week[1]][:1]
        return now / of - sum(k for k, _ in before) / sum(n for _, n in before)


def rises(cells: Cells, label: str, signal: str) -> list[Rise]:
    """The test of every slice of the label with enough answers; whether it is clear is for the caller to say."""
    totals, matchings = cells.by(label, signal, hours=DAY)
    found = [
        _rise(one, signal, n.astype(float), k.astype(float))
        for one, n, k in zip(cells.slices(label), totals, matchings, strict=True)
    ]
    return [rise for rise in found if rise is not None]


def _rise(its: Slice, signal: str, n: Floats, k: Floats) -> Rise | None:
    """The stronger one of two contrasts of weeks, with Bonferroni's factor of 2.

    Each is the test of Cochran and Armitage: T = Σ (w − w̄) k over √(p(1 − p) Σ n (w − w̄)²), with the weeks 1 to 4, or
    0, 0, 0, 1, for w. Its variance is multiplied by how much the days of one week differ among each other, and it is
    compared with Student's t, since that is estimated too. Source: P. Armitage, Tests for linear trends in proportions
    and frequencies, Biometrics 11 (1955), 375–386.
    """
    weeks_n, weeks_k = (x.reshape(WEEKS, _DAYS_A_WEEK).sum(axis=1) for x in (n, k))
    if weeks_n[-1] < FEWEST or weeks_n[:-1].sum() < FEWEST:
        return None
    share = k.sum() / n.sum()
    if not 0 < share < 1:
        return None
    spread, freedom = dispersion(n, k, WEEKS)
    week = np.repeat(np.arange(WEEKS, dtype=float), _DAYS_A_WEEK)
    steady, at_last = (_contrast(w, n, k, share) / sqrt(spread) for w in (week, (week == WEEKS - 1).astype(float)))
    return Rise(
        slice=its,
        signal=signal,
        steady=steady >= at_last and int((weeks_n > 0).sum()) >= _STEADY,
        p=min(1.0, 2 * t_tail(max(steady, at_last), freedom)),
        t=max(steady, at_last),
        weeks=tuple((int(a), int(b)) for a, b in zip(weeks_k, weeks_n, strict=True)),
    )


def _contrast(weight: Floats, n: Floats, k: Floats, share: float) -> float:
    apart = weight - (n @ weight) / n.sum()
    return float(apart @ k / sqrt(share * (1 - share) * (n @ apart**2)))
