"""Finds spans of hours in which a slice went wrong far more often than at its other times: a scan over all spans.

Of every slice and signal, all spans of some lengths in the report's week are compared with the rest of the four weeks.
With n answers and the share s in the span, and p outside of it, the span occurs by chance with a probability of at most
exp(−n · KL(s, p) / φ), φ ≥ 1 being how much more the hours outside vary than independent answers would. p is the upper
limit of its interval, since it is an estimate, or the share in the rest of the week if that is higher, since a drift is
no outage. The sum over all spans bounds the chance that any is found.
Scan statistics: M. Kulldorff, A spatial scan statistic, Communications in Statistics 26 (1997), 1481–1496.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import NamedTuple

import numpy as np

from monitor.core.figures.proportions import wilson
from monitor.report.findings.cells import HOURS, WEEK, Cells, Ints, Slice
from monitor.report.findings.evidence import Floats, dispersion, information

LENGTHS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 18, 24, 36, 48)  # hours
SPANS = sum(WEEK - length + 1 for length in LENGTHS)
FEWEST = 5  # answers with the signal in a span
LEAST_RISE = 0.15
_PART = 6  # hours of a bin in which the dispersion is measured
_HOPELESS = log(SPANS)  # nats that a span needs for a bound below 1
_MOST = 1 - 1e-6
_LIMIT = 0.9  # confidence of the limit of the share outside


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """A span of bad hours `[start, end)`, from the first hour of the four weeks on; its answers, and those outside."""

    slice: Slice
    signal: str
    start: int
    end: int
    matching: int
    total: int
    matching_outside: int
    total_outside: int
    p: float
    nats: float


class Minute(NamedTuple):
    """Counts of a minute, whose number is from the first of the four weeks on."""

    minute: int
    answers: int
    matching: int
    negative: int


def outages(cells: Cells, label: str, signal: str) -> list[Outage]:
    """The worst span of each slice, where there is one; slices without any were tested all the same."""
    totals, matchings = cells.by(label, signal, hours=1)
    found = [
        _worst(one, signal, n, k)
        for one, n, k in zip(cells.slices(label), totals, matchings, strict=True)
        if k[-WEEK:].sum() >= FEWEST
    ]
    return [outage for outage in found if outage is not None]


def _worst(its: Slice, signal: str, n: Ints, k: Ints) -> Outage | None:
    n_until, k_until = (np.concatenate(([0], x.cumsum())) for x in (n, k))
    best: tuple[float, int, int] | None = None
    for length in LENGTHS:
        starts = np.arange(HOURS - WEEK, HOURS - length + 1)
        inside, hits = n_until[starts + length] - n_until[starts], k_until[starts + length] - k_until[starts]
        outside, missed = n_until[-1] - inside, k_until[-1] - hits
        if not outside.min():
            continue
        week, bad = n_until[-1] - n_until[-WEEK - 1] - inside, k_until[-1] - k_until[-WEEK - 1] - hits
        expected = np.maximum(_upper(missed, outside), np.minimum(bad / np.maximum(week, 1), _MOST))
        share = hits / np.maximum(inside, 1)
        usable = (hits >= FEWEST) & (share - expected >= LEAST_RISE)
        nats = np.where(usable, inside * information(share, expected), 0.0)
        place = int(nats.argmax())
        if nats[place] > _HOPELESS and (best is None or nats[place] > best[0]):
            best = float(nats[place]), int(starts[place]), length
    if best is None:
        return None
    raw, start, length = best
    kept = np.ones(HOURS, bool)
    kept[start : start + length] = False
    n_out, k_out = np.where(kept, n, 0), np.where(kept, k, 0)
    parts_n, parts_k = (x.reshape(-1, _PART).sum(axis=1).astype(float) for x in (n_out, k_out))
    spread, _ = dispersion(parts_n, parts_k, 1)
    span = slice(start, start + length)
    return Outage(
        slice=its,
        signal=signal,
        start=start,
        end=start + length,
        matching=int(k[span].sum()),
        total=int(n[span].sum()),
        matching_outside=int(k_out.sum()),
        total_outside=int(n_out.sum()),
        p=min(1.0, SPANS * exp(-raw / spread)),
        nats=raw / spread,
    )


def _upper(matching: Ints, total: Ints) -> Floats:
    """Wilson's upper limits, of arrays."""
    z2 = 1.6448536269514722**2
    rate = matching / total
    centre = rate + z2 / (2 * total)
    margin = np.sqrt(z2 * (rate * (1 - rate) / total + z2 / (4 * total.astype(float) ** 2)))
    limit: Floats = (centre + margin) / (1 + z2 / total)
    return np.clip(limit, 1 - _MOST, _MOST)


def refined(minutes: Sequence[Minute], outage: Outage) -> tuple[int, int]:
    """The span of minutes `[start, end)` that tells most, of those around the outage, in order.

    The span with the greatest sum of log-likelihood ratios of the share inside against the share outside (J. Bentley,
    Programming pearls: algorithm design techniques, Communications of the ACM 27 (1984), 865–871).
    """
    inside = min(max(outage.matching / outage.total, 1e-3), 1 - 1e-3)
    limit = wilson(outage.matching_outside, outage.total_outside, _LIMIT)[1]
    hit, miss = log(inside / limit), log((1 - inside) / (1 - limit))
    best, total, begin = (0.0, outage.start * 60, outage.end * 60), 0.0, None
    for minute, answers, matching, _ in minutes:
        if begin is None or total <= 0:
            begin, total = minute, 0.0
        total += matching * hit + (answers - matching) * miss
        if total > best[0]:
            best = total, begin, minute + 1
    return best[1], best[2]
